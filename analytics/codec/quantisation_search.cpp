#include "analytics/codec/quantisation_search.hpp"

#include <algorithm>
#include <cmath>

namespace effort::codec {
namespace {

// Figures of what each constant is worth: docs/adr/0051-the-quantisation-search-decides-by-one-estimate.md.

/// Share of the error bound that a trial aims at.  In small matrices the edges are a large part, so the expected error
/// is less exact and a closer aim costs trials.  A quick goal accepts a larger stream for a single trial.
constexpr double aim_usual = 0.998, aim_small = 0.967, aim_quick = 0.95;
/// The same for the next step by the largest error, which scatters from step to step.
constexpr double aim_of_largest = 0.97;
/// Values of a matrix from which on it is not small.
constexpr std::size_t small_matrix = 4096;
/// Trials in all, unless none has kept the bound.
constexpr int most_trials = 7;
/// Share of the size that a further trial must be expected to save, since it costs about as much as the transform.
constexpr double worthwhile = 0.012;
/// Bits of a coded value: a step larger by a factor of 2 saves one of them.
constexpr double bits_per_value = 6;
/// Number of trials that rely on the expected error; later trials interpolate between measured errors.
constexpr int trusting_trials = 2;
/// Least factor between a step that keeps the bound and the next one, while none has broken it.
constexpr double least_growth = 1.01;
/// A bound of the largest error over the first step tried for it.
constexpr double steps_of_largest = 1.5;
/// Bits below the largest magnitude at which the search for an error ends: more than a double has.  One for a size
/// needs fewer.
constexpr int finest = 62, finest_of_size = 56;
/// Ratio of the enclosing steps at which the search for a size ends: about that of neighbouring steps of a stream.
constexpr double closest_size = 1.005;
/// Largest magnitude over the step for which splits are chosen, if the goal is a size.
constexpr double split_step = 16;
/// A magnitude for matrices of zeros.
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
  ErrorSearch(Coefficients& coefficients, const Goal& goal, double aim)
      : coefficients_(coefficients),
        bound_(goal.value),
        aim_(aim * goal.value),
        largest_(goal.kind == Target::Kind::max_error),
        quick_(goal.quick) {}

  std::optional<Trial> run(double step) {
    const double smallest_step = std::ldexp(coefficients_.largest_step(), -finest);
    for (int k = 0; (!best_ || k < most_trials) && step > smallest_step; ++k) {
      const Trial trial = try_step(coefficients_, step);
      note(trial);
      if (best_ && quick_) break;
      step = next(trial, k);
      if (best_ && !worth_trying(step)) break;
    }
    return best_;
  }

 private:
  double error_of(const Trial& trial) const { return largest_ ? trial.errors.max : trial.errors.rms; }

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
    const double used = best_->step.value(), error = error_of(*best_);
    const double stated = QuantisationStep::at_most(std::min(step, coefficients_.largest_step())).value();
    if (stated <= used || (above_ && stated >= above_->step.value())) return false;
    if (largest_ || error <= 0) return error < (1 - worthwhile) * bound_;
    // A larger step saves bits of every value and, near the noise of the data, many values.
    const ErrorModel& model = coefficients_.model();
    const double values = model.count_from(used);
    return values > 0 &&
           1 - model.count_from(stated) / values + std::log2(stated / used) / bits_per_value >= worthwhile;
  }

  double next(const Trial& trial, int k) {
    const double error = error_of(trial), used = trial.step.value();
    const bool trusted = k < trusting_trials;
    const double wanted = error == 0 ? 2 * used
                          : largest_ ? used * aim_of_largest * bound_ / error
                                     : coefficients_.step_expected(aim_ / error * coefficients_.expected(used));
    if (best_ && above_) {
      const double low = best_->step.value(), high = above_->step.value();
      if (!largest_ && trusted && wanted > low && QuantisationStep::at_most(wanted).value() < high) return wanted;
      const double low_error = error_of(*best_);
      if (low_error == 0) return std::sqrt(low * high);
      // An error beyond the aim gives a smaller step, which ends the search.
      return low * std::pow(high / low, std::log(aim_ / low_error) / std::log(error_of(*above_) / low_error));
    }
    if (error <= bound_) return std::max(wanted, used * least_growth);
    return trusted ? wanted : std::min(wanted, used / 2);
  }

  Coefficients& coefficients_;
  double bound_, aim_;  ///< errors
  bool largest_;
  bool quick_;
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
  // First bisect by the cheap model, which is right to a small factor, then near its result by the better estimate.
  constexpr int rough = 20, exact = 12;  // halvings: to 1e-4 and 1e-3 of the step
  const double about = largest_of(std::ldexp(largest_step(), -finest), largest_step(), rough,
                                  [&](double step) { return model().squared_error(step); });
  return largest_of(about / 4, std::min(about * 16, largest_step()), exact,
                    [&](double step) { return bands_squared_error(step); });
}

double first_guess(const Coefficients& coefficients, const Goal& goal) {
  switch (goal.kind) {
    case Target::Kind::passes: return passes_step(coefficients, goal.value);
    case Target::Kind::max_error: return goal.value / steps_of_largest;
    case Target::Kind::nrmse: return coefficients.model_step(goal.quick ? aim_quick * goal.value : goal.value);
    case Target::Kind::max_bytes: break;
  }
  const double largest = coefficients.largest();
  return largest > 0 ? largest / split_step : std::max(coefficients.first(), tiny);
}

std::optional<Trial> find_quantisation_step(Coefficients& coefficients, const Goal& goal) {
  if (goal.kind == Target::Kind::passes) return try_step(coefficients, first_guess(coefficients, goal));
  const bool rms = goal.kind == Target::Kind::nrmse && !goal.quick;
  const double aim = goal.quick ? aim_quick : coefficients.values() < small_matrix ? aim_small : aim_usual;
  return ErrorSearch(coefficients, goal, aim)
      .run(rms ? coefficients.step_expected(aim * goal.value) : first_guess(coefficients, goal));
}

std::optional<Trial> find_quantisation_step_for_size(Coefficients& coefficients, std::size_t bound,
                                                     const std::function<std::size_t(const Trial&)>& size_of) {
  const double largest = std::max({coefficients.largest(), coefficients.first(), tiny});
  double low = std::ldexp(largest, -finest_of_size), high = largest * 4;
  std::optional<Trial> best;
  for (double step = high; high / low > closest_size; step = std::sqrt(low * high)) {
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
