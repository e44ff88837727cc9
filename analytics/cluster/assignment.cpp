#include "analytics/cluster/assignment.hpp"

#include "analytics/cluster/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace effort::cluster {
namespace {

using kernels::lanes;

constexpr std::size_t tiles_per_flush = 1024;  // sums of so many 2^42 per lane are exact in a double

// What one worker needs and finds.
struct Part {
  std::vector<double> tile, squares;
  std::vector<double> high, low;    // [trials][lanes] integers
  std::vector<FixedSum> cost;       // [trials]
  std::vector<std::int64_t> sizes;  // [trials][k][lanes]: neighbours do not wait for each other's counter
  std::uint64_t largest_bits = 0;
  double largest_distance = 0;

  Part(const Signatures& objects, const MedoidSets& medoids)
      : tile(lanes * objects.d),
        squares(lanes * medoids.points.n),
        high(lanes * medoids.sets.size()),
        low(lanes * medoids.sets.size()),
        cost(medoids.sets.size()),
        sizes(medoids.sets.size() * medoids.k * lanes) {}

  void flush() {
    constexpr double exact = 0x1p53;
    for (std::size_t t = 0; t < cost.size(); ++t)
      for (std::size_t l = 0; l < lanes; ++l) {
        double& h = high[t * lanes + l];
        double& r = low[t * lanes + l];
        if (std::abs(h) < exact && std::abs(r) < exact) {  // else a value is bad, and the caller will see it
          cost[t].high += static_cast<std::int64_t>(h);
          cost[t].low += static_cast<std::int64_t>(r);
        }
        h = r = 0;
      }
  }
};

class Assigner {
 public:
  Assigner(const Signatures& objects, const MedoidSets& medoids, FixedUnit unit, Assignment& result)
      : objects_(objects),
        medoids_(medoids),
        fixed_{std::ldexp(1.0, unit.bits - unit.limit_exponent), std::ldexp(1.0, unit.bits)},
        result_(result) {}

  void tile(std::size_t first, Part& part) const {
    const auto& kernel = kernels::table();
    const std::size_t count = std::min(lanes, objects_.n - first), d = objects_.d;
    // First in the order of memory, which the processor foresees: tiles take a piece of every row in turn.
    part.largest_bits = std::max(part.largest_bits, kernel.largest_bits(objects_.row(first), count * d));
    kernel.load_tile(objects_.row(first), d, count, d, part.tile.data());
    prefetch(first + lanes);
    kernel.squared(part.tile.data(), medoids_.points.values.data(), medoids_.points.n, d, part.squares.data());
    for (std::size_t t = 0; t < medoids_.sets.size(); ++t) trial(t, first, count, part);
  }

 private:
  // The next tile's rows come into the cache while this one's distances are computed.
  void prefetch(std::size_t first) const {
    constexpr std::size_t line = 64 / sizeof(double);
    const std::size_t end = std::min(objects_.n, first + lanes) * objects_.d;
    for (std::size_t i = first * objects_.d; i < end; i += line) __builtin_prefetch(objects_.values.data() + i, 0, 2);
  }

  void trial(std::size_t t, std::size_t first, std::size_t count, Part& part) const {
    const kernels::TrialSums sums{part.high.data() + t * lanes, part.low.data() + t * lanes,
                                  part.sizes.data() + t * medoids_.k * lanes};
    const double largest = kernels::table().assign(part.squares.data(), medoids_.sets[t].data(), medoids_.k, count,
                                                   fixed_, sums, result_.labels.data() + t * objects_.n + first);
    part.largest_distance = std::max(part.largest_distance, largest);
  }

  const Signatures& objects_;
  const MedoidSets& medoids_;
  const kernels::FixedPoint fixed_;
  Assignment& result_;
};

void add(const Part& part, Assignment& result) {
  for (std::size_t t = 0; t < result.cost.size(); ++t) {
    result.cost[t].high += part.cost[t].high;
    result.cost[t].low += part.cost[t].low;
  }
  for (std::size_t i = 0; i < part.sizes.size(); ++i) result.sizes[i / lanes] += part.sizes[i];
  result.largest_bits = std::max(result.largest_bits, part.largest_bits);
  result.largest_distance = std::max(result.largest_distance, part.largest_distance);
}

}  // namespace

int FixedUnit::bits_for(std::int64_t n) {
  const auto log2_n = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  return std::min(42, 61 - log2_n);
}

FixedSum FixedUnit::normalised(FixedSum sum) const {
  const std::int64_t carry = sum.low >> bits;  // rounds down: low is not negative afterwards
  return {sum.high + carry, sum.low - (carry << bits)};
}

double FixedUnit::value(FixedSum sum) const {
  sum = normalised(sum);
  return std::ldexp(static_cast<double>(sum.high), limit_exponent - bits) +
         std::ldexp(static_cast<double>(sum.low), limit_exponent - 2 * bits);
}

Assignment assign(const Workers& workers, const Signatures& objects, const MedoidSets& medoids, FixedUnit unit) {
  const std::size_t trials = medoids.sets.size();
  const std::size_t tiles = (objects.n + lanes - 1) / lanes;
  const std::size_t pieces = std::min(tiles, workers.concurrency());
  Assignment result;
  result.labels.resize(trials * objects.n);
  result.cost.resize(trials);
  result.sizes.resize(trials * medoids.k);
  const Assigner assigner(objects, medoids, unit, result);
  std::vector<Part> parts(pieces, Part(objects, medoids));
  workers.run("effort::cluster::assign", pieces, [&](std::size_t piece) {
    const std::size_t begin = tiles * piece / pieces, end = tiles * (piece + 1) / pieces;
    for (std::size_t i = begin; i < end; ++i) {
      assigner.tile(i * lanes, parts[piece]);
      if ((i - begin) % tiles_per_flush == tiles_per_flush - 1) parts[piece].flush();
    }
    parts[piece].flush();
  });
  for (const Part& part : parts) add(part, result);
  return result;
}

}  // namespace effort::cluster
