#include "measures.hpp"

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

void check_labels(std::span<const std::int32_t> labels, std::size_t n, int k) {
  if (k < 1) throw std::invalid_argument("k is " + std::to_string(k) + ": there must be at least one stratum");
  if (labels.size() != n)
    throw std::invalid_argument("there are " + std::to_string(labels.size()) + " labels for " + std::to_string(n) +
                                " objects: pass one for each");
  for (std::size_t i = 0; i < n; ++i)
    if (labels[i] < 0 || labels[i] >= k)
      throw std::invalid_argument("label of object " + std::to_string(i) + " is " + std::to_string(labels[i]) +
                                  ": labels are 0 to " + std::to_string(k - 1));
}

// Silhouettes from each object's sums of distances to every stratum.
class Silhouettes {
 public:
  Silhouettes(std::span<const std::int32_t> labels, int k) : labels_(labels), sizes_(static_cast<std::size_t>(k), 0) {
    for (const std::int32_t label : labels) ++sizes_[static_cast<std::size_t>(label)];
    for (const std::int64_t size : sizes_) occupied_ += size > 0;
  }

  bool defined() const { return occupied_ >= 2; }

  void add(std::size_t object, const double* sums) {
    const auto own = static_cast<std::size_t>(labels_[object]);
    if (sizes_[own] < 2) return;
    const double within = sums[own] / static_cast<double>(sizes_[own] - 1);
    double between = std::numeric_limits<double>::max();
    for (std::size_t s = 0; s < sizes_.size(); ++s)
      if (s != own && sizes_[s] > 0) between = std::min(between, sums[s] / static_cast<double>(sizes_[s]));
    const double larger = std::max(within, between);
    if (larger > 0) total_ += (between - within) / larger;
  }

  double average() const { return total_ / static_cast<double>(labels_.size()); }

 private:
  std::span<const std::int32_t> labels_;
  std::vector<std::int64_t> sizes_;
  int occupied_ = 0;
  double total_ = 0;
};

}  // namespace

double mean_distance(const Signatures& signatures, std::span<const std::int32_t> medoids,
                     std::span<const std::int32_t> labels) {
  check_signatures(signatures);
  check_labels(labels, signatures.n, static_cast<int>(medoids.size()));
  for (const std::int32_t medoid : medoids)
    if (medoid < 0 || static_cast<std::size_t>(medoid) >= signatures.n)
      throw std::invalid_argument("medoid " + std::to_string(medoid) + "  is not an object: ids are 0 to n - 1");
  const InRange range(signatures);
  double sum = 0;
  for (std::size_t i = 0; i < signatures.n; ++i) {
    const double* a = range.signatures().row(i);
    const double* b = range.signatures().row(static_cast<std::size_t>(medoids[static_cast<std::size_t>(labels[i])]));
    double squares = 0;
    for (std::size_t j = 0; j < signatures.d; ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
    sum += std::sqrt(squares);
  }
  return range.unscaled(sum / static_cast<double>(signatures.n));
}

double average_silhouette(const Signatures& signatures, std::span<const std::int32_t> labels, int k) {
  check_signatures(signatures);
  check_labels(labels, signatures.n, k);
  Silhouettes silhouettes(labels, k);
  if (!silhouettes.defined()) return 0;
  constexpr std::size_t at_once = 64;
  const InRange range(signatures);
  const Signatures& objects = range.signatures();
  const KernelsOn<Kokkos::Serial> kernels(Kokkos::Serial{});
  std::vector<double> sums(static_cast<std::size_t>(k));
  for (std::size_t first = 0; first < objects.n; first += at_once) {
    const std::size_t count = std::min(at_once, objects.n - first);
    const auto table =
        kernels.distances(RowsOf<double>{objects.row(first), count, objects.d}, {objects.row(0), objects.n, objects.d});
    for (std::size_t j = 0; j < count; ++j) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t i = 0; i < objects.n; ++i) sums[static_cast<std::size_t>(labels[i])] += table.row(j)[i];
      silhouettes.add(first + j, sums.data());
    }
  }
  return silhouettes.average();
}

double average_silhouette(std::span<const double> distances, std::span<const std::int32_t> labels, int k) {
  const std::size_t n = labels.size();
  if (n == 0 || distances.size() != n * n) throw std::invalid_argument("the distances must be an n x n table");
  check_labels(labels, n, k);
  Silhouettes silhouettes(labels, k);
  if (!silhouettes.defined()) return 0;
  std::vector<double> sums(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(labels[j])] += distances[i * n + j];
    silhouettes.add(i, sums.data());
  }
  return silhouettes.average();
}

}  // namespace effort::cluster
