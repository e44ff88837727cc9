#include "analytics/reduction/representatives.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace effort::reduction {

namespace {

constexpr std::uint32_t none = 0xffffffff;
constexpr std::size_t block = 16;    // stamps between two looks at the limit
constexpr int most_candidates = 32;  // of Similarity::bounded, for each segment

/// Whether the sum of term(i) over all stamps is at most the limit.
template <typename Term>
bool sum_within(std::size_t n, double limit, const Term& term) {
  double sum = 0;
  for (std::size_t i = 0; i < n;) {
    for (const std::size_t end = std::min(i + block, n); i < end; ++i) sum += term(i);
    if (sum > limit) return false;
  }
  return true;
}
template <typename Test>
bool all_of(std::size_t n, const Test& test) {
  for (std::size_t i = 0; i < n;) {
    bool good = true;
    for (const std::size_t end = std::min(i + block, n); i < end; ++i) good &= test(i);
    if (!good) return false;
  }
  return true;
}

}  // namespace

Representatives::Representatives(const Method& method, double tolerance_ns)
    : method_(method), tolerance_(tolerance_ns) {}

std::uint32_t Representatives::keep(Class& into, std::span<const double> stamps, double end, double largest) {
  const auto number = static_cast<std::uint32_t>(size());
  stamps_.insert(stamps_.end(), stamps.begin(), stamps.end());
  first_.push_back(stamps_.size());
  into.kept.push_back(number);
  into.ends.push_back(end);
  into.largest.push_back(largest);
  return number;
}

bool Representatives::similar(std::span<const double> x, std::span<const double> y, double limit) const {
  const auto difference = [&](std::size_t i) { return std::abs(x[i] - y[i]); };
  switch (method_.similarity) {
    case Similarity::rel_diff:
      return all_of(x.size(), [&](std::size_t i) { return difference(i) <= limit * std::max(x[i], y[i]); });
    case Similarity::manhattan: return sum_within(x.size(), limit, difference);
    case Similarity::euclidean:
      return sum_within(x.size(), limit * limit, [&](std::size_t i) { return difference(i) * difference(i); });
    default: return all_of(x.size(), [&](std::size_t i) { return difference(i) <= limit; });
  }
}

std::uint32_t Representatives::first_similar(Class& in, std::span<const double> stamps) {
  const double end = stamps.back(), t = method_.threshold;
  const bool scaled = method_.similarity != Similarity::abs_diff;
  for (std::size_t k = 0; k < in.kept.size(); ++k) {
    const double limit = scaled ? t * std::max(end, in.ends[k]) : t;
    if (std::abs(end - in.ends[k]) > limit) continue;
    if (similar(stamps, this->stamps(in.kept[k]), method_.similarity == Similarity::rel_diff ? t : limit))
      return in.kept[k];
  }
  return keep(in, stamps, end, end);
}

std::uint32_t Representatives::first_similar_wave(Class& in, std::span<const double> stamps) {
  wave_.assign(std::bit_ceil(stamps.size() + 1), 0);
  std::copy(stamps.begin(), stamps.end(), wave_.begin() + 1);  // the first element is the start, 0
  transform(wave_, method_.similarity == Similarity::haar_wave, means_);
  const double largest = *std::max_element(wave_.begin(), wave_.end());
  for (std::size_t k = 0; k < in.kept.size(); ++k) {
    const double limit = method_.threshold * std::max(largest, in.largest[k]);
    if (std::abs(wave_[0] - in.ends[k]) > limit) continue;
    const double* const other = waves_.data() + first_wave_[in.kept[k]];
    const auto square = [&](std::size_t i) { return (wave_[i] - other[i]) * (wave_[i] - other[i]); };
    if (sum_within(wave_.size(), limit * limit, square)) return in.kept[k];
  }
  waves_.insert(waves_.end(), wave_.begin(), wave_.end());
  first_wave_.push_back(waves_.size());
  return keep(in, stamps, wave_[0], largest);
}

std::uint32_t Representatives::nearest(Class& in, std::span<const double> stamps) {
  in.errors.resize(stamps.size(), 0);
  double least = tolerance_;
  std::uint32_t best = none;
  const auto look_at = [&](std::size_t k) {
    const std::span<const double> y = this->stamps(in.kept[k]);
    double sum = 0;
    const bool within = all_of(stamps.size(), [&](std::size_t i) {
      const double error = stamps[i] - y[i];
      sum = std::max(sum, std::abs(in.errors[i] + error));
      return std::abs(error) <= tolerance_ && sum <= least;
    });
    if (!within || (best != none && sum == least)) return;
    best = in.kept[k];
    least = sum;
  };
  // Search outwards from the end that would cancel the errors so far, as long as a side is within the tolerance.
  const double end = stamps.back();
  const auto from = std::lower_bound(in.ends.begin(), in.ends.end(), end + in.errors.back());
  auto below = static_cast<std::size_t>(from - in.ends.begin()), above = below;
  for (int looked = 0; looked < most_candidates; ++looked) {
    const bool down = below > 0 && in.ends[below - 1] >= end - tolerance_;
    const bool up = above < in.ends.size() && in.ends[above] <= end + tolerance_;
    if (!down && !up) break;
    look_at(down && (!up || looked % 2 == 0) ? --below : above++);
  }
  if (best == none) {
    const auto at = std::upper_bound(in.ends.begin(), in.ends.end(), end) - in.ends.begin();
    const std::uint32_t number = keep(in, stamps, end, end);
    std::rotate(in.ends.begin() + at, in.ends.end() - 1, in.ends.end());
    std::rotate(in.kept.begin() + at, in.kept.end() - 1, in.kept.end());
    return number;
  }
  const std::span<const double> y = this->stamps(best);
  for (std::size_t i = 0; i < stamps.size(); ++i) in.errors[i] += stamps[i] - y[i];
  return best;
}

std::uint32_t Representatives::average(Class& in, std::span<const double> stamps) {
  ++in.count;
  if (in.kept.empty()) return keep(in, stamps, 0, 0);
  double* const mean = stamps_.data() + first_[in.kept[0]];
  for (std::size_t i = 0; i < stamps.size(); ++i) mean[i] += (stamps[i] - mean[i]) / in.count;
  return in.kept[0];
}

std::uint32_t Representatives::add(std::uint64_t structure, std::span<const double> stamps) {
  Class& in = classes_[structure];
  switch (method_.similarity) {
    case Similarity::iter_k:
      return static_cast<double>(in.kept.size()) < method_.threshold ? keep(in, stamps, 0, 0) : in.kept.back();
    case Similarity::iter_avg: return average(in, stamps);
    case Similarity::avg_wave:
    case Similarity::haar_wave: return first_similar_wave(in, stamps);
    case Similarity::bounded: return nearest(in, stamps);
    default: return first_similar(in, stamps);
  }
}

}  // namespace effort::reduction
