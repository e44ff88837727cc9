#include "analytics/codec/step_search.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

/// Where to aim once the model has been set right by a trial.
constexpr double kAim = 0.996;
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

/// Looks for a step large enough, of errors that keep the bound: the errors found so far, in a log-log line, say where.
class ErrorSearch {
 public:
  ErrorSearch(Coefficients& coefficients, const Goal& goal)
      : coefficients_(coefficients), bound_(goal.value), largest_(goal.kind == Target::Kind::max_error),
        quick_(goal.quick), aim_(goal.quick ? 0.9 : kAim) {}

  std::optional<Trial> run(double step) {
    const double smallest_step = std::ldexp(std::max(coefficients_.largest(), coefficients_.first()), -60);
    const int trials = coefficients_.values() < 4096 ? 5 : 7;
    for (int k = 0; (k < trials || !best_) && k < 40 && step > smallest_step; ++k) {
      const Trial trial = try_step(coefficients_, step);
      if (note(trial)) break;
      step = next(trial, k);
      if (step == 0) break;
    }
    return best_;
  }

 private:
  double error_of(const Trial& trial) const { return largest_ ? trial.errors.max : trial.errors.rms; }

  /// Whether it is good enough.
  bool note(const Trial& trial) {
    const double error = error_of(trial), used = trial.step.value();
    if (error > bound_) {
      if (!above_ || used < above_->step.value()) above_ = trial;
      return false;
    }
    if (!best_ || used > best_->step.value()) best_ = trial;
    return quick_ || used > 3.9 * std::max(coefficients_.largest(), coefficients_.first()) || gain(error, used) < kWorthwhile;
  }

  /// About the share of the size that the largest step within the bound would save: there is a bit less of every value,
  /// of some six, and near the noise of the data far fewer values.
  double gain(double error, double used) const {
    if (largest_ || error <= 0) return bound_ > 0 ? (1 - error / bound_) * 0.8 : 0;
    const ErrorModel& model = coefficients_.model();
    const double step = model.step_for(model.squared_error(used) * (bound_ / error) * (bound_ / error));
    const double values = model.count_from(used);
    return values > 0 ? 1 - model.count_from(step) / values + std::log2(std::max(step / used, 1.0)) / 6 : 0;
  }

  /// 0: nothing more to be gained.
  double next(const Trial& trial, int k) const {
    const double error = error_of(trial), used = trial.step.value();
    if (best_ && above_) {
      const double low = std::log(best_->step.value()), high = std::log(above_->step.value());
      if (high - low < 0.006) return 0;
      const double e = std::log(std::max(error_of(*best_), bound_ * 1e-3)), f = std::log(error_of(*above_));
      const double part = f > e ? (std::log(bound_ * aim_) - e) / (f - e) : 0.5;
      return std::exp(low + (high - low) * (k < 6 ? std::clamp(part, 0.08, 0.92) : 0.5));
    }
    if (error == 0) return used * 4;
    if (largest_) return used * std::clamp(bound_ * 0.97 / error, 0.25, 4.0);
    const double wanted = bound_ * aim_ / error;
    const double step = coefficients_.model().step_for(coefficients_.model().squared_error(used) * wanted * wanted);
    return error <= bound_ ? std::max(step, used * 1.01) : std::min(step, used * 0.99);
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
  const double guess = first_guess(coefficients, goal);
  if (goal.kind == Target::Kind::passes) return try_step(coefficients, guess);
  return ErrorSearch(coefficients, goal).run(guess);
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
