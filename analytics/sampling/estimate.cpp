#include "analytics/sampling/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "analytics/number_text.hpp"
#include "analytics/sampling/sample_size.hpp"

namespace effort::sampling {

namespace {

/// The continued fraction of the incomplete beta function (Lentz's method; Abramowitz & Stegun 26.5.8).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return result;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// P(|T| >= t), Abramowitz & Stegun 26.7.1 and 26.5.27.
double both_tails(double t, double degrees) { return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)); }

}  // namespace

double student_quantile(double confidence, double degrees) {
  const double normal = normal_quantile(confidence);  // checks the confidence
  if (!(degrees > 0))
    throw std::invalid_argument("degrees of freedom are " + number_text(degrees) + ": they must be above 0");
  if (degrees > 1e6) return normal;
  // The normal quantile is below the root.  Bisection needs no derivative and cannot diverge.
  double low = normal, high = 2 * normal + 1;
  while (both_tails(high, degrees) > 1 - confidence && high < 1e150) high *= high > 1e3 ? 100 : 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (both_tails(middle, degrees) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

double Estimate::half_width(double confidence) const {
  if (variance < 0) return -1;
  if (variance <= 1e-24 * total * total) return 0;  // only rounding errors
  const double degrees = scatter > 0 ? variance * variance / scatter : 1e9;
  return student_quantile(confidence, degrees) * std::sqrt(variance);
}

Estimate& Estimate::operator+=(const Estimate& other) {
  total += other.total;
  variance = variance < 0 || other.variance < 0 ? -1 : variance + other.variance;
  scatter += other.scatter;
  return *this;
}

Draw::Draw(std::vector<std::int64_t> population, std::vector<Unit> units) : units_(std::move(units)) {
  std::vector<Stratum> all(population.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    if (unit.stratum < 0 || static_cast<std::size_t>(unit.stratum) >= all.size())
      throw std::invalid_argument("a sampled rank has stratum " + std::to_string(unit.stratum) + ", but there are " +
                                  std::to_string(all.size()));
    if (!(unit.probability > 0 && unit.probability <= 1))
      throw std::invalid_argument("a sampled rank was drawn with probability " + number_text(unit.probability) +
                                  ": it must be above 0 and at most 1");
    all[static_cast<std::size_t>(unit.stratum)].units.push_back(i);
  }
  for (std::size_t h = 0; h < all.size(); ++h) {
    population_size_ += population[h];
    if (population[h] < static_cast<std::int64_t>(all[h].units.size()))
      throw std::invalid_argument("stratum " + std::to_string(h) + " has " + std::to_string(population[h]) +
                                  " ranks, of which " + std::to_string(all[h].units.size()) + " were sampled");
    if (all[h].units.empty()) continue;
    covered_ += population[h];
    all[h].size = static_cast<double>(population[h]);
    if (all[h].units.size() == 1 && population[h] > 1) alone_.push_back(strata_.size());
    strata_.push_back(std::move(all[h]));
  }
  companion_ = strata_.size();
  for (std::size_t h = 0; h < strata_.size() && alone_.size() == 1; ++h)
    if (h != alone_[0] && (companion_ == strata_.size() || strata_[h].size < strata_[companion_].size)) companion_ = h;
}

double Draw::mean(std::span<const double> values, std::span<const std::size_t> units) const {
  double sum = 0, weights = 0;
  for (const std::size_t i : units) {
    sum += values[i] / units_[i].probability;
    weights += 1 / units_[i].probability;
  }
  return sum / weights;
}

// With equal probabilities n / N this is N^2 (1 - n / N) s^2 / n, Cochran 1977, (2.20).
void Draw::add_variance(std::span<const double> values, double size, std::span<const std::size_t> units,
                        Estimate& estimate) const {
  const auto n = static_cast<double>(units.size());
  if (n >= size) return;  // drawn completely
  const double centre = mean(values, units);
  double weights = 0, sum = 0;
  for (const std::size_t i : units) weights += 1 / units_[i].probability;
  for (const std::size_t i : units) {
    // The actual probability: if ranks are lost, the remaining ones represent more ranks.
    const double probability = std::min(1.0, units_[i].probability * weights / size);
    const double away = (values[i] - centre) / probability;
    sum += (1 - probability) * away * away;
  }
  const double variance = sum * n / (n - 1);
  estimate.variance += variance;
  estimate.scatter += variance * variance / (n - 1);
}

void Draw::add_collapsed(std::span<const double> values, Estimate& estimate) const {
  if (alone_.size() == 1) {
    const Stratum& single = strata_[alone_[0]];
    if (companion_ == strata_.size()) {
      estimate.variance = -1;
      return;
    }
    std::vector<std::size_t> units = strata_[companion_].units;
    units.insert(units.end(), single.units.begin(), single.units.end());
    add_variance(values, single.size + strata_[companion_].size, units, estimate);
    return;
  }
  double all = 0, size = 0;
  for (const std::size_t h : alone_) {
    all += strata_[h].size * values[strata_[h].units[0]];
    size += strata_[h].size;
  }
  const auto n = static_cast<double>(alone_.size());
  double sum = 0;
  for (const std::size_t h : alone_) {
    const double away = strata_[h].size * values[strata_[h].units[0]] - all * strata_[h].size / size;
    sum += (1 - 1 / strata_[h].size) * away * away;
  }
  const double variance = sum * n / (n - 1);
  estimate.variance += variance;
  estimate.scatter += variance * variance / (n - 1);
}

Estimate Draw::total(std::span<const double> values) const {
  if (values.size() != units_.size())
    throw std::invalid_argument("there must be one value for each of the " + std::to_string(units_.size()) +
                                " sampled ranks");
  Estimate estimate;
  if (covered_ == 0) {
    estimate.variance = population_size_ == 0 ? 0 : -1;
    return estimate;
  }
  for (std::size_t h = 0; h < strata_.size(); ++h) {
    const Stratum& stratum = strata_[h];
    estimate.total += stratum.size * mean(values, stratum.units);
    const bool joined = alone_.size() == 1 && h == companion_;
    if (stratum.units.size() > 1 && !joined) add_variance(values, stratum.size, stratum.units, estimate);
  }
  if (!alone_.empty()) add_collapsed(values, estimate);
  const double factor = static_cast<double>(population_size_) / static_cast<double>(covered_);
  estimate.total *= factor;
  if (estimate.variance > 0) estimate.variance *= factor * factor;
  estimate.scatter *= factor * factor * factor * factor;
  return estimate;
}

bool Draw::calibrate(double known, std::span<const std::span<double>> parts) const {
  std::vector<double> all(units_.size());
  for (const std::span<double> part : parts)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
  const double estimated = total(all).total;
  if (!(estimated > 0)) return false;
  for (const std::span<double> part : parts) {
    // The residual of a unit: its value minus the part's share of the unit's sum.  The estimated total of residuals is
    // 0.
    const double share = total(part).total / estimated;
    for (std::size_t i = 0; i < all.size(); ++i)
      part[i] = known * ((part[i] - share * all[i]) / estimated + share / static_cast<double>(population_size_));
  }
  return true;
}

}  // namespace effort::sampling
