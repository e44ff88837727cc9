// The choice of the quantisation step that reaches a goal.
#pragma once

#include "analytics/codec/error_model.hpp"
#include "analytics/codec/quantiser.hpp"
#include "analytics/codec/tile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace effort::codec {

/// A transformed matrix as the choice of a step sees it: in one place, or spread over nodes (then every call is
/// collective and answers the same on all).
class Coefficients {
 public:
  virtual ~Coefficients() = default;
  virtual std::size_t values() const = 0;  ///< of the matrix, absent ones too
  virtual std::size_t present() const = 0;
  virtual double largest() const = 0;  ///< weighted magnitude, first coefficients aside
  virtual double first() const = 0;    ///< weighted magnitude of the (largest) first coefficient
  virtual const ErrorModel& model() const = 0;
  /// Splits bands further where that makes them cheaper at this step; changes largest() and model().
  virtual void choose_splits(double step) = 0;
  /// The mean places of the values in their intervals (of large bands: of a sample).
  virtual Points choose_points(double step) = 0;
  /// How far what a decoder will return is from the values.
  virtual Errors reconstruct(const Step& step, const Points& points) = 0;

  /// About the squared error that a step leaves in all bands but the first.  What the reconstruction's differs from it
  /// is nearly the same at neighbouring steps.
  virtual double bands_squared_error(double step) { return model().squared_error(step); }

  /// About the RMS error at a step, and about the largest step at which it is that large.
  double expected(double step) {
    return std::sqrt((bands_squared_error(step) + first_squared_error(step)) / static_cast<double>(present()));
  }
  double step_expected(double rms);

  /// At most: of a value that is coded half a step, of one that is not all of it.
  double first_squared_error(double step) const { return step > first() ? first() * first() : step * step / 4; }
  /// From there on everything is zero.
  double largest_step() const { return 4 * std::max(largest(), first()); }
  bool narrow(double step) const { return is_narrow(std::max(largest(), first()), step); }
  double model_step(double rms) const { return model().step_for(rms * rms * static_cast<double>(present())); }
};

/// About the step that a goal needs: what splits are to be chosen for.
double first_guess(const Coefficients& coefficients, const Goal& goal);

/// The largest step found that keeps the goal (which is no number of bytes); none where no step does.
std::optional<Trial> find_step(Coefficients& coefficients, const Goal& goal);

/// The smallest step found at which `size_of` tells at most `bound` bytes.  Its errors are measured.
std::optional<Trial> find_step_of_size(Coefficients& coefficients, std::size_t bound,
                                       const std::function<std::size_t(const Trial&)>& size_of);

}  // namespace effort::codec
