#include "analytics/codec/step_search.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

/// Where to aim below the bound, and from where on a further trial need not be: what is expected is right to a few
/// thousandths.  Of small matrices the edges are a large part, and errors there are larger than expected.
struct Aim {
  double at, closely;
  double better;  ///< once a step has been found that keeps the bound, of many values
};
constexpr Aim aim_usual{0.996, 0.975, 0.9985}, aim_at_few{0.967, 0.965, 0.967}, aim_quick{0.9, 0.9, 0.9};
constexpr std::size_t small_matrix = 4096;
/// A further trial costs as much as the transform: it must promise that much of the size.
constexpr double worthwhile = 0.012;

Trial try_step(Coefficients& coefficients, double step) {
  Trial trial;
  const double largest_step = coefficients.largest_step();
  trial.step = Step::at_most(largest_step > 0 ? std::min(step, largest_step) : step);
  trial.points = coefficients.choose_points(trial.step.value());
  trial.errors = coefficients.reconstruct(trial.step, trial.points);
  return trial;
}

/// Looks for a step large enough, of errors that keep the bound.  How far the measured error is from the expected one
/// says where to go; where that does not tell, the errors found so far do, in a log-log line.
class ErrorSearch {
 public:
  ErrorSearch(Coefficients& coefficients, const Goal& goal, const Aim& aim)
      : coefficients_(coefficients),
        bound_(goal.value),
        largest_(goal.kind == Target::Kind::max_error),
        quick_(goal.quick),
        aim_(aim) {}

  std::optional<Trial> run(double step) {
    const double smallest_step = std::ldexp(coefficients_.largest_step(), -62);
    for (int k = 0; k < final_trial && (!best_ || k < trials()) && step > smallest_step; ++k) {
      const Trial trial = try_step(coefficients_, step);
      note(trial);
      if (best_ && quick_) break;
      step = next(trial, k);
      if (best_ && !worth_trying(step)) break;
    }
    if (best_ && !quick_ && coefficients_.values() >= small_matrix &&
        coefficients_.model().count_from(best_->step.value()) < a_handful)
      try_larger();
    return best_;
  }

 private:
  /// More of them rarely change the size by a per cent, but where few values make the stream, or the bound is not met
  /// closely yet (and nothing is expected of the largest error).
  static constexpr int usual_trials = 3, trials_of_few = 5, most_trials = 7;
  static constexpr double few_values = 1024, nearly_met = 0.9965;
  /// So many halvings lead to the finest step that is of any use.
  static constexpr int final_trial = 40;

  /// Among a handful of values the error does not grow steadily with the step: a larger one may keep the bound beyond
  /// one that does not.
  static constexpr double a_handful = 16;
  static constexpr int larger_steps = 8;  ///< within an octave
  void try_larger() {
    const double used = best_->step.value();
    for (int k = larger_steps; k > 0; --k) {
      const Trial trial = try_step(coefficients_, used * std::exp2(static_cast<double>(k) / larger_steps));
      note(trial);
      if (best_->step.value() > used) return;
    }
  }

  double error_of(const Trial& trial) const { return largest_ ? trial.errors.max : trial.errors.rms; }
  int trials() const {
    if (largest_ || error_of(*best_) < aim_.closely * bound_) return most_trials;
    return many() ? usual_trials : trials_of_few;
  }
  /// Whether enough values make the stream for small differences to be foretold.
  bool many() const { return coefficients_.model().count_from(best_->step.value()) >= few_values; }

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
    if (used > 0.97 * coefficients_.largest_step()) return false;
    if (largest_ || error_of(*best_) <= 0)
      return (bound_ > 0 ? (1 - error_of(*best_) / bound_) * 0.8 : 0) >= worthwhile;
    // There is a bit less of every value, of some six, and near the noise of the data far fewer values.
    const ErrorModel& model = coefficients_.model();
    const double values = model.count_from(used);
    if (many() && error_of(*best_) > nearly_met * bound_) return false;
    if (values > 0 && error_of(*best_) < aim_.closely * bound_) return true;
    return values > 0 && 1 - model.count_from(stated) / values + std::log2(stated / used) / 6 >= worthwhile;
  }

  double next(const Trial& trial, int k) {
    const double error = error_of(trial), used = trial.step.value(), aim = best_ && many() ? aim_.better : aim_.at;
    const double wanted =
        largest_ || error == 0 ? 0 : coefficients_.step_expected(bound_ * aim / error * coefficients_.expected(used));
    if (best_ && above_) {
      const double low = best_->step.value(), high = above_->step.value();
      if (std::log(high / low) < 0.006) return 0;
      if (wanted > low && Step::at_most(wanted).value() < high && k < 2) return wanted;
      const double e = std::log(std::max(error_of(*best_), bound_ * 1e-3)), f = std::log(error_of(*above_));
      const double part = f > e ? (std::log(bound_ * aim) - e) / (f - e) : 0.5;
      return low * std::pow(high / low, k < 6 ? std::clamp(part, 0.08, 0.92) : 0.5);
    }
    if (error == 0) return used * 4;
    const double step = largest_ ? used * std::clamp(bound_ * 0.97 / error, 0.25, 4.0) : wanted;
    if (error <= bound_) return std::max(step, used * 1.01);
    // Where what is expected does not hold, halvings end in a step that keeps the bound.
    return std::min(step, used * (k < 2 ? 0.99 : 0.5));
  }

  Coefficients& coefficients_;
  double bound_;
  bool largest_;
  bool quick_;
  Aim aim_;
  std::optional<Trial> best_, above_;
};

double passes_step(const Coefficients& coefficients, double passes) {
  const double largest = coefficients.largest() > 0 ? coefficients.largest() : coefficients.first();
  return std::ldexp(std::exp2(std::floor(std::log2(largest))), 1 - static_cast<int>(passes));
}

}  // namespace

double Coefficients::step_expected(double rms) {
  if (largest_step() <= 0) return 1;
  const double wanted = rms * rms * static_cast<double>(present());
  const auto largest_of = [&](double low, double high, int halvings, const auto& bands) {
    for (int k = 0; k < halvings; ++k) {
      const double middle = std::sqrt(low * high);
      (bands(middle) + first_squared_error(middle) <= wanted ? low : high) = middle;
    }
    return low;
  };
  const double about = largest_of(std::ldexp(largest_step(), -64), largest_step(), 20,
                                  [&](double step) { return model().squared_error(step); });
  return largest_of(about / 4, std::min(about * 16, largest_step()), 12,
                    [&](double step) { return bands_squared_error(step); });
}

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
  const Aim& aim = goal.quick ? aim_quick : coefficients.values() < small_matrix ? aim_at_few : aim_usual;
  return ErrorSearch(coefficients, goal, aim)
      .run(rms ? coefficients.step_expected(aim.at * goal.value) : first_guess(coefficients, goal));
}

std::optional<Trial> find_step_of_size(Coefficients& coefficients, std::size_t bound,
                                       const std::function<std::size_t(const Trial&)>& size_of) {
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
