// Measures the cost of looks, from which their interval is chosen.
#pragma once

#include "analytics/window/cadence.hpp"
#include "runtime/collect/collector.hpp"

#include <cstdint>

namespace effort::engine {

/// Measures a node's looks, smoothed over the run.  Used by the engine's thread only.
class LookMeter {
 public:
  /// Takes the elapsed time of the steps [first, last], which are in the block.
  void add_steps(const WindowBlock& block, std::int64_t first, std::int64_t last);
  /// Begins a look: time and CPU time of the calling thread count from here.
  void begin();
  /// Ends a look that is typical of the coming ones.
  void end();
  /// Takes the time that the host waited for a hint of lag 0, smallest over the ranks.
  void add_wait(double seconds);

  /// Zero before the first end().
  window::LookCost cost() const { return cost_.latency_seconds == 0 ? window::LookCost{} : cost_; }

 private:
  window::LookCost cost_;
  std::uint64_t began_ns_ = 0;
  std::int64_t began_cpu_ns_ = 0;
};

}  // namespace effort::engine
