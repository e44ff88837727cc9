#include "analytics/codec/step_search.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

/// Where to aim: what is expected is right to a few thousandths.
constexpr double kAim = 0.996, kAimAtFew = 0.975;
/// A further trial costs as much as the transform: it must promise that much of the size.
constexpr double kWorthwhile = 0.012;

Trial try_step(Coefficients& coefficients, double step) {
  Trial trial;
  // From there on everything is zero.
  const double largest_step = 4 * std::max(coefficients.largest(), coefficients.first());
  trial.step = Step::at_most(largest_step > 0 ? std::min(step, largest_step) : step);
  trial.points = coefficients.choose_points(trial.step.value());
  trial.errors = coefficients.reconstruct(trial.step, trial.points);
  return trial;
}

/// Looks for a step large enough, of errors that keep the bound.  How far the measured error is from the expected one says
/// where to go; where that does not tell, the errors found so far do, in a log-log line.
class ErrorSearch {
 public:
  ErrorSearch(Coefficients& coefficients, const Goal& goal)
      : coefficients_(coefficients), bound_(goal.value), largest_(goal.kind == Target::Kind::max_error),
        quick_(goal.quick), aim_(goal.quick ? 0.9 : kAim) {}

  std::optional<Trial> run(double step) {
    const double smallest_step = std::ldexp(std::max(coefficients_.largest(), coefficients_.first()), -60);
    for (int k = 0; (k < usual_trials || !best_ || (k < most_trials && error_of(*best_) < 0.98 * bound_)) && k < 40 && step > smallest_step; ++k) {
      const Trial trial = try_step(coefficients_, step);
      note(trial);
      if (best_ && quick_) break;
      step = next(trial, k);
      if (best_ && !worth_trying(step)) break;
    }
    return best_;
  }

 private:
  /// Further ones rarely change the size by a per cent but where a few values make the error.
  static constexpr int usual_trials = 3, most_trials = 5;

  double error_of(const Trial& trial) const { return largest_ ? trial.errors.max : trial.errors.rms; }

  void note(const Trial& trial) {
    const double used = trial.step.value();
    if (error_of(trial) > bound_) {
      if (!above_ || used < above_->step.value()) above_ = trial;
    } else if (!best_ || used > best_->step.value()) {
      best_ = trial;
    }
  }

  /// Whether a step is likely to make the stream a good deal smaller than the best one found does.
  bool worth_trying(double step) const {
    const double used = best_->step.value();
    if (step <= used) return false;
    const double stated = Step::at_most(step).value();
    if (stated <= used || (above_ && stated >= above_->step.value())) return false;
    if (used > 3.9 * std::max(coefficients_.largest(), coefficients_.first())) return false;
    if (largest_ || error_of(*best_) <= 0) return (bound_ > 0 ? (1 - error_of(*best_) / bound_) * 0.8 : 0) >= kWorthwhile;
    // There is a bit less of every value, of some six, and near the noise of the data far fewer values.
    const ErrorModel& model = coefficients_.model();
    const double values = model.count_from(used);
    return values > 0 && 1 - model.count_from(stated) / values + std::log2(stated / used) / 6 >= kWorthwhile;
  }

  double next(const Trial& trial, int k) {
    const double error = error_of(trial), used = trial.step.value();
    const double expected = largest_ || error == 0 ? 0 : coefficients_.expected(used);
    const double wanted = expected > 0 ? coefficients_.step_expected(bound_ * aim_ / error * expected) : 0;
    if (best_ && above_) {
      const double low = best_->step.value(), high = above_->step.value();
      if (std::log(high / low) < 0.006) return 0;
      if (wanted > low && Step::at_most(wanted).value() < high && k < 4) return wanted;
      const double e = std::log(std::max(error_of(*best_), bound_ * 1e-3)), f = std::log(error_of(*above_));
      const double part = f > e ? (std::log(bound_ * aim_) - e) / (f - e) : 0.5;
      return low * std::pow(high / low, k < 6 ? std::clamp(part, 0.08, 0.92) : 0.5);
    }
    if (error == 0) return used * 4;
    if (largest_ || wanted <= 0) return used * std::clamp(bound_ * 0.97 / error, 0.25, 4.0);
    return error <= bound_ ? std::max(wanted, used * 1.01) : std::min(wanted, used * 0.99);
  }

  Coefficients& coefficients_;
  double bound_;
  bool largest_;
  bool quick_;
  double aim_;
  std::optional<Trial> best_, above_;
};

double passes_step(const Coefficients& coefficients, double passes) {
  const double largest = coefficients.largest() > 0 ? coefficients.largest() : coefficients.first();
  return std::ldexp(std::exp2(std::floor(std::log2(largest))), 1 - static_cast<int>(passes));
}

}  // namespace

double first_guess(const Coefficients& coefficients, const Goal& goal) {
  switch (goal.kind) {
    case Target::Kind::passes: return passes_step(coefficients, goal.value);
    case Target::Kind::max_error: return goal.value / (goal.quick ? 2.5 : 1.5);
    case Target::Kind::nrmse: return coefficients.model_step(goal.quick ? 0.9 * goal.value : goal.value);
    case Target::Kind::max_bytes: break;
  }
  const double largest = coefficients.largest();
  return largest > 0 ? largest / 16 : std::max(coefficients.first(), 1e-250);
}

std::optional<Trial> find_step(Coefficients& coefficients, const Goal& goal) {
  if (goal.kind == Target::Kind::passes) return try_step(coefficients, first_guess(coefficients, goal));
  const bool rms = goal.kind == Target::Kind::nrmse && !goal.quick;
  // Of small matrices the edges are a large part, and errors there are larger than expected.
  const double aim = coefficients.values() < 4096 ? kAimAtFew : kAim;
  return ErrorSearch(coefficients, goal).run(rms ? coefficients.step_expected(aim * goal.value) : first_guess(coefficients, goal));
}

std::optional<Trial> find_step_of_size(Coefficients& coefficients, std::size_t bound, const std::function<std::size_t(const Trial&)>& size_of) {
  const double largest = std::max({coefficients.largest(), coefficients.first(), 1e-250});
  double low = std::ldexp(largest, -56), high = largest * 4;
  std::optional<Trial> best;
  for (int k = 0; k < 16 && high / low > 1.005; ++k) {
    const double step = k == 0 ? high : std::sqrt(low * high);
    Trial trial;
    trial.step = Step::at_most(step);
    trial.points = coefficients.choose_points(trial.step.value());
    if (size_of(trial) <= bound) {
      best = trial;
      high = step;
    } else {
      low = step;
    }
  }
  if (best) best->errors = coefficients.reconstruct(best->step, best->points);
  return best;
}

}  // namespace effort::codec
