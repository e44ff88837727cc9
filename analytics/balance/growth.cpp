#include "analytics/balance/growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::balance {
namespace {

constexpr double forgetting = 0.6;  // of past errors, per window: about the last three count
constexpr double fading = 0.8;      // of past deviations, per window: few ranks alone say little of how they persist
constexpr double beyond_noise = 3.0;  // times the usual deviation
constexpr double most = 2.0;        // that a load is multiplied or divided by: lines do not hold for longer

}  // namespace

Line line_through(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n, middle = 0.5 * (n - 1);
  double product = 0;
  for (std::size_t i = 0; i < values.size(); ++i) product += (static_cast<double>(i) - middle) * (values[i] - mean);
  return {mean, product / (n * (n * n - 1) / 12)};
}

HalvesErrors halves_errors(std::span<const double> values) {
  const std::size_t half = values.size() / 2, rest = values.size() - half;
  const Line first = line_through(values.first(half));
  const double second = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(half), values.end(), 0.0) /
                        static_cast<double>(rest);
  const double ahead = 0.5 * static_cast<double>(values.size());  // from the middle of one to that of the other
  return {std::fabs(first.mean + ahead * first.slope - second), std::fabs(first.mean - second)};
}

void LineTrust::observe(HalvesErrors errors) {
  recent_.line = forgetting * recent_.line + errors.line;
  recent_.mean = forgetting * recent_.mean + errors.mean;
}

double LineTrust::share() const { return recent_.line < recent_.mean ? 1 - recent_.line / recent_.mean : 0.0; }

void LastingPart::observe(double product, double square, double weight) {
  product_ = fading * product_ + product;
  square_ = fading * square_ + square;
  weight_ = fading * weight_ + weight;
}

double LastingPart::share() const { return square_ > 0 ? std::clamp(product_ / square_, 0.0, 1.0) : 1.0; }

double LastingPart::keep(double deviation) const {
  if (!(deviation > -1 && square_ > 0)) return 1.0;
  const double noise = beyond_noise * std::sqrt(square_ / weight_);
  return 1 - (1 - share()) * std::clamp(deviation, -noise, noise) / (1 + deviation);
}

double growth(const Line& line, double ahead, double share) {
  if (!(line.mean > 0)) return 1.0;
  return std::clamp(1 + share * ahead * line.slope / line.mean, 1 / most, most);
}

}  // namespace effort::balance
