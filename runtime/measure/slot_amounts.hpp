// Work and application metrics of one thread.
#pragma once

#include "runtime/measure/grow.hpp"
#include "runtime/measure/slot_counters.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace effort::measure {

inline constexpr std::uint32_t max_units = 32;

/// Running sums: the owner adds to them, and the thread that ends steps reads them.
class SlotAmounts {
 public:
  void add_work(std::uint32_t unit, double amount) noexcept { add(work_[unit], amount); }
  /// @param room  capacity, in regions, of a metric's array, which is allocated on first use
  void add_metric(std::uint32_t metric, std::uint32_t region, double value, std::uint32_t room) {
    if (!metric_[metric].load(std::memory_order_relaxed)) grow(metric_[metric], arrays_, 0, room, copy_value<double>);
    add(metric_[metric].load(std::memory_order_relaxed)[region], value);
  }
  void make_room(std::uint32_t old_room, std::uint32_t room) {
    for (auto& metric : metric_)
      if (metric.load(std::memory_order_relaxed)) grow(metric, arrays_, old_room, room, copy_value<double>);
  }
  void reset(std::uint32_t room) noexcept {
    for (auto& work : work_) work.store(0, std::memory_order_relaxed);
    for (auto& metric : metric_)
      if (auto* cells = metric.load(std::memory_order_relaxed))
        for (std::uint32_t r = 0; r < room; ++r) cells[r].store(0, std::memory_order_relaxed);
  }

  double work(std::uint32_t unit) const noexcept { return work_[unit].load(std::memory_order_acquire); }
  /// The metric's sums by region; null until it is first used.
  const std::atomic<double>* metric(std::uint32_t metric) const noexcept {
    return metric_[metric].load(std::memory_order_acquire);
  }

 private:
  static void add(std::atomic<double>& sum, double value) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_release);
  }

  std::atomic<double> work_[max_units] = {};
  std::atomic<std::atomic<double>*> metric_[max_metrics] = {};
  std::vector<std::unique_ptr<std::atomic<double>[]>> arrays_;
};

}  // namespace effort::measure
