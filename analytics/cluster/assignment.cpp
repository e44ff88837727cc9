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
  std::vector<double> high, low;       // [trials][lanes] integers
  std::vector<FixedSum> cost;          // [trials]
  std::vector<std::int64_t> sizes;     // [trials][k][lanes]: neighbours do not wait for each other's counter
  std::vector<float> centred, products;  // what screening needs
  std::vector<double> bounds;            // [screened trials][lanes]
  std::uint64_t largest_bits = 0;
  double largest_distance = 0;

  Part(const Signatures& objects, const MedoidSets& medoids, const ScreenedSets& screened)
      : tile(lanes * objects.d),
        squares(lanes * medoids.points.n),
        high(lanes * medoids.sets.size()),
        low(lanes * medoids.sets.size()),
        cost(medoids.sets.size()),
        sizes(medoids.sets.size() * medoids.k * lanes),
        centred(screened.trials() > 0 ? lanes * objects.d : 0),
        products(lanes * screened.sets().points.n),
        bounds(lanes * screened.trials()) {}

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
  Assigner(const Signatures& objects, const MedoidSets& medoids, const ScreenedSets& screened, FixedUnit unit,
           Assignment& result)
      : objects_(objects),
        medoids_(medoids),
        screened_(screened),
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
    if (screened_.trials() > 0) screen(count, part);
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
    const double largest = kernels::table().assign(part.squares.data(), medoids_.sets[t].data(), medoids_.k, count, fixed_,
                                                   sums, result_.labels.data() + t * objects_.n + first);
    part.largest_distance = std::max(part.largest_distance, largest);
  }

  void screen(std::size_t count, Part& part) const {
    const auto& kernel = kernels::table();
    const MedoidSets& sets = screened_.sets();
    alignas(64) float squares[lanes];
    kernel.centre_tile(part.tile.data(), screened_.centre().data(), screened_.factor(), objects_.d, part.centred.data(),
                       squares);
    kernel.products(part.centred.data(), screened_.points().data(), sets.points.n, objects_.d, part.products.data());
    for (std::size_t t = 0; t < sets.sets.size(); ++t)
      kernel.add_least(part.products.data(), sets.sets[t].data(), sets.k, count, squares, screened_.lengths(),
                       part.bounds.data() + t * lanes);
  }

  const Signatures& objects_;
  const MedoidSets& medoids_;
  const ScreenedSets& screened_;
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

ScreenedSets::ScreenedSets(MedoidSets sets, int largest) : sets_(std::move(sets)), factor_(std::ldexp(1.0, -largest)) {
  const auto [values, n, d] = sets_.points;
  centre_.assign(d, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) centre_[j] += sets_.points.row(i)[j] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    double squares = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const auto value = static_cast<float>((sets_.points.row(i)[j] - centre_[j]) * factor_);
      points_.push_back(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    squared_.push_back(static_cast<float>(squares));
    longest_ = std::max(longest_, squared_.back());
  }
  // With u = 2^-24 and lengths a and b of an object and a point: rounding the differences moves their squared distance by
  // less than 4.1 u (a^2 + b^2); their lengths by less than 4.1 u (a^2 + b^2); d fused additions of products lose
  // d u (a^2 + b^2); putting the three together, and this bound itself, less than 12 u (a^2 + b^2).  The least is what vanishes below normal numbers.
  error_ = static_cast<float>(0x1p-24 * (1.1 * static_cast<double>(d) + 24));
  longest_ = longest_ * 1.001F + 0x1p-60F;
}

namespace {

// What bounds of single precision in all lanes are worth in units of whole parts: rounded down, less what adding them up
// may have gained.
std::int64_t units_of(const double* bounds, double scale, double most) {
  constexpr double rounding = 1 - 0x1p-21;
  double sum = 0;
  for (std::size_t l = 0; l < lanes; ++l) sum += bounds[l];
  sum = std::floor(sum * rounding * scale);
  return sum > 0 && sum <= most ? static_cast<std::int64_t>(sum) : 0;
}

}  // namespace

Assignment assign(const Workers& workers, const Signatures& objects, const MedoidSets& medoids, FixedUnit unit,
                  const ScreenedSets& screened) {
  const std::size_t trials = medoids.sets.size();
  const std::size_t tiles = (objects.n + lanes - 1) / lanes;
  const std::size_t pieces = std::min(tiles, workers.concurrency());
  Assignment result;
  result.labels.resize(trials * objects.n);
  result.cost.resize(trials);
  result.sizes.resize(trials * medoids.k);
  result.at_least.resize(screened.trials());
  const Assigner assigner(objects, medoids, screened, unit, result);
  std::vector<Part> parts(pieces, Part(objects, medoids, screened));
  workers.run("effort::cluster::assign", pieces, [&](std::size_t piece) {
    const std::size_t begin = tiles * piece / pieces, end = tiles * (piece + 1) / pieces;
    for (std::size_t i = begin; i < end; ++i) {
      assigner.tile(i * lanes, parts[piece]);
      if ((i - begin) % tiles_per_flush == tiles_per_flush - 1) parts[piece].flush();
    }
    parts[piece].flush();
  });
  const double most = std::ldexp(static_cast<double>(objects.n), unit.bits);  // beyond the unit's limit: it will be seen
  const double scale = std::ldexp(1 / screened.factor(), unit.bits - unit.limit_exponent);
  for (const Part& part : parts) {
    add(part, result);
    for (std::size_t t = 0; t < screened.trials(); ++t)
      result.at_least[t] += units_of(part.bounds.data() + t * lanes, scale, most);
  }
  return result;
}

}  // namespace effort::cluster
