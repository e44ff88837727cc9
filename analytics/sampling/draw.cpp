#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace effort::sampling {
namespace {

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;

// Uniform over 0..bound-1 without bias: multiplication with rejection (Lemire 2019).
std::uint64_t below(std::uint32_t bound, std::uint64_t seed, std::uint64_t stream, std::uint64_t& counter) {
  const std::uint32_t threshold = (0u - bound) % bound;
  for (;;) {
    const auto random = static_cast<std::uint32_t>(keyed_random(seed, stream, counter++) >> 32);
    const std::uint64_t product = std::uint64_t{random} * bound;
    if (static_cast<std::uint32_t>(product) >= threshold) return product >> 32;
  }
}

// The set of drawn numbers: open addressing, at most half full.
class DrawnSet {
 public:
  explicit DrawnSet(std::size_t count) : mask_(std::bit_ceil(2 * count + 2) - 1), slots_(mask_ + 1, -1) {}

  bool insert(std::int32_t value) {
    std::size_t i = mix(static_cast<std::uint64_t>(value)) & mask_;
    while (slots_[i] >= 0) {
      if (slots_[i] == value) return false;
      i = (i + 1) & mask_;
    }
    slots_[i] = value;
    return true;
  }

 private:
  std::size_t mask_;
  std::vector<std::int32_t> slots_;
};

std::uint64_t stream_of(std::uint64_t window, std::uint64_t group) { return keyed_random(window, group, 0); }

}  // namespace

std::uint64_t keyed_random(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  const std::uint64_t key = mix(mix(seed + golden_ratio) + (stream + 1) * golden_ratio);
  return mix(key + (counter + 1) * golden_ratio);
}

std::vector<std::int32_t> draw_without_replacement(std::int64_t population, std::int64_t count, std::uint64_t seed,
                                                   std::uint64_t stream) {
  if (count < 0 || count > population || population > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("cannot draw " + std::to_string(count) + " of " + std::to_string(population) +
                                " without replacement: draw between 0 and all of them");
  std::vector<std::int32_t> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  if (count == population) {
    drawn.resize(static_cast<std::size_t>(count));
    std::iota(drawn.begin(), drawn.end(), 0);
    return drawn;
  }
  DrawnSet set(static_cast<std::size_t>(count));
  std::uint64_t counter = 0;
  for (std::int64_t last = population - count; last < population; ++last) {
    auto value = static_cast<std::int32_t>(below(static_cast<std::uint32_t>(last + 1), seed, stream, counter));
    if (!set.insert(value)) {
      value = static_cast<std::int32_t>(last);
      set.insert(value);
    }
    drawn.push_back(value);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<std::int32_t> draw_by_stratum(std::span<const std::int32_t> labels,
                                          std::span<const std::int64_t> allocation,
                                          std::span<const std::int32_t> pinned, std::uint64_t seed,
                                          std::uint64_t window) {
  const bool from_all = allocation.size() == 1;
  const auto stratum_of = [&](std::size_t rank) { return from_all ? 0 : static_cast<std::size_t>(labels[rank]); };
  struct Stratum {
    std::int32_t members = 0, passed = 0;
    std::vector<std::int32_t> drawn;  // which of the members, ascending
    std::size_t found = 0;
  };
  std::vector<Stratum> strata(allocation.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (stratum_of(i) >= strata.size())
      throw std::invalid_argument("rank " + std::to_string(i) + " is in stratum " + std::to_string(labels[i]) +
                                  ", for which nothing is allocated: pass one entry per stratum");
    ++strata[stratum_of(i)].members;
  }
  for (const std::int32_t rank : pinned)
    if (rank < 0 || static_cast<std::size_t>(rank) >= labels.size())
      throw std::invalid_argument("pinned rank " + std::to_string(rank) + " does not exist: pin ranks 0 to n - 1");
  for (std::size_t s = 0; s < strata.size(); ++s)
    strata[s].drawn = draw_without_replacement(
        strata[s].members, std::min<std::int64_t>(allocation[s], strata[s].members), seed, stream_of(window, s));
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Stratum& s = strata[stratum_of(i)];
    if (s.found == s.drawn.size() || s.drawn[s.found] != s.passed++) continue;
    ++s.found;
    chosen.push_back(static_cast<std::int32_t>(i));
  }
  chosen.insert(chosen.end(), pinned.begin(), pinned.end());
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace effort::sampling
