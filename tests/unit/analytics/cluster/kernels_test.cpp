// The kernels give the results of plain loops, with the same bits in every space and with every instruction set.
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/range.hpp"

#include "sets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace effort::cluster;
using namespace effort::cluster::test;
using effort::simd::InstructionSet;

namespace {

// Runs kernels in all instruction sets of this processor, and with threads.
std::vector<std::unique_ptr<Kernels>> variants() {
  std::vector<std::unique_ptr<Kernels>> all;
  for (const auto set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512})
    if (set <= effort::simd::best()) all.push_back(std::make_unique<KernelsOn<Kokkos::Serial>>(Kokkos::Serial{}, set));
#ifdef KOKKOS_ENABLE_OPENMP
  all.push_back(std::make_unique<KernelsOn<Kokkos::OpenMP>>(Kokkos::OpenMP{}));
#endif
  return all;
}

// Checks that all variants give the same result.
template <typename Result>
void same_in_all(const Result& result) {
  const auto all = variants();
  const auto expected = result(*all.front());
  for (const auto& kernels : all) REQUIRE(result(*kernels) == expected);
}

double distance(const double* a, const double* b, std::size_t d) {
  double sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum = std::fma(a[j] - b[j], a[j] - b[j], sum);
  return std::sqrt(sum);
}

// Values that are the same in both precisions.
std::vector<double> single_values(std::vector<double> values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

// A table, and the distances of its rows to some medoids.
struct Stand {
  DistanceTable table;
  std::vector<std::int32_t> medoids;
  Standing standing;
  std::vector<char> taken;

  Stand(std::size_t n, std::vector<std::int32_t> chosen, int seed)
      : table(KernelsOn<Kokkos::Serial>(Kokkos::Serial{}).all_distances(RowsOf<double>{values(n, seed).data(), n, 4})),
        medoids(std::move(chosen)),
        standing{std::vector<std::int32_t>(n),
                 {},
                 std::vector<double>(n),
                 std::vector<double>(n),
                 std::vector<double>(medoids.size(), 0.0)},
        taken(n, 0) {
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<std::int32_t> by(medoids.size());
      std::iota(by.begin(), by.end(), 0);
      const auto to = [&](std::int32_t slot) { return table.row(j)[medoids[static_cast<std::size_t>(slot)]]; };
      std::stable_sort(by.begin(), by.end(), [&](std::int32_t a, std::int32_t b) { return to(a) < to(b); });
      standing.nearest[j] = by[0];
      standing.first[j] = to(by[0]);
      standing.second[j] = to(by[1]);
      standing.loss[static_cast<std::size_t>(by[0])] += standing.second[j] - standing.first[j];
    }
    for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(medoids.size()); ++slot)
      for (std::size_t j = 0; j < n; ++j)
        if (standing.nearest[j] == slot) standing.order.push_back(static_cast<std::int32_t>(j));
    for (const std::int32_t medoid : medoids) taken[static_cast<std::size_t>(medoid)] = 1;
  }

  double cost(const std::vector<std::int32_t>& of) const {
    double total = 0;
    for (std::size_t j = 0; j < table.rows(); ++j) {
      double least = std::numeric_limits<double>::max();
      for (const std::int32_t medoid : of) least = std::min(least, table.row(j)[medoid]);
      total += least;
    }
    return total;
  }
  // The change of the cost by the swap.
  double change(std::size_t candidate, std::size_t slot) const {
    auto swapped = medoids;
    swapped[slot] = static_cast<std::int32_t>(candidate);
    return cost(swapped) - cost(medoids);
  }

 private:
  static std::vector<double> values(std::size_t n, int seed) { return groups_of(n, 4, 3, 3, seed); }
};

template <typename T>
std::vector<double> entries(const Table<T>& table) {
  std::vector<double> all;
  for (std::size_t j = 0; j < table.rows(); ++j) all.insert(all.end(), table.row(j), table.row(j) + table.columns());
  return all;
}

}  // namespace

TEST_CASE("distances add squares in the order of the columns") {
  const std::size_t d = GENERATE(1, 7, 8, 33, 120), n = GENERATE(1, 5, 16, 37), columns = GENERATE(1, 17, 150);
  const auto rows = groups_of(n, d, 3, 2, 4), candidates = groups_of(columns, d, 2, 1, 3);
  for (const auto& kernels : variants()) {
    const auto table = kernels->distances(RowsOf<double>{rows.data(), n, d}, {candidates.data(), columns, d});
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < columns; ++i)
        REQUIRE(table.row(j)[i] == distance(&rows[j * d], &candidates[i * d], d));
  }
}

TEST_CASE("distances of all pairs are symmetric") {
  const std::size_t n = GENERATE(1, 16, 65, 150), d = 9;
  const auto objects = groups_of(n, d, 3, 2, 5);
  for (const auto& kernels : variants()) {
    const auto table = kernels->all_distances(RowsOf<double>{objects.data(), n, d});
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) REQUIRE(table.row(j)[i] == distance(&objects[j * d], &objects[i * d], d));
  }
}

TEST_CASE("distances in single precision are near those in double precision") {
  const std::size_t n = 37, d = 21;
  const auto values = single_values(groups_of(n, d, 3, 2, 7));
  const std::vector<float> single(values.begin(), values.end());
  same_in_all([&](const Kernels& kernels) {
    const auto table = kernels.distances(RowsOf<float>{single.data(), n, d}, {single.data(), n, d});
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i)
        REQUIRE(std::abs(static_cast<double>(table.row(j)[i]) - distance(&values[j * d], &values[i * d], d)) < 1e-5);
    return entries(table);
  });
}

TEST_CASE("the largest magnitude and non-finite values are found") {
  constexpr std::uint64_t infinite = 0x7ff0000000000000;
  for (std::size_t n = 1; n < 40; ++n)
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<double> values(n, 1.0);
      values[at] = -2.5;
      REQUIRE(std::bit_cast<double>(largest_bits(values)) == 2.5);
      values[at] = -std::numeric_limits<double>::infinity();
      REQUIRE(largest_bits(values) >= infinite);
      values[at] = std::numeric_limits<double>::quiet_NaN();
      REQUIRE(largest_bits(values) >= infinite);
    }
}

TEST_CASE("objects go to the first of several nearest medoids, and sums of distances are exact") {
  const std::size_t n = GENERATE(0, 1, 15, 16, 333), d = 3;
  const auto objects = groups_of(n, d, 3, 2, 5);
  auto points = groups_of(7, d, 3, 2, 6);
  std::copy_n(points.begin(), d, points.begin() + 2 * static_cast<std::ptrdiff_t>(d));  // two equal medoids
  const MedoidSets sets{{points, 7, d}, 3, {{2, 0, 5}, {6, 4, 1}}};
  FixedUnit unit;
  unit.limit_exponent = 5;
  unit.bits = FixedUnit::bits_for(static_cast<std::int64_t>(n));
  for (const auto& kernels : variants()) {
    const Assignment found = kernels->assign({objects, n, d}, sets, unit);
    double largest = 0;
    for (std::size_t t = 0; t < 2; ++t) {
      long double cost = 0;
      std::vector<std::int64_t> sizes(3, 0);
      for (std::size_t i = 0; i < n; ++i) {
        double least = std::numeric_limits<double>::max();
        std::size_t slot = 0;
        for (std::size_t s = 0; s < 3; ++s) {
          const double to = distance(&objects[i * d], &points[static_cast<std::size_t>(sets.sets[t][s]) * d], d);
          slot = to < least ? s : slot;
          least = std::min(to, least);
        }
        REQUIRE(found.labels[t * n + i] == slot);
        ++sizes[slot];
        cost += static_cast<long double>(least);
        largest = std::max(largest, least);
      }
      REQUIRE(std::equal(sizes.begin(), sizes.end(), found.sizes.begin() + static_cast<std::ptrdiff_t>(t * 3)));
      REQUIRE(std::abs(static_cast<long double>(unit.value(found.cost[t])) - cost) <= 1e-15L * cost);
    }
    REQUIRE(found.largest_distance == largest);
    REQUIRE(found.largest_bits == largest_bits(objects));
  }
  same_in_all([&](const Kernels& kernels) {
    const Assignment found = kernels.assign({objects, n, d}, sets, unit);
    return std::vector{found.cost[0].high, found.cost[0].low, found.cost[1].high, found.cost[1].low};
  });
}

TEST_CASE("a non-finite value is found while objects are assigned") {
  std::vector<double> objects(40 * 3, 1.0);
  const std::size_t at = GENERATE(0, 50, 119);
  objects[at] = std::numeric_limits<double>::infinity();
  const std::vector<double> point(3, 0.0);
  for (const auto& kernels : variants())
    REQUIRE(kernels->assign({objects, 40, 3}, {{point, 1, 3}, 1, {{0}}}, {4, 40}).largest_bits == 0x7ff0000000000000);
}

TEST_CASE("the two nearest medoids are found: ties go to the first, and a single medoid has the bound as its second") {
  const std::size_t rows = GENERATE(1, 7, 16, 37, 700), k = GENERATE(1, 2, 5);
  Uniform uniform(8);
  std::vector<double> columns;
  for (std::size_t i = 0; i < k * rows; ++i) columns.push_back(std::floor(4 * uniform()));
  const double bound = k == 1 ? 9 : std::numeric_limits<double>::max();
  for (const auto& kernels : variants()) {
    Standing standing{std::vector<std::int32_t>(rows), {}, std::vector<double>(rows), std::vector<double>(rows), {}};
    kernels->two_nearest(columns, bound, standing);
    for (std::size_t j = 0; j < rows; ++j) {
      std::vector<double> row;
      for (std::size_t slot = 0; slot < k; ++slot) row.push_back(columns[slot * rows + j]);
      REQUIRE(standing.nearest[j] == std::min_element(row.begin(), row.end()) - row.begin());
      row.push_back(bound);
      std::sort(row.begin(), row.end());
      REQUIRE(standing.first[j] == row[0]);
      REQUIRE(standing.second[j] == row[1]);
    }
  }
}

TEST_CASE("the gain of a swap is the difference of two costs") {
  const std::size_t n = GENERATE(37, 600);  // fewer objects than one team handles, and more
  const Stand stand(n, {4, 9, 30}, 6);
  for (const auto& kernels : variants()) {
    const auto on_table = kernels->on(stand.table);
    std::vector<double> least(n);
    on_table->least_changes(stand.standing, least);
    for (std::size_t h = 0; h < n; h += 7)
      REQUIRE(std::abs(least[h] - std::min({stand.change(h, 0), stand.change(h, 1), stand.change(h, 2)})) < 1e-10);
    const std::size_t first = 3, last = n - 2;
    const Change best = on_table->best_swap(stand.standing, stand.taken, first, last);
    std::size_t expected = n;
    for (std::size_t h = first; h < last; ++h)
      if (!stand.taken[h] && least[h] < 0 && (expected == n || least[h] < least[expected])) expected = h;
    REQUIRE(best.candidate == (expected == n ? -1 : static_cast<std::int32_t>(expected)));
    if (expected < n) {
      REQUIRE(best.amount == least[expected]);
      REQUIRE(std::abs(stand.change(expected, static_cast<std::size_t>(best.slot)) - best.amount) < 1e-10);
    }
  }
  same_in_all([&](const Kernels& kernels) {
    std::vector<double> least(n);
    kernels.on(stand.table)->least_changes(stand.standing, least);
    return least;
  });
}

TEST_CASE("sums and gains over all rows") {
  const std::size_t n = GENERATE(1, 3, 45, 300);
  const Stand stand(std::max<std::size_t>(n, 5), {0, 1}, 9);
  const std::size_t rows = stand.table.rows();
  for (const auto& kernels : variants()) {
    std::vector<double> sums(rows), gains(rows);
    const auto on_table = kernels->on(stand.table);
    on_table->sums(sums);
    on_table->gains(stand.standing.first, gains);
    for (std::size_t h = 0; h < rows; ++h) {
      double sum = 0, gain = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        sum += stand.table.row(j)[h];
        gain += std::max(0.0, stand.standing.first[j] - stand.table.row(j)[h]);
      }
      REQUIRE(sums[h] == sum);
      REQUIRE(gains[h] == gain);
    }
  }
}

TEST_CASE("sums in single precision are near those in double precision") {
  const std::size_t n = 45;
  const Stand stand(n, {3, 17, 40}, 9);
  Table<float> single(n, n);
  for (std::size_t j = 0; j < n; ++j)
    std::transform(stand.table.row(j), stand.table.row(j) + n, single.row(j), [](double x) { return float(x); });
  same_in_all([&](const Kernels& kernels) {
    const auto exact = kernels.on(stand.table);
    const auto rough = kernels.on(single);
    std::vector<double> all, a(n), b(n);
    const auto compare = [&] {
      for (std::size_t h = 0; h < n; ++h) REQUIRE(std::abs(a[h] - b[h]) < 1e-4);
      all.insert(all.end(), b.begin(), b.end());
    };
    exact->sums(a), rough->sums(b), compare();
    exact->gains(stand.standing.first, a), rough->gains(stand.standing.first, b), compare();
    exact->least_changes(stand.standing, a), rough->least_changes(stand.standing, b), compare();
    return all;
  });
}

TEST_CASE("sums and bounds of the distances of each stratum") {
  const std::size_t n = GENERATE(5, 61, 300), k = 3;
  const Stand stand(n, {0, 1, 2}, 4);
  for (const auto& kernels : variants()) {
    std::vector<double> sums(k * n, -1), least(k * n, -1), most(k * n, -1);
    auto labels = stand.standing.nearest;
    for (auto& label : labels) label = label == 2 ? 0 : label;  // a stratum without members
    kernels->on(stand.table)->strata(labels, sums, least, most);
    for (std::size_t s = 0; s < k; ++s)
      for (std::size_t h = 0; h < n; ++h) {
        double sum = 0, low = std::numeric_limits<double>::max(), high = 0;
        for (std::size_t j = 0; j < n; ++j) {
          if (labels[j] != static_cast<std::int32_t>(s)) continue;
          sum += stand.table.row(j)[h];
          low = std::min(low, stand.table.row(j)[h]);
          high = std::max(high, stand.table.row(j)[h]);
        }
        REQUIRE(sums[s * n + h] == sum);
        REQUIRE(least[s * n + h] == low);
        REQUIRE(most[s * n + h] == high);
      }
  }
}
