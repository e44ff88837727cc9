// C++ over the C API: scopes as regions.
#pragma once

#include <effort/effort.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort {

/// A region by name, looked up once per session.  It stays valid when the library is finalized and initialized again,
/// and may be constructed before the library is initialized.
///
///     static const effort::RegionId solve("solve");
///     effort::Region in_solve(solve);
///
/// Threads may share one.  If its name or kind is refused, regions opened with it measure nothing; effort_last_error
/// gives the reason.
class RegionId {
 public:
  /// Registers the region, or finds it again.  The name is copied.
  explicit RegionId(const char* name, effort_kind kind = EFFORT_COMPUTE) noexcept : kind_(kind) {
    try {
      if (name) name_ = name;
    } catch (...) {  // out of memory: a region without a name, which is refused
    }
    (void)get();
  }
  /// The id in the current session; -1 if there is none.  Cost: a locked look-up.
  effort_region_id get() const noexcept {
    effort_region_id id = -1;
    (void)effort_region(name_.c_str(), kind_, &id);
    return id;
  }

 private:
  friend class Region;
  std::string name_;
  effort_kind kind_;
  mutable volatile effort_region_id cache_ = -1;
};

/// Opens a region for the lifetime of the object.
class Region {
 public:
  explicit Region(effort_region_id id) noexcept : id_(id), open_(effort_begin(id) == EFFORT_OK) {}
  explicit Region(const RegionId& id) noexcept
      : open_(effort_begin_scope(id.name_.c_str(), id.kind_, &id.cache_, &id_) == EFFORT_OK) {}
  ~Region() {
    if (open_) effort_end(id_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  effort_region_id id_ = -1;
  bool open_;
};

// Weights for partitioners, as in effort.h.  They return an empty vector if the arguments are bad; effort_last_error
// says why.

/// Seconds that each item costs.
/// @param amount  [items][unit_cost.size()] units of work of each item, row = item
inline std::vector<double> weights_items(const std::vector<double>& amount, const std::vector<double>& unit_cost) {
  const bool whole = unit_cost.empty() ? amount.empty() : amount.size() % unit_cost.size() == 0;
  std::vector<double> weight(unit_cost.empty() ? 0 : amount.size() / unit_cost.size());
  // An incomplete last row is refused, as a null pointer is.
  const std::size_t items = whole ? weight.size() : 1;
  if (effort_weights_items(items, static_cast<std::int32_t>(unit_cost.size()), whole ? amount.data() : nullptr,
                           unit_cost.data(), whole ? weight.data() : nullptr) != EFFORT_OK)
    weight.clear();
  return weight;
}

/// Each item's share of its rank's load, in proportion to the estimates.
inline std::vector<double> weights_share(const std::vector<double>& estimate, double load) {
  std::vector<double> weight(estimate.size());
  if (effort_weights_share(weight.size(), estimate.data(), load, weight.data()) != EFFORT_OK) weight.clear();
  return weight;
}

/// Integers in proportion to the weights that add up to `sum`, each at least `least`.
inline std::vector<std::int64_t> weights_integers(const std::vector<double>& weight, std::int64_t sum,
                                                  std::int64_t least = 0) {
  std::vector<std::int64_t> cost(weight.size());
  if (effort_weights_integers(weight.size(), weight.data(), sum, least, cost.data()) != EFFORT_OK) cost.clear();
  return cost;
}

/// The factor by which each rank's items should count more than the mean rank's: 1 on average.
inline std::vector<double> weights_ranks(const std::vector<double>& load) {
  std::vector<double> factor(load.size());
  if (effort_weights_ranks(static_cast<std::int32_t>(load.size()), load.data(), factor.data()) != EFFORT_OK)
    factor.clear();
  return factor;
}

}  // namespace effort
