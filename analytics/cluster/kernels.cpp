#include "analytics/cluster/kernels.hpp"

#include "analytics/cluster/kernels/assign.hpp"
#include "analytics/cluster/kernels/distances.hpp"
#include "analytics/cluster/kernels/table.hpp"

#include <algorithm>
#include <cmath>

namespace effort::cluster {
namespace {

template <typename Space, typename T>
Table<T> distances_on(const Space& space, simd::InstructionSet set, const RowsOf<T>& rows, const RowsOf<T>& candidates,
                      bool symmetric) {
  using Kernel = DistanceKernel<Space, T>;
  Table<T> table(rows.n, candidates.n);
  const std::size_t teams = simd::teams_for(space, ceil_div(candidates.n, Kernel::group_size));
  const simd::Input<Space, T> from(rows.values, rows.n * rows.d), to(candidates.values, candidates.n * candidates.d);
  const simd::Output<Space, T> out(table.row(0), table.rows() * table.stride());
  const simd::Scratch<Space, T> tiles(teams * Kernel::scratch_size(rows.d));
  simd::for_each_team(space, "effort::pairs", teams, set,
                      Kernel{rows.n, candidates.n, rows.d, table.stride(), teams, symmetric, from.array(), to.array(),
                             out.array(), tiles.array()});
  out.fetch();
  return table;
}

template <typename Space, typename T>
class TableKernelsOn final : public TableKernels<T> {
 public:
  TableKernelsOn(const Space& space, simd::InstructionSet set, const Table<T>& table)
      : space_(space),
        set_(set),
        input_(table.row(0), table.rows() * table.stride()),
        table_{input_.array(), table.rows(), table.columns(), table.stride()} {}

  void sums(std::span<double> sums) const override { add<false>({}, sums); }
  void gains(std::span<const double> nearest, std::span<double> gains) const override { add<true>(nearest, gains); }

  Change best_swap(const Standing& standing, std::span<const char> taken, std::size_t first,
                   std::size_t last) const override {
    std::vector<Change> best(ceil_div(last - first, group_of(last - first)));
    swap(standing, taken, first, last, best, {});
    Change result;
    for (const Change& change : best)
      if (change.amount < result.amount) result = change;
    return result;
  }
  void least_changes(const Standing& standing, std::span<double> least) const override {
    swap(standing, {}, 0, table_.columns, {}, least);
  }

  void strata(std::span<const std::int32_t> labels, std::span<double> sums, std::span<double> least,
              std::span<double> most) const override {
    const simd::Input<Space, std::int32_t> of(labels);
    const simd::Output<Space, double> a(sums), b(least), c(most);
    const std::size_t teams = teams_of(table_.columns);
    simd::for_each_team(space_, "effort::strata", teams, set_,
                        StrataKernel<Space, T>{table_, teams, group_of(table_.columns), sums.size() / table_.columns,
                                               of.array(), a.array(), b.array(), c.array()});
    a.fetch();
    b.fetch();
    c.fetch();
  }

 private:
  std::size_t group_of(std::size_t columns) const { return group_for(columns, simd::teams_for(space_, columns)); }
  std::size_t teams_of(std::size_t columns) const {
    return simd::teams_for(space_, ceil_div(columns, group_of(columns)));
  }

  template <bool Gains>
  void add(std::span<const double> nearest, std::span<double> sums) const {
    const simd::Input<Space, double> from(nearest);
    const simd::Output<Space, double> to(sums);
    const std::size_t teams = teams_of(table_.columns);
    simd::for_each_team(space_, "effort::build", teams, set_,
                        SumKernel<Space, T, Gains>{table_, teams, group_of(table_.columns), from.array(), to.array()});
    to.fetch();
  }

  void swap(const Standing& standing, std::span<const char> taken, std::size_t first, std::size_t last,
            std::span<Change> best, std::span<double> least) const {
    const simd::Input<Space, std::int32_t> order(standing.order), nearest(standing.nearest);
    const simd::Input<Space, double> to_first(standing.first), to_second(standing.second), loss(standing.loss);
    const simd::Input<Space, char> medoids(taken);
    const simd::Output<Space, Change> best_out(best);
    const simd::Output<Space, double> least_out(least);
    const std::size_t teams = teams_of(last - first), group = group_of(last - first), k = standing.loss.size();
    const simd::Scratch<Space, double> scratch(teams * SwapKernel<Space, T>::scratch_size(k, group));
    simd::for_each_team(space_, "effort::swap", teams, set_,
                        SwapKernel<Space, T>{table_, teams, group, k, first, last, order.array(), nearest.array(),
                                             to_first.array(), to_second.array(), loss.array(), medoids.array(),
                                             scratch.array(), best_out.array(), least_out.array()});
    best_out.fetch();
    least_out.fetch();
  }

  Space space_;
  simd::InstructionSet set_;
  simd::Input<Space, T> input_;
  TableOn<Space, T> table_;
};

}  // namespace

template <typename Space>
DistanceTable KernelsOn<Space>::distances(const RowsOf<double>& rows, const RowsOf<double>& candidates) const {
  return distances_on(space_, set_, rows, candidates, false);
}

template <typename Space>
Table<float> KernelsOn<Space>::distances(const RowsOf<float>& rows, const RowsOf<float>& candidates) const {
  return distances_on(space_, set_, rows, candidates, false);
}

template <typename Space>
DistanceTable KernelsOn<Space>::all_distances(const RowsOf<double>& objects) const {
  return distances_on(space_, set_, objects, objects, true);
}

template <typename Space>
Table<float> KernelsOn<Space>::all_distances(const RowsOf<float>& objects) const {
  return distances_on(space_, set_, objects, objects, true);
}

template <typename Space>
Assignment KernelsOn<Space>::assign(const Signatures& objects, const MedoidSets& medoids, FixedUnit unit) const {
  using Kernel = AssignKernel<Space>;
  const std::size_t trials = medoids.sets.size(), k = medoids.k, points = medoids.points.n, d = objects.d;
  const std::size_t teams = simd::teams_for(space_, ceil_div(objects.n, lanes));
  Assignment result;
  result.labels.resize(trials * objects.n);
  result.cost.resize(trials);
  result.sizes.resize(trials * k);
  std::vector<std::int32_t> sets;
  for (const auto& set : medoids.sets) sets.insert(sets.end(), set.begin(), set.end());
  std::vector<std::int64_t> high(teams * trials * lanes), low(high.size()), sizes(high.size() * k);
  std::vector<double> largest(teams * lanes);
  std::vector<std::uint64_t> bits(teams);
  const simd::Input<Space, double> from(objects.values), to(medoids.points.values);
  const simd::Input<Space, std::int32_t> slots(sets);
  const simd::Output<Space, std::uint16_t> labels(result.labels);
  const simd::Output<Space, std::int64_t> high_sums(high), low_sums(low), members(sizes);
  const simd::Output<Space, double> distances(largest);
  const simd::Output<Space, std::uint64_t> magnitudes(bits);
  const simd::Scratch<Space, double> scratch(teams * Kernel::scratch_size(d, points, trials));
  simd::for_each_team(
      space_, "effort::assign", teams, set_,
      Kernel{objects.n, d, k, trials, points, teams, std::ldexp(1.0, unit.bits - unit.limit_exponent),
             std::ldexp(1.0, unit.bits), from.array(), to.array(), slots.array(), labels.array(), high_sums.array(),
             low_sums.array(), members.array(), distances.array(), magnitudes.array(), scratch.array()});
  labels.fetch();
  high_sums.fetch();
  low_sums.fetch();
  members.fetch();
  distances.fetch();
  magnitudes.fetch();
  for (std::size_t i = 0; i < high.size(); ++i) {
    result.cost[i / lanes % trials].high += high[i];
    result.cost[i / lanes % trials].low += low[i];
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) result.sizes[i / lanes % (trials * k)] += sizes[i];
  result.largest_distance = *std::max_element(largest.begin(), largest.end());
  result.largest_bits = *std::max_element(bits.begin(), bits.end());
  return result;
}

template <typename Space>
void KernelsOn<Space>::two_nearest(std::span<const double> columns, double bound, Standing& standing) const {
  const std::size_t rows = standing.nearest.size(), teams = simd::teams_for(space_, ceil_div(rows, least_group));
  const simd::Input<Space, double> from(columns);
  const simd::Output<Space, double> first(standing.first), second(standing.second);
  const simd::Output<Space, std::int32_t> nearest(standing.nearest);
  simd::for_each_team(space_, "effort::nearest", teams, set_,
                      NearestKernel<Space>{rows, columns.size() / rows, teams, bound, from.array(), first.array(),
                                           second.array(), nearest.array()});
  first.fetch();
  second.fetch();
  nearest.fetch();
}

template <typename Space>
std::unique_ptr<TableKernels<double>> KernelsOn<Space>::on(const Table<double>& table) const {
  return std::make_unique<TableKernelsOn<Space, double>>(space_, set_, table);
}

template <typename Space>
std::unique_ptr<TableKernels<float>> KernelsOn<Space>::on(const Table<float>& table) const {
  return std::make_unique<TableKernelsOn<Space, float>>(space_, set_, table);
}

#define EFFORT_INSTANTIATE(Space) template class KernelsOn<Space>;
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
