#include "analytics/codec/quantisation_search.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

// The constants of this file were tuned on the recordings.  Errors are relative to the bound, steps to other steps.

/// Error to aim at, and error from which on no further trial is needed.  The expected error is right to a few
/// thousandths.  In small matrices the edges are a large part and increase it.
struct Aim {
  double at;           ///< aim of the first trials
  double good_enough;  ///< error of a found step from which on a further trial must be worthwhile
  double refined;      ///< aim once a step has been found, if many values are coded
};
constexpr Aim aim_usual{0.996, 0.975, 0.9985};
constexpr Aim aim_small{0.967, 0.965, 0.967};  // of matrices of less than small_matrix values
constexpr Aim aim_quick{0.9, 0.9, 0.9};        // of goals that accept a larger stream for fewer trials
constexpr std::size_t small_matrix = 4096;

// Share of the size that a further trial must be expected to save, since it costs as much as the transform.
constexpr double worthwhile = 0.012;

// Trials in all, once a step has been found.  More of them rarely change the size by 1 %, unless few values make up the
// stream or the error is still below Aim::good_enough.  The largest error cannot be predicted, so it gets the most
// trials.
constexpr int usual_trials = 3, trials_of_few_values = 5, most_trials = 7;
// Trials until a step is found: this many halvings lead to the finest useful step.
constexpr int final_trial = 40;
// Number of values of at least a step below which small differences of the size are not predictable.
constexpr double few_values = 1024;
// Error from which on no further trial is made if many values are coded.
constexpr double nearly_met = 0.9965;
// Share of the largest step from which on nothing is left to gain.
constexpr double near_largest_step = 0.97;
// Share of the unused bound that is turned into a smaller size, if only the largest error is known.
constexpr double size_per_error = 0.8;
// Bits of a coded value: a step larger by a factor of 2 saves one of them.
constexpr double bits_per_value = 6;

// Number of values of at least a step below which the error does not grow steadily with the step: a step may keep the
// bound although a smaller one breaks it.  That many larger steps within an octave are then tried one by one.
constexpr double handful = 16;
constexpr int larger_steps = 8;

// Logarithm of the ratio of the enclosing steps at which the search ends.
constexpr double closest = 0.006;
// Trials that trust the expected error; later ones interpolate between the enclosing steps, and after that bisect.
constexpr int trusting_trials = 2, interpolating_trials = 6;
// Part of the interval, in logarithms, that interpolation leaves on either side.
constexpr double margin = 0.08;
// Least error assumed when interpolating, so that its logarithm is finite.
constexpr double least_error = 1e-3;
// Aim for the largest error, and the most by which it changes the step of the next trial.
constexpr double aim_of_largest = 0.97, most_change = 4;
// Least growth of the step after a trial that keeps the bound, and least reduction after one that breaks it.  Once the
// expected error has proved wrong, steps are halved.
constexpr double least_growth = 1.01, least_reduction = 0.99, halving = 0.5;

// Bound of the largest error over the first step tried for it.
constexpr double steps_of_largest = 1.5, steps_of_largest_quick = 2.5;
// Bits below the largest magnitude at which the search for an error or for a size ends.
constexpr int finest_of_error = 62, finest_of_size = 56;
// Of the search for a size: most codings, ratio of the enclosing steps at which it ends, and factor between the largest
// magnitude and the step for which splits are chosen.
constexpr int most_codings = 16;
constexpr double closest_size = 1.005, split_step = 16;
// A magnitude for matrices of zeros.
constexpr double tiny = 1e-250;

Trial try_step(Coefficients& coefficients, double step) {
  Trial trial;
  const double largest_step = coefficients.largest_step();
  trial.step = QuantisationStep::at_most(largest_step > 0 ? std::min(step, largest_step) : step);
  trial.points = coefficients.choose_points(trial.step.value());
  trial.errors = coefficients.reconstruct(trial.step, trial.points);
  return trial;
}

/// Searches a large step that keeps an error bound.  The ratio of the measured to the expected error leads to the next
/// step.  If that fails, the search interpolates between the errors found so far, linearly in logarithms.
class ErrorSearch {
 public:
  ErrorSearch(Coefficients& coefficients, const Goal& goal, const Aim& aim)
      : coefficients_(coefficients),
        bound_(goal.value),
        largest_(goal.kind == Target::Kind::max_error),
        quick_(goal.quick),
        aim_(aim) {}

  std::optional<Trial> run(double step) {
    const double smallest_step = std::ldexp(coefficients_.largest_step(), -finest_of_error);
    for (int k = 0; k < final_trial && (!best_ || k < trials()) && step > smallest_step; ++k) {
      const Trial trial = try_step(coefficients_, step);
      note(trial);
      if (best_ && quick_) break;
      step = next(trial, k);
      if (best_ && !worth_trying(step)) break;
    }
    if (best_ && !quick_ && coefficients_.values() >= small_matrix &&
        coefficients_.model().count_from(best_->step.value()) < handful)
      try_larger();
    return best_;
  }

 private:
  /// Tries larger steps one by one, the largest first.
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
    if (largest_ || error_of(*best_) < aim_.good_enough * bound_) return most_trials;
    return many() ? usual_trials : trials_of_few_values;
  }
  /// Whether the stream has enough values for small differences to be predictable.
  bool many() const { return coefficients_.model().count_from(best_->step.value()) >= few_values; }

  void note(const Trial& trial) {
    const double used = trial.step.value();
    if (error_of(trial) > bound_) {
      if (!above_ || used < above_->step.value()) above_ = trial;
    } else if (!best_ || used > best_->step.value()) {
      best_ = trial;
    }
  }

  /// Whether a step is likely to make the stream noticeably smaller than the best one found.
  bool worth_trying(double step) const {
    const double used = best_->step.value();
    if (step <= used) return false;
    const double stated = QuantisationStep::at_most(step).value();
    if (stated <= used || (above_ && stated >= above_->step.value())) return false;
    if (used > near_largest_step * coefficients_.largest_step()) return false;
    if (largest_ || error_of(*best_) <= 0)
      return (bound_ > 0 ? (1 - error_of(*best_) / bound_) * size_per_error : 0) >= worthwhile;
    // A larger step saves bits of every value and, near the noise of the data, many values.
    const ErrorModel& model = coefficients_.model();
    const double values = model.count_from(used);
    if (many() && error_of(*best_) > nearly_met * bound_) return false;
    if (values > 0 && error_of(*best_) < aim_.good_enough * bound_) return true;
    return values > 0 &&
           1 - model.count_from(stated) / values + std::log2(stated / used) / bits_per_value >= worthwhile;
  }

  double next(const Trial& trial, int k) {
    const double error = error_of(trial), used = trial.step.value(), aim = best_ && many() ? aim_.refined : aim_.at;
    const double wanted =
        largest_ || error == 0 ? 0 : coefficients_.step_expected(bound_ * aim / error * coefficients_.expected(used));
    if (best_ && above_) {
      const double low = best_->step.value(), high = above_->step.value();
      if (std::log(high / low) < closest) return 0;
      if (wanted > low && QuantisationStep::at_most(wanted).value() < high && k < trusting_trials) return wanted;
      const double e = std::log(std::max(error_of(*best_), bound_ * least_error)), f = std::log(error_of(*above_));
      const double part = f > e ? (std::log(bound_ * aim) - e) / (f - e) : 0.5;
      return low * std::pow(high / low, k < interpolating_trials ? std::clamp(part, margin, 1 - margin) : 0.5);
    }
    if (error == 0) return used * most_change;
    const double step =
        largest_ ? used * std::clamp(bound_ * aim_of_largest / error, 1 / most_change, most_change) : wanted;
    if (error <= bound_) return std::max(step, used * least_growth);
    return std::min(step, used * (k < trusting_trials ? least_reduction : halving));
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
  // First bisect by the cheap model, then near its result by the better estimate.
  const double about = largest_of(std::ldexp(largest_step(), -64), largest_step(), 20,
                                  [&](double step) { return model().squared_error(step); });
  return largest_of(about / 4, std::min(about * 16, largest_step()), 12,
                    [&](double step) { return bands_squared_error(step); });
}

double first_guess(const Coefficients& coefficients, const Goal& goal) {
  switch (goal.kind) {
    case Target::Kind::passes: return passes_step(coefficients, goal.value);
    case Target::Kind::max_error: return goal.value / (goal.quick ? steps_of_largest_quick : steps_of_largest);
    case Target::Kind::nrmse: return coefficients.model_step(goal.quick ? aim_quick.at * goal.value : goal.value);
    case Target::Kind::max_bytes: break;
  }
  const double largest = coefficients.largest();
  return largest > 0 ? largest / split_step : std::max(coefficients.first(), tiny);
}

std::optional<Trial> find_quantisation_step(Coefficients& coefficients, const Goal& goal) {
  if (goal.kind == Target::Kind::passes) return try_step(coefficients, first_guess(coefficients, goal));
  const bool rms = goal.kind == Target::Kind::nrmse && !goal.quick;
  const Aim& aim = goal.quick ? aim_quick : coefficients.values() < small_matrix ? aim_small : aim_usual;
  return ErrorSearch(coefficients, goal, aim)
      .run(rms ? coefficients.step_expected(aim.at * goal.value) : first_guess(coefficients, goal));
}

std::optional<Trial> find_quantisation_step_for_size(Coefficients& coefficients, std::size_t bound,
                                                     const std::function<std::size_t(const Trial&)>& size_of) {
  const double largest = std::max({coefficients.largest(), coefficients.first(), tiny});
  double low = std::ldexp(largest, -finest_of_size), high = largest * 4;
  std::optional<Trial> best;
  for (int k = 0; k < most_codings && high / low > closest_size; ++k) {
    const double step = k == 0 ? high : std::sqrt(low * high);
    Trial trial;
    trial.step = QuantisationStep::at_most(step);
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
