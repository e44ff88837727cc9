#include "runtime/engine/look_meter.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <cstddef>

namespace effort::engine {

namespace {

void smooth(double& mean, double value) { mean = mean > 0 ? mean + 0.2 * (value - mean) : value; }

}  // namespace

void LookMeter::add_steps(const WindowBlock& block, std::int64_t first, std::int64_t last) {
  double sum = 0;
  for (std::int64_t s = first; s <= last; ++s) {
    double largest = 0;
    for (auto at = static_cast<std::size_t>(s - block.first_step); at < block.wall.size();
         at += static_cast<std::size_t>(block.steps))
      largest = std::max(largest, block.wall[at]);
    sum += largest;
  }
  // The first step of a run contains start-up work.
  if (first > 0) smooth(cost_.step_seconds, sum / static_cast<double>(last - first + 1));
}

void LookMeter::begin() {
  began_ns_ = measure::monotonic_ns();
  began_cpu_ns_ = measure::thread_cpu_ns();
}

void LookMeter::end() {
  smooth(cost_.latency_seconds, static_cast<double>(measure::monotonic_ns() - began_ns_) * 1e-9);
  smooth(cost_.cpu_seconds, static_cast<double>(measure::thread_cpu_ns() - began_cpu_ns_) * 1e-9);
}

void LookMeter::add_wait(double seconds) { smooth(cost_.wait_seconds, seconds); }

}  // namespace effort::engine
