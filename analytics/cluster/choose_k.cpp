#include "analytics/cluster/choose_k.hpp"

#include "analytics/cluster/choose_k_table.hpp"
#include "analytics/cluster/dip.hpp"
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

// Below this average silhouette there is no substantial structure (Kaufman & Rousseeuw 1990, table 4 of chapter 2).
constexpr double least_silhouette = 0.25;

// For one mode, dip x sqrt(n) stays below these in about 99.7 and 97 of 100 uniform samples.  The second applies to the
// previous window's number of strata, so that it is kept unless the evidence is clear.
constexpr double clear_dip = 0.64, kept_dip = 0.54;

// The dip test needs many objects.  With few, the gap must be this many times the width of both strata; the second
// applies to the previous window's number of strata.
constexpr double clear_gap = 2.5, kept_gap = 0.5;

// Thresholds above which two strata count as separated.
struct Evidence {
  double dip, gap;
};

// A clustering of the objects of a table, with its quality measures.
class Split {
 public:
  Split(const DistanceTable& distances, const TableKernels<double>& on_distances, std::span<const std::int32_t> medoids)
      : distances_(distances),
        medoids_(medoids.begin(), medoids.end()),
        k_(medoids.size()),
        labels_(distances.rows()),
        sizes_(k_, 0),
        diameter_(k_, 0),
        gap_(k_ * k_, std::numeric_limits<double>::max()) {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const double* row = distances.row(i);
      std::size_t best = 0;
      for (std::size_t slot = 1; slot < k_; ++slot)
        if (row[medoids_[slot]] < row[medoids_[best]]) best = slot;
      labels_[i] = static_cast<std::int32_t>(best);
      ++sizes_[best];
    }
    scan(on_distances);
  }

  double silhouette() const { return silhouette_; }

  // Whether every stratum is separated from the stratum with the nearest medoid.
  bool separated(const Evidence& least) const {
    for (std::size_t slot = 0; slot < k_; ++slot) {
      if (sizes_[slot] == 0) return false;
      const std::size_t other = neighbour(slot);
      const double gap = gap_[slot * k_ + other];
      if (gap > least.gap * std::max(width(slot), width(other))) continue;
      if (!two_modes(slot, other, least.dip)) return false;
    }
    return true;
  }

 private:
  // Computes silhouettes, diameters and gaps in one pass over the table.  The table is symmetric, so summing the rows
  // of a stratum gives every object's sum of distances to it.
  void scan(const TableKernels<double>& on_distances) {
    const std::size_t n = labels_.size();
    std::vector<double> sums(k_ * n), least(k_ * n), most(k_ * n);
    on_distances.strata(labels_, sums, least, most);
    double total = 0;
    std::vector<double> own_sums(k_);
    for (std::size_t i = 0; i < n; ++i) {
      const auto own = static_cast<std::size_t>(labels_[i]);
      diameter_[own] = std::max(diameter_[own], most[own * n + i]);
      for (std::size_t slot = 0; slot < k_; ++slot) {
        own_sums[slot] = sums[slot * n + i];
        if (slot != own) gap_[own * k_ + slot] = std::min(gap_[own * k_ + slot], least[slot * n + i]);
      }
      total += silhouette_of(own_sums, own);
    }
    silhouette_ = total / static_cast<double>(n);
  }

  // Estimates the width of a stratum from the span of its m members.  On average, m uniform draws span (m - 1) / (m +
  // 1) of the width, so two members that happen to be close do not imply a narrow stratum.  A single member implies
  // nothing, and is given the largest width of all.
  double width(std::size_t slot) const {
    double widest = 0;
    for (std::size_t other = 0; other < k_; ++other) {
      if (sizes_[other] < 2) continue;
      const auto m = static_cast<double>(sizes_[other]);
      const double width = diameter_[other] * (m + 1) / (m - 1);
      if (other == slot) return width;
      widest = std::max(widest, width);
    }
    return widest;
  }

  double silhouette_of(const std::vector<double>& sums, std::size_t own) const {
    if (sizes_[own] < 2) return 0;
    const double within = sums[own] / static_cast<double>(sizes_[own] - 1);
    double between = std::numeric_limits<double>::max();
    for (std::size_t slot = 0; slot < k_; ++slot)
      if (slot != own && sizes_[slot] > 0) between = std::min(between, sums[slot] / static_cast<double>(sizes_[slot]));
    const double larger = std::max(within, between);
    return larger > 0 ? (between - within) / larger : 0;
  }

  std::size_t neighbour(std::size_t slot) const {
    const double* row = distances_.row(static_cast<std::size_t>(medoids_[slot]));
    std::size_t best = slot == 0 ? 1 : 0;
    for (std::size_t other = 0; other < k_; ++other)
      if (other != slot && row[medoids_[other]] < row[medoids_[best]]) best = other;
    return best;
  }

  // Projects the members of both on the line through the medoids, from distances alone (Pythagoras).
  bool two_modes(std::size_t a, std::size_t b, double least_dip) const {
    const double* to_a = distances_.row(static_cast<std::size_t>(medoids_[a]));
    const double* to_b = distances_.row(static_cast<std::size_t>(medoids_[b]));
    std::vector<double> projected;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const auto label = static_cast<std::size_t>(labels_[i]);
      if (label == a || label == b) projected.push_back((to_a[i] - to_b[i]) * (to_a[i] + to_b[i]));
    }
    std::sort(projected.begin(), projected.end());
    return dip_statistic(projected) * std::sqrt(static_cast<double>(projected.size())) > least_dip;
  }

  const DistanceTable& distances_;
  std::vector<std::int32_t> medoids_;
  std::size_t k_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> sizes_;
  std::vector<double> diameter_;
  std::vector<double> gap_;  // [k][k] distance between the nearest members
  double silhouette_ = -1;
};

void check_parameters(const ChooseKParameters& parameters) {
  if (parameters.k_max < 1)
    throw std::invalid_argument("k_max is " + std::to_string(parameters.k_max) + ": it must be at least 1");
  if (!(parameters.clear_gain >= 0))
    throw std::invalid_argument("clear_gain is negative or not a number: it must be 0 or above");
}

}  // namespace

ChosenK choose_k(const Kernels& kernels, const DistanceTable& distances, const Signatures& objects,
                 const ChooseKParameters& parameters) {
  check_parameters(parameters);
  const int most = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(parameters.k_max), objects.n));
  ChosenK result;
  result.silhouettes.assign(static_cast<std::size_t>(parameters.k_max) + 1, -1);
  if (most < 2) return result;
  const auto on_distances = kernels.on(distances);
  const auto built = build_medoids(kernels, distances, most);
  for (int k = 2; k <= most; ++k) {
    std::vector<std::int32_t> medoids(built.begin(), built.begin() + k);
    swap_medoids(kernels, distances, medoids, SwapRule::eager, std::numeric_limits<int>::max());
    const Split split(distances, *on_distances, medoids);
    if (split.silhouette() <= least_silhouette) continue;
    if (split.separated(k == parameters.previous_k ? Evidence{kept_dip, kept_gap} : Evidence{clear_dip, clear_gap}))
      result.silhouettes[static_cast<std::size_t>(k)] = split.silhouette();
  }
  for (int k = 2; k <= most; ++k)
    if (const double value = result.silhouettes[static_cast<std::size_t>(k)]; value > result.silhouette) {
      result.silhouette = value;
      result.k = k;
    }
  const int before = parameters.previous_k;
  if (before < 2 || before > most) return result;
  const double kept = result.silhouettes[static_cast<std::size_t>(before)];
  if (kept >= 0 && result.silhouette - kept < parameters.clear_gain) {
    result.k = before;
    result.silhouette = kept;
  }
  return result;
}

template <typename ExecutionSpace>
ChosenK choose_k(const ExecutionSpace& space, const Signatures& signatures, const ChooseKParameters& parameters) {
  check_signatures(signatures);
  check_table_size(signatures.n);
  const KernelsOn<ExecutionSpace> kernels(space);
  const InRange range(signatures);
  return choose_k(kernels, kernels.all_distances(range.signatures()), range.signatures(), parameters);
}

#define EFFORT_INSTANTIATE(Space) template ChosenK choose_k(const Space&, const Signatures&, const ChooseKParameters&);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
