// Finds the quantisation step that reaches a goal.  A step here is always a quantisation step.
#pragma once

#include "analytics/codec/error_model.hpp"
#include "analytics/codec/quantiser.hpp"
#include "analytics/codec/tile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace effort::codec {

/// A transformed matrix as seen by the search.  If it is distributed over nodes, every call is collective and returns
/// the same on all of them.
class Coefficients {
 public:
  virtual ~Coefficients() = default;
  virtual std::size_t values() const = 0;  ///< of the matrix, including absent ones
  virtual std::size_t present() const = 0;
  virtual double largest() const = 0;  ///< largest weighted magnitude, except of first coefficients
  virtual double first() const = 0;    ///< largest weighted magnitude of a first coefficient
  virtual const ErrorModel& model() const = 0;
  /// Splits bands further if that makes them cheaper at this step; changes largest() and model().
  virtual void choose_splits(double step) = 0;
  /// The mean positions of the values in their intervals (for large bands, of a sample).
  virtual Points choose_points(double step) = 0;
  /// The errors of the values that a decoder will return.
  virtual Errors reconstruct(const QuantisationStep& step, const Points& points) = 0;

  /// Approximate squared error of a step in all bands but the first.  Its deviation from that of the reconstruction is
  /// nearly the same at neighbouring steps.
  virtual double bands_squared_error(double step) { return model().squared_error(step); }

  /// Approximate RMS error of a step, and its inverse: the approximate largest step of a given RMS error.
  double expected(double step) {
    return std::sqrt((bands_squared_error(step) + first_squared_error(step)) / static_cast<double>(present()));
  }
  double step_expected(double rms);

  /// Upper bound of the first coefficient's squared error: half a step if it is coded, else all of it.
  double first_squared_error(double step) const { return step > first() ? first() * first() : step * step / 4; }
  /// A step at and above which all coefficients are zero.
  double largest_step() const { return 4 * std::max(largest(), first()); }
  bool narrow(double step) const { return is_narrow(std::max(largest(), first()), step); }
  double model_step(double rms) const { return model().step_for(rms * rms * static_cast<double>(present())); }
};

/// Approximate step for a goal, for which splits are chosen.
double first_guess(const Coefficients& coefficients, const Goal& goal);

/// The largest step found that keeps the goal (any but max_bytes); none if no step does.
std::optional<Trial> find_quantisation_step(Coefficients& coefficients, const Goal& goal);

/// The smallest step found at which `size_of` returns at most `bound` bytes, with measured errors.
std::optional<Trial> find_quantisation_step_for_size(Coefficients& coefficients, std::size_t bound,
                                                     const std::function<std::size_t(const Trial&)>& size_of);

}  // namespace effort::codec
