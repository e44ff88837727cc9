#include "analytics/balance/loss.hpp"

#include <algorithm>
#include <cmath>

namespace effort::balance {
namespace {

// All values but deviation_of_miss were tuned on the recordings (docs/performance/decision.md).

// Factor per step by which earlier losses at a class of ages fade: a memory of 30 steps.
constexpr double curve_memory = 0.97;
// Assumed before the first trial: the loss at age 1, and the exponent of its growth with the age.
constexpr double unseen_loss = 0.2, unseen_growth = 0.2;
// Assumed when only one class has been observed: growth per doubling of the age, as a share of the loss there.
constexpr double single_growth = 0.25;

// Prior of a rebalancer's effect: it leaves a floor of 4 +- 5 % of the mean load, and 0 +- 40 % of the excess.
constexpr double prior_floor = 0.04, floor_deviation = 0.05, share_deviation = 0.4;
// Standard deviation of one observation: a constant, in mean loads, and a share of the excess.
constexpr double noise = 0.03, relative_noise = 0.2;
// Factor per rebalance by which earlier ones fade: a memory of 50 rebalances.
constexpr double effect_memory = 0.98;

// Shares of a new step in the four means of the loss.
constexpr double gains[] = {1.0, 0.4, 0.12, 0.03};
// Steps ahead over which the means are compared with the losses that followed.
constexpr int horizons[] = {1, 6, 24};
// Paybacks, in steps, from which the second and the third horizon are used.
constexpr double short_payback = 2, long_payback = 15;
// Standard deviation / mean absolute deviation of a normal distribution, sqrt(pi / 2).  Absolute errors are averaged
// because one jump would dominate squared ones.
constexpr double deviation_of_miss = 1.25;

double square(double x) { return x * x; }

// Read from a table, because it is needed for many ages at every look.
double log2_of(int age) {
  static const auto table = [] {
    std::array<double, 512> t{};
    for (std::size_t a = 1; a < t.size(); ++a) t[a] = std::log2(static_cast<double>(a));
    return t;
  }();
  return static_cast<std::size_t>(age) < table.size() ? table[static_cast<std::size_t>(age)]
                                                      : std::log2(static_cast<double>(age));
}

}  // namespace

void LossCurve::observe(int age, double loss) {
  Seen& seen = seen_[static_cast<std::size_t>(age_class(age))];
  seen.loss = curve_memory * seen.loss + loss;
  seen.age = curve_memory * seen.age + age;
  seen.weight = curve_memory * seen.weight + 1;
}

bool LossCurve::known() const {
  return std::any_of(seen_.begin(), seen_.end(), [](const Seen& s) { return s.weight > 0; });
}

LossCurve LossCurve::drawn_to(const LossCurve& other) const {
  LossCurve out = other;
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const Seen &mine = seen_[k], &all = other.seen_[k];
    if (mine.weight <= 0 || all.weight <= 0) continue;
    out.seen_[k] = {mine.loss + all.loss / all.weight, mine.age + all.age / all.weight, mine.weight + 1};
  }
  return out;
}

void LossCurve::tabulate(int n, std::vector<double>& out, std::span<const double> reference) const {
  out.resize(static_cast<std::size_t>(n) + 1);
  std::array<double, n_age_classes> age{}, loss{};
  std::size_t known = 0;
  for (const Seen& s : seen_) {
    if (s.weight <= 0) continue;
    age[known] = s.age / s.weight;
    loss[known] = s.loss / s.weight;
    // Pool adjacent violators: the loss must not fall with the age.
    std::size_t first = known;
    double sum = loss[known], count = 1;
    while (first > 0 && loss[first - 1] > sum / count) {
      sum += loss[--first];
      ++count;
    }
    std::fill(loss.begin() + static_cast<std::ptrdiff_t>(first), loss.begin() + static_cast<std::ptrdiff_t>(known) + 1,
              sum / count);
    ++known;
  }
  if (known == 0) {
    for (int a = 1; a <= n; ++a) out[static_cast<std::size_t>(a)] = unseen_loss * std::pow(a, unseen_growth);
    return;
  }
  const double growth =
      known == 1 ? single_growth * loss[0]
                 : (loss[known - 1] - loss[known - 2]) / std::max(std::log2(age[known - 1] / age[known - 2]), 0.5);
  std::array<double, n_age_classes> log_age{};
  for (std::size_t k = 0; k < known; ++k) log_age[k] = std::log2(age[k]);
  std::size_t next = 0;
  for (int a = 1; a <= n; ++a) {
    while (next < known && age[next] < a) ++next;
    double& value = out[static_cast<std::size_t>(a)];
    if (next == 0)
      value = loss[0];
    else if (next == known && !reference.empty())
      value = loss[known - 1] +
              std::max(0.0, reference[static_cast<std::size_t>(a)] -
                                reference[std::min(static_cast<std::size_t>(age[known - 1]), reference.size() - 1)]);
    else if (next == known)
      value = loss[known - 1] + growth * (log2_of(a) - log_age[known - 1]);
    else
      value = loss[next - 1] +
              (loss[next] - loss[next - 1]) * (log2_of(a) - log_age[next - 1]) / (log_age[next] - log_age[next - 1]);
  }
}

RebalanceEffect::RebalanceEffect()
    : aa_(square(noise / floor_deviation)), bb_(square(noise / share_deviation)), a_(aa_ * prior_floor) {}

void RebalanceEffect::observe(double before, double after) {
  const RebalanceEffect prior;
  const auto fade = [](double& now, double then) { now = then + effect_memory * (now - then); };
  fade(aa_, prior.aa_);
  fade(ab_, prior.ab_);
  fade(bb_, prior.bb_);
  fade(a_, prior.a_);
  fade(b_, prior.b_);
  const double weight = square(noise / (noise + relative_noise * before));
  aa_ += weight;
  ab_ += weight * before;
  bb_ += weight * before * before;
  a_ += weight * after;
  b_ += weight * before * after;
}

double RebalanceEffect::after(double before) const {
  const double det = aa_ * bb_ - ab_ * ab_;
  const double floor = std::max((a_ * bb_ - b_ * ab_) / det, 0.0);
  const double share = std::clamp((aa_ * b_ - ab_ * a_) / det, 0.0, 1.0);
  return std::clamp(floor + share * before, 0.0, before);
}

double RebalanceEffect::uncertainty(double before) const {
  const double det = aa_ * bb_ - ab_ * ab_;
  return noise * std::sqrt(std::max((bb_ - 2 * before * ab_ + before * before * aa_) / det, 0.0));
}

void LossLevel::restart() {
  steps_ = 0;
  past_.clear();
  losses_.clear();
}

void LossLevel::observe(double loss) {
  ++steps_;
  for (int m = 0; m < n_means; ++m)
    mean_[static_cast<std::size_t>(m)] +=
        (steps_ == 1 ? 1.0 : std::max(gains[m], 1.0 / steps_)) * (loss - mean_[static_cast<std::size_t>(m)]);
  past_.push_back(mean_);
  losses_.push_back(loss);
  for (int h = 0; h < n_horizons; ++h) {
    const auto n = static_cast<std::size_t>(horizons[h]);
    if (past_.size() <= n) break;
    double coming = 0;
    for (std::size_t i = 0; i < n; ++i) coming += losses_[losses_.size() - 1 - i] / static_cast<double>(n);
    const Means& then = past_[past_.size() - 1 - n];
    const double memory = 1 - 0.1 / std::sqrt(horizons[h]);
    for (std::size_t m = 0; m < n_means; ++m)
      miss_[static_cast<std::size_t>(h)][m] =
          memory * miss_[static_cast<std::size_t>(h)][m] + std::fabs(then[m] - coming);
    weight_[static_cast<std::size_t>(h)] = memory * weight_[static_cast<std::size_t>(h)] + 1;
  }
  if (past_.size() > static_cast<std::size_t>(horizons[n_horizons - 1]) + 1) {
    past_.pop_front();
    losses_.pop_front();
  }
}

LossLevel::Estimate LossLevel::estimate(double payback) const {
  std::size_t h = payback < short_payback ? 0 : payback < long_payback ? 1 : 2;
  while (h > 0 && weight_[h] < 2) --h;
  const Means& errors = miss_[h];
  const auto best = static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
  const double level = mean_[best];
  return {level, weight_[h] > 0 ? deviation_of_miss * errors[best] / weight_[h] : 0.5 * std::fabs(level)};
}

}  // namespace effort::balance
