// C++ over the C API: scopes as regions.
#pragma once

#include <effort/effort.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace effort {

/// Opens a region for the lifetime of the object.
///
///     static const effort::RegionId solve("solve");
///     effort::Region in_solve(solve);
class RegionId {
 public:
  /// Registers the region, or finds it again; errors are recorded (effort_last_error), the id is then invalid and
  /// regions opened with it measure nothing.
  explicit RegionId(const char* name, effort_kind kind = EFFORT_COMPUTE) noexcept {
    if (effort_region(name, kind, &id_) != EFFORT_OK && id_ < 0) id_ = -1;
  }
  effort_region_id get() const noexcept { return id_; }

 private:
  effort_region_id id_ = -1;
};

class Region {
 public:
  explicit Region(effort_region_id id) noexcept : id_(id), open_(effort_begin(id) == EFFORT_OK) {}
  explicit Region(const RegionId& id) noexcept : Region(id.get()) {}
  ~Region() {
    if (open_) effort_end(id_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  effort_region_id id_;
  bool open_;
};

// Weights for partitioners, as in effort.h; what they return is empty where the arguments are bad (effort_last_error).

/// Seconds that each item costs.
/// @param amount  [items][unit_cost.size()] units of work of each item, row = item
inline std::vector<double> weights_items(const std::vector<double>& amount, const std::vector<double>& unit_cost) {
  std::vector<double> weight(unit_cost.empty() ? 0 : amount.size() / unit_cost.size());
  if (effort_weights_items(weight.size(), static_cast<std::int32_t>(unit_cost.size()), amount.data(), unit_cost.data(), weight.data()) != EFFORT_OK)
    weight.clear();
  return weight;
}

/// Each item's part of its rank's load, in proportion to the estimates.
inline std::vector<double> weights_share(const std::vector<double>& estimate, double load) {
  std::vector<double> weight(estimate.size());
  if (effort_weights_share(weight.size(), estimate.data(), load, weight.data()) != EFFORT_OK) weight.clear();
  return weight;
}

/// Integers in proportion to the weights that add up to `sum`, each at least `least`.
inline std::vector<std::int64_t> weights_integers(const std::vector<double>& weight, std::int64_t sum, std::int64_t least = 0) {
  std::vector<std::int64_t> cost(weight.size());
  if (effort_weights_integers(weight.size(), weight.data(), sum, least, cost.data()) != EFFORT_OK) cost.clear();
  return cost;
}

/// How much more each rank's items should count than the mean rank's: 1 on average.
inline std::vector<double> weights_ranks(const std::vector<double>& load) {
  std::vector<double> factor(load.size());
  if (effort_weights_ranks(static_cast<std::int32_t>(load.size()), load.data(), factor.data()) != EFFORT_OK) factor.clear();
  return factor;
}

}  // namespace effort
