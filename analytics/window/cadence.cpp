#include "analytics/window/cadence.hpp"

#include <algorithm>
#include <cmath>

namespace effort::window {
namespace {

// Growth of the loss per step that goes unnoticed between looks, in mean loads: for example a jump by 0.3 every 300
// steps.
constexpr double unseen_growth = 1e-3;
// Share of the run's time that looks may always take.
constexpr double affordable = 0.01;
// Share of a step that a host may always wait for a hint of lag 0.
constexpr double short_wait = 0.02;
// Latency, as a share of a step, up to which the hint is taken to be ready by the end of the next step.
constexpr double most_of_a_step = 0.5;
// Looks before a rebalance is expected to pay.
constexpr int looks_ahead = 4;
// Most steps between looks.
constexpr int longest = 100;

int whole(double steps) { return static_cast<int>(std::min(steps, static_cast<double>(longest))); }

/// The interval and lag that the cost of looks allows.
struct Allowed {
  double look = 0;  ///< its cost, in steps
  int steps = 1, lag = 0;
};

Allowed allowed(const LookCost& cost, double urgency) {
  Allowed out;
  // The first steps may lose more than many later ones, so the first looks come soon, and the host waits for their
  // hints.
  if (!(cost.step_seconds > 0)) {
    out.look = affordable;
    return out;
  }
  const double latency = cost.latency_seconds / cost.step_seconds;
  const double benefit = urgency / looks_ahead;  // of one look, since looks_ahead of them come before a rebalance
  out.lag = latency < std::max(short_wait, benefit) ? 0 : latency < most_of_a_step ? 1 : 2;
  out.look = (cost.cpu_seconds + (out.lag == 0 ? cost.wait_seconds : 0.0)) / cost.step_seconds;
  out.steps = std::max(1, whole(std::ceil(out.look / std::max(affordable, 0.5 * benefit))));
  return out;
}

}  // namespace

NextLook Cadence::next(const LookCost& cost, int patience, double urgency) {
  urgency_ = urgency;
  const Allowed least = allowed(cost, urgency);
  const int economic = std::min(whole(std::sqrt(2 * least.look / unseen_growth)), std::max(1, patience / looks_ahead));
  last_ = std::clamp(std::max(economic, least.steps), 1, std::min(longest, 2 * last_ + 1));
  return {std::max(last_, least.lag), least.lag};
}

int Cadence::soonest(const LookCost& cost) const {
  const Allowed least = allowed(cost, urgency_);
  return std::max(least.steps, least.lag);
}

}  // namespace effort::window
