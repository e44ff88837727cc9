// Weights for partitioners: pure functions of their arguments.
#include "analytics/balance/weights.hpp"
#include "errors.hpp"

#include <algorithm>
#include <span>
#include <string>

using namespace effort;
using capi::fail;
using capi::guarded;

namespace {

// An error from analytics is an invalid argument of the caller.
template <typename Body>
effort_status checked(const char* function, Body&& body) {
  return guarded([&]() -> effort_status {
    try {
      body();
    } catch (const std::invalid_argument& e) {
      return fail(Status::invalid_argument, std::string(function) + ": " + e.what());
    }
    return EFFORT_OK;
  });
}

void require(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

}  // namespace

extern "C" {

effort_status effort_weights_items(size_t n_items, int32_t n_units, const double* amount, const double* unit_cost,
                                   double* weight) {
  return checked("effort_weights_items", [&] {
    require(n_units >= 0, "n_units is negative: pass the number of kinds of units");
    const auto units = static_cast<std::size_t>(n_units);
    require(n_items == 0 || (weight && (units == 0 || (amount && unit_cost))),
            "an array is a null pointer, or the amounts are not whole rows: pass n_units amounts per item, n_units "
            "costs, and n_items weights to fill");
    if (n_items == 0) return;
    if (units == 0) {
      std::fill_n(weight, n_items, 1.0);
      return;
    }
    require(n_items <= PTRDIFF_MAX / sizeof(double) / units, "n_items is too large: pass the length of the arrays");
    const std::vector<double> out = balance::item_weights({amount, n_items * units}, {unit_cost, units});
    std::copy(out.begin(), out.end(), weight);
  });
}

effort_status effort_weights_share(size_t n_items, const double* estimate, double load, double* weight) {
  return checked("effort_weights_share", [&] {
    require(n_items == 0 || weight, "the array of weights is a null pointer: pass n_items weights to fill");
    require(n_items <= PTRDIFF_MAX / sizeof(double), "n_items is too large: pass the length of the arrays");
    const std::vector<double> equal(estimate ? 0 : n_items, 1.0);
    const std::vector<double> out = balance::shared_load({estimate ? estimate : equal.data(), n_items}, load);
    std::copy(out.begin(), out.end(), weight);
  });
}

effort_status effort_weights_integers(size_t n_items, const double* weight, int64_t sum, int64_t least, int64_t* cost) {
  return checked("effort_weights_integers", [&] {
    require(n_items == 0 || (weight && cost),
            "an array is a null pointer: pass n_items weights and as many costs to fill");
    require(n_items <= PTRDIFF_MAX / sizeof(double), "n_items is too large: pass the length of the arrays");
    const std::vector<std::int64_t> out = balance::integer_costs({weight, n_items}, sum, least);
    std::copy(out.begin(), out.end(), cost);
  });
}

effort_status effort_weights_ranks(int32_t n_ranks, const double* load, double* factor) {
  return checked("effort_weights_ranks", [&] {
    require(n_ranks >= 0, "n_ranks is negative: pass the number of ranks");
    require(n_ranks == 0 || (load && factor),
            "an array is a null pointer: pass n_ranks loads and as many factors to fill");
    const std::vector<double> out = balance::rank_factors({load, static_cast<std::size_t>(n_ranks)});
    std::copy(out.begin(), out.end(), factor);
  });
}

}  // extern "C"
