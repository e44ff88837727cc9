#include "analytics/window/strata.hpp"

#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/sampling/sample_size.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <exception>

namespace effort::window {
namespace {

// One row per rank with one column per region.  Without regions the row is the rank's load.
std::vector<double> signatures_of(const Pass& pass, std::size_t d) {
  const std::size_t n = pass.rank_mean.size();
  if (pass.input.n_regions == 0) return pass.rank_mean;
  std::vector<double> out(n * d);
  constexpr std::size_t block = 64;  // ranks at a time, whose rows stay in cache during the loop over regions
  for (std::size_t first = 0; first < n; first += block)
    for (std::size_t g = 0; g < d; ++g)
      for (std::size_t i = first; i < std::min(n, first + block); ++i) out[i * d + g] = pass.row_mean[g * n + i];
  return out;
}

cluster::ClaraParameters parameters_of(const Settings& settings, std::int64_t objects, int previous_k) {
  cluster::ClaraParameters p;
  p.k = static_cast<int>(std::min<std::int64_t>(settings.strata, objects));
  p.seed = settings.seed;
  p.previous_k = settings.strata == 0 ? previous_k : 0;
  return p;
}

// The low band after `level` halvings along the ranks, scaled back to loads.
std::vector<double> coarsen(std::vector<double> values, std::size_t n, std::size_t d, int level) {
  if (n == 0) return values;
  wavelet::forward(Kokkos::Serial{}, wavelet::MatrixView(values.data(), n, d), {level, 0});
  const double scale = std::pow(2.0, -0.5 * level);
  values.resize(wavelet::low_length(n, level) * d);
  for (double& v : values) v *= scale;
  return values;
}

int local_level(int wanted, std::size_t n) { return std::min(wanted, wavelet::deepest_level(n)); }

cluster::StrataMatch match_strata(Communicator& nodes, const std::vector<std::int32_t>& before, int k_before,
                                  const std::vector<std::int32_t>& now, int k_now) {
  std::vector<std::int64_t> overlap(static_cast<std::size_t>(k_before) * k_now, 0);
  for (std::size_t i = 0; i < now.size(); ++i) ++overlap[static_cast<std::size_t>(before[i]) * k_now + now[i]];
  nodes.allreduce(std::span<std::int64_t>(overlap), ReduceOp::sum);
  return cluster::match_strata(overlap, k_before, k_now);
}

void find_worst_region(Pass& pass, const ExactSum& sum, std::size_t worst_at) {
  Result& result = pass.result;
  double most = 0, all = 0;
  for (int g = 0; g < pass.input.n_regions; ++g) {
    const double excess =
        sum[worst_at + static_cast<std::size_t>(g)] * pass.agreed.largest_load - pass.row_total[g] / pass.input.n_ranks;
    all += std::max(excess, 0.0);
    if (excess > most) {
      most = excess;
      result.worst_region = g;
    }
  }
  result.worst_region_share = all > 0 ? most / all : 0.0;
}

}  // namespace

void StrataFinder::restart() {
  last_labels_.clear();
  last_k_ = 0;
}

void StrataFinder::find(Communicator& nodes, const Layout& layout, Pass& pass) {
  const auto d = static_cast<std::size_t>(std::max(1, pass.input.n_regions));
  const std::vector<double> signatures = signatures_of(pass, d);
  std::vector<std::int32_t> medoids;
  std::vector<std::int32_t> labels = settings_.strata_level > 0
                                         ? coarse_strata(nodes, layout, signatures, d, medoids)
                                         : exact_strata(nodes, layout, signatures, d, settings_.strata, medoids);
  int k = static_cast<int>(medoids.size());
  if (settings_.strata_level > 0 && settings_.strata_check) {
    std::vector<std::int32_t> exact_medoids;
    const std::vector<std::int32_t> exact = exact_strata(nodes, layout, signatures, d, k, exact_medoids);
    pass.result.strata_agreement =
        match_strata(nodes, exact, static_cast<int>(exact_medoids.size()), labels, k).agreement;
  }
  keep_numbers(nodes, labels, medoids);
  pass.result.strata = k;
  pass.result.medoid_rank = medoids;
  pass.result.stratum = layout.gather(nodes, labels);
  summarize(nodes, layout, pass, labels, k);
  last_labels_ = std::move(labels);
  last_k_ = k;
}

std::vector<std::int32_t> StrataFinder::exact_strata(Communicator& nodes, const Layout& layout,
                                                     const std::vector<double>& signatures, std::size_t d, int k,
                                                     std::vector<std::int32_t>& medoids) const {
  const std::vector<std::int32_t> ids(layout.ranks.begin(), layout.ranks.end());
  cluster::ClaraParameters p = parameters_of(settings_, layout.n_ranks, last_k_);
  if (k > 0) p.k = std::min(k, layout.n_ranks);
  const auto found =
      cluster::distributed_clara(Kokkos::Serial{}, nodes, {signatures, ids.size(), d}, ids, layout.n_ranks, p);
  medoids = found.medoids;
  return found.labels;
}

// CLARA on the level-l approximation of each node's ranks.  Every rank gets the stratum of its approximate value.
std::vector<std::int32_t> StrataFinder::coarse_strata(Communicator& nodes, const Layout& layout,
                                                      const std::vector<double>& signatures, std::size_t d,
                                                      std::vector<std::int32_t>& medoids) const {
  const std::size_t n = layout.ranks.size();
  std::int32_t total = 0, mine = 0;
  std::vector<std::int32_t> first;  // coarse id of each node's first object
  for (int node = 0; node < nodes.size(); ++node) {
    if (node == nodes.rank()) mine = total;
    first.push_back(total);
    const std::size_t size = layout.all.of(node).size();
    total += static_cast<std::int32_t>(wavelet::low_length(size, local_level(settings_.strata_level, size)));
  }
  const int level = local_level(settings_.strata_level, n);
  const std::vector<double> coarse = coarsen(signatures, n, d, level);
  std::vector<std::int32_t> ids(n == 0 ? 0 : wavelet::low_length(n, level));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = mine + static_cast<std::int32_t>(i);
  const auto found = cluster::distributed_clara(Kokkos::Serial{}, nodes, {coarse, ids.size(), d}, ids, total,
                                                parameters_of(settings_, total, last_k_));
  medoids.clear();
  for (std::int32_t medoid : found.medoids) {
    const auto node = static_cast<int>(std::upper_bound(first.begin(), first.end(), medoid) - first.begin()) - 1;
    const auto members = layout.all.of(node);
    const std::size_t width = std::size_t{1} << local_level(settings_.strata_level, members.size());
    const auto begin = static_cast<std::size_t>(medoid - first[node]) * width;
    medoids.push_back(members[std::min(begin + width / 2, members.size() - 1)]);
  }
  std::vector<std::int32_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = found.labels[std::min(i >> level, ids.size() - 1)];
  return labels;
}

// A stratum that continues one of the previous window keeps its number.
void StrataFinder::keep_numbers(Communicator& nodes, std::vector<std::int32_t>& labels,
                                std::vector<std::int32_t>& medoids) const {
  const auto k = static_cast<int>(medoids.size());
  if (last_k_ == 0) return;
  const cluster::StrataMatch matched = match_strata(nodes, last_labels_, last_k_, labels, k);
  std::vector<std::int32_t> renamed(medoids.size());
  for (int stratum = 0; stratum < k; ++stratum) renamed[matched.renamed[stratum]] = medoids[stratum];
  medoids = renamed;
  for (std::int32_t& label : labels) label = matched.renamed[label];
}

// Computes each stratum's mean load per region and variance (for sample sizes), and the worst rank's loads per region.
void StrataFinder::summarize(Communicator& nodes, const Layout& layout, Pass& pass,
                             const std::vector<std::int32_t>& labels, int k) const {
  Result& result = pass.result;
  const auto regions = static_cast<std::size_t>(pass.input.n_regions), strata = static_cast<std::size_t>(k);
  const std::size_t n = labels.size();
  const double largest = pass.agreed.largest_load;
  std::vector<std::int64_t> sizes(strata, 0);
  for (std::int32_t label : labels) ++sizes[label];
  nodes.allreduce(std::span<std::int64_t>(sizes), ReduceOp::sum);
  ExactSum sum(layout.n_ranks);
  const std::size_t first_at = sum.reserve(strata * regions), second_at = sum.reserve(strata * regions);
  const std::size_t worst_at = sum.reserve(regions);
  result.worst_rank = static_cast<int>(std::max_element(result.load.begin(), result.load.end()) - result.load.begin());
  const auto here = std::lower_bound(layout.ranks.begin(), layout.ranks.end(), result.worst_rank);
  for (std::size_t g = 0; g < regions; ++g) {
    const double* row = pass.row_mean.data() + g * n;
    if (largest > 0 && here != layout.ranks.end() && *here == result.worst_rank)
      sum.add_to(worst_at + g, row[here - layout.ranks.begin()] / largest);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = static_cast<std::size_t>(labels[i]) * regions + g;
      const double share =
          largest > 0 ? row[i] / largest : 0.0;  // relative, so that squares stay within the bound of the sums
      sum.add_to(first_at + at, share);
      sum.add_to(second_at + at, share * share);
    }
  }
  sum.reduce(nodes);
  result.stratum_region_load.assign(strata * regions, 0.0);
  std::vector<double> variance(strata * regions, 0.0);
  for (std::size_t i = 0; i < strata * regions; ++i) {
    const double size = static_cast<double>(sizes[i / regions]);
    if (size < 1) continue;
    const double mean = sum[first_at + i] / size;
    result.stratum_region_load[i] = mean * largest;
    if (size > 1)
      variance[i] = std::max(0.0, (sum[second_at + i] - size * mean * mean) / (size - 1)) * largest * largest;
  }
  plan_sample(nodes, pass, sizes, variance);
  find_worst_region(pass, sum, worst_at);
}

void StrataFinder::plan_sample(Communicator& nodes, Pass& pass, const std::vector<std::int64_t>& sizes,
                               const std::vector<double>& variance) const {
  std::int64_t planned[2] = {0, 0};
  if (nodes.rank() == 0 && pass.input.n_regions > 0) {
    sampling::PlanParameters parameters;
    parameters.accuracy = {settings_.confidence, settings_.relative_error};
    try {
      const auto plan = sampling::plan_samples(sizes, pass.result.stratum_region_load, variance,
                                               static_cast<std::size_t>(pass.input.n_regions), parameters);
      planned[0] = plan.unified;
      planned[1] = plan.stratified;
    } catch (const std::exception&) {
      planned[0] = planned[1] =
          0;  // a window without load has no sample size; the other nodes still wait for the broadcast
    }
  }
  nodes.bcast(std::span<std::int64_t>(planned), 0);
  pass.result.samples_unified = planned[0];
  pass.result.samples_stratified = planned[1];
}

}  // namespace effort::window
