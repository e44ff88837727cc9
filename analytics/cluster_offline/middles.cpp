#include "analytics/cluster_offline/middles.hpp"

#include "analytics/cluster_offline/sort_first.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::cluster {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t compared = 96;  // members whose distances estimate how central another one is

// Four independent sums hide the latency of an addition.
template <typename T>
T squared_distance(const T* a, const T* b, std::size_t d) {
  T sums[4] = {};
  std::size_t j = 0;
  for (; j + 4 <= d; j += 4)
    for (std::size_t l = 0; l < 4; ++l) sums[l] += (a[j + l] - b[j + l]) * (a[j + l] - b[j + l]);
  for (; j < d; ++j) sums[0] += (a[j] - b[j]) * (a[j] - b[j]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename T>
std::vector<T> weighted_mean(const RowsOf<T>& rows, const std::vector<T>& weights) {
  std::vector<T> mean(rows.d, T(0));
  T sum = 0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    for (std::size_t j = 0; j < rows.d; ++j) mean[j] += weights[i] * rows.row(i)[j];
    sum += weights[i];
  }
  for (T& value : mean) value /= sum;
  return mean;
}

// A point whose mean distance to the rows is nearly the least: a few steps of Weiszfeld's method (1937), from their
// mean.
template <typename T>
std::vector<T> geometric_median(const RowsOf<T>& rows) {
  constexpr int steps = 4;
  std::vector<T> weights(rows.n, T(1));
  std::vector<T> centre = weighted_mean(rows, weights);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < rows.n; ++i) {
      const T squares = squared_distance(rows.row(i), centre.data(), rows.d);
      if (squares == 0) return centre;
      weights[i] = 1 / std::sqrt(squares);
    }
    centre = weighted_mean(rows, weights);
  }
  return centre;
}

// The members nearest to a point, in the order of `members`; the first of equals.
template <typename T>
Ids nearest_members(const RowsOf<T>& objects, const Ids& members, const std::vector<T>& point, std::size_t count) {
  std::vector<T> squares;
  squares.reserve(members.size());
  for (const std::int32_t id : members)
    squares.push_back(squared_distance(objects.row(static_cast<std::size_t>(id)), point.data(), objects.d));
  std::vector<T> sorted = squares;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const T most = *last;
  auto equals = count - static_cast<std::size_t>(std::count_if(sorted.begin(), last, [&](T x) { return x < most; }));
  Ids nearest;
  nearest.reserve(count);
  for (std::size_t i = 0; i < members.size(); ++i)
    if (squares[i] < most || (squares[i] == most && equals > 0 && equals-- > 0)) nearest.push_back(members[i]);
  return nearest;
}

// Mean distances of some members to those drawn.
template <typename T>
std::vector<double> mean_distances(const Kernels& kernels, const RowsOf<T>& objects, const Ids& some, const Ids& drawn,
                                   const RowsOf<T>& drawn_rows) {
  const std::vector<T> rows = rows_of(objects, some);
  const Table<T> table = kernels.distances(drawn_rows, RowsOf<T>{rows.data(), some.size(), objects.d});
  std::vector<double> means(some.size(), 0.0);
  kernels.on(table)->sums(means);
  const auto count = static_cast<double>(drawn.size());
  for (std::size_t i = 0; i < some.size(); ++i)  // a member's distance to itself does not count
    means[i] /= std::find(drawn.begin(), drawn.end(), some[i]) == drawn.end() ? count : std::max(1.0, count - 1);
  return means;
}

}  // namespace

template <typename T>
Ids middle_members(const Kernels& kernels, const RowsOf<T>& objects, Ids members, std::size_t count, std::uint64_t seed,
                   std::uint64_t stream) {
  if (members.size() <= count) return members;
  Ids drawn =
      sampling::draw_without_replacement(static_cast<std::int64_t>(members.size()),
                                         static_cast<std::int64_t>(std::min(members.size(), compared)), seed, stream);
  for (std::int32_t& i : drawn) i = members[static_cast<std::size_t>(i)];
  const std::vector<T> rows = rows_of(objects, drawn);
  const RowsOf<T> drawn_rows{rows.data(), drawn.size(), objects.d};
  // The mean distance to all members is convex and least at the geometric median, so only members near it qualify.
  const std::size_t near = std::max(count, members.size() / 8);
  const Ids central = nearest_members(objects, members, geometric_median(drawn_rows), near);
  const std::vector<double> means = mean_distances(kernels, objects, central, drawn, drawn_rows);
  Ids order(central.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t best = (count + 1) / 2, spread = count - best, better = std::max(count, near / 2);
  sort_first(order, better, [&](std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return means[i] < means[j] || (means[i] == means[j] && central[i] < central[j]);
  });
  Ids middle;
  const auto take = [&](std::size_t at) { middle.push_back(central[static_cast<std::size_t>(order[at])]); };
  for (std::size_t i = 0; i < best; ++i) take(i);
  for (std::size_t i = 0; i < spread; ++i) take(best + (better - best) * (i + 1) / spread - 1);
  return middle;
}

template Ids middle_members(const Kernels&, const RowsOf<float>&, Ids, std::size_t, std::uint64_t, std::uint64_t);
template Ids middle_members(const Kernels&, const RowsOf<double>&, Ids, std::size_t, std::uint64_t, std::uint64_t);

}  // namespace effort::cluster
