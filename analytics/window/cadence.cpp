#include "analytics/window/cadence.hpp"

#include <algorithm>
#include <cmath>

namespace effort::window {
namespace {

constexpr double surprise =
    1e-3;  // of a mean load, lost per step to what came since the last look: a jump by 0.3 in 300 steps
constexpr double bearable = 0.01;       // of the run's time that looks may take, whatever they bring
constexpr double waits_for_it = 0.02;   // of a step: a hint that takes less is waited for at once
constexpr double most_of_a_step = 0.5;  // so far, the hint is there by the end of the next step
constexpr int looks_ahead = 4;          // before a rebalance is expected to pay
constexpr int longest = 100;            // steps between looks

}  // namespace

NextLook Cadence::next(const LookCost& cost, int patience, double urgency) {
  const bool known = cost.step_seconds > 0;
  const double latency = known ? cost.latency_seconds / cost.step_seconds : 1.0;
  NextLook next;
  const double brings = urgency / looks_ahead;  // a look, as that many come before a rebalance
  next.lag = latency < std::max(waits_for_it, brings) ? 0 : latency < most_of_a_step ? 1 : 2;
  const double look =
      known ? (cost.cpu_seconds + (next.lag == 0 ? cost.wait_seconds : 0.0)) / cost.step_seconds : waits_for_it;
  const auto whole = [](double steps) { return static_cast<int>(std::min(steps, static_cast<double>(longest))); };
  const int worth_it = std::min(whole(std::sqrt(2 * look / surprise)), std::max(1, patience / looks_ahead));
  last_ = std::clamp(std::max(worth_it, whole(std::ceil(look / std::max(bearable, 0.5 * brings)))), 1,
                     std::min(longest, 2 * last_ + 1));
  next.steps = std::max(last_, next.lag);
  return next;
}

}  // namespace effort::window
