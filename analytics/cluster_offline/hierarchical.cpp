#include "analytics/cluster_offline/hierarchical.hpp"

#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

// A square table of distances between groups that shrinks as they merge.
class Groups {
 public:
  Groups(double* distances, std::size_t stride, std::size_t n, Linkage linkage)
      : distances_(distances), stride_(stride), linkage_(linkage), sizes_(n, 1), alive_(n) {
    std::iota(alive_.begin(), alive_.end(), std::size_t{0});
  }

  std::size_t any() const { return alive_.front(); }
  double at(std::size_t a, std::size_t b) const { return distances_[a * stride_ + b]; }

  // The nearest other group; of equals, `preferred` or else the first.
  std::size_t nearest(std::size_t a, std::size_t preferred) const {
    std::size_t best = preferred;
    for (const std::size_t b : alive_)
      if (b != a && (best == a || at(a, b) < at(a, best))) best = b;
    return best;
  }

  // b becomes part of a (Lance & Williams 1967).
  void merge(std::size_t a, std::size_t b) {
    const double apart = at(a, b);
    for (const std::size_t c : alive_)
      if (c != a && c != b) distances_[a * stride_ + c] = distances_[c * stride_ + a] = joined(a, b, c, apart);
    sizes_[a] += sizes_[b];
    alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), b));
  }

 private:
  double joined(std::size_t a, std::size_t b, std::size_t c, double apart) const {
    const double x = at(a, c), y = at(b, c);
    const auto na = static_cast<double>(sizes_[a]), nb = static_cast<double>(sizes_[b]);
    const auto nc = static_cast<double>(sizes_[c]);
    switch (linkage_) {
      case Linkage::single: return std::min(x, y);
      case Linkage::complete: return std::max(x, y);
      case Linkage::average: return (na * x + nb * y) / (na + nb);
      case Linkage::ward: break;
    }
    const double square = ((na + nc) * x * x + (nb + nc) * y * y - nc * apart * apart) / (na + nb + nc);
    return std::sqrt(std::max(0.0, square));
  }

  double* distances_;
  std::size_t stride_;
  Linkage linkage_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::size_t> alive_;  // ascending
};

struct RawMerge {
  std::size_t a, b;  // any member of each group
  double height;
};

// Merges in the order in which the chain finds them; each pair consists of mutual nearest neighbours.
std::vector<RawMerge> chain_merges(Groups& groups, std::size_t n) {
  std::vector<RawMerge> merges;
  std::vector<std::size_t> chain;
  while (merges.size() + 1 < n) {
    if (chain.empty()) chain.push_back(groups.any());
    for (;;) {
      const std::size_t tip = chain.back();
      const std::size_t before = chain.size() > 1 ? chain[chain.size() - 2] : tip;
      const std::size_t next = groups.nearest(tip, before);
      if (next == before && chain.size() > 1) break;
      chain.push_back(next);
    }
    const std::size_t a = std::min(chain.back(), chain[chain.size() - 2]);
    const std::size_t b = std::max(chain.back(), chain[chain.size() - 2]);
    chain.resize(chain.size() - 2);
    merges.push_back({a, b, groups.at(a, b)});
    groups.merge(a, b);
  }
  return merges;
}

// Representatives of groups, with path halving.
class Forest {
 public:
  explicit Forest(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> parent_;
};

Dendrogram sorted_dendrogram(std::vector<RawMerge> raw, std::size_t n) {
  // All four linkages are reducible: merges sorted by height (stably) form the dendrogram.
  std::stable_sort(raw.begin(), raw.end(), [](const RawMerge& x, const RawMerge& y) { return x.height < y.height; });
  Dendrogram dendrogram;
  dendrogram.n = static_cast<std::int32_t>(n);
  Forest forest(n);
  std::vector<std::int32_t> group(n), size(n, 1);
  std::iota(group.begin(), group.end(), 0);
  for (const RawMerge& merge : raw) {
    const std::size_t a = forest.root(merge.a), b = forest.root(merge.b);
    const std::int32_t joined = size[a] + size[b];
    dendrogram.merges.push_back({std::min(group[a], group[b]), std::max(group[a], group[b]), merge.height, joined});
    forest.join(a, b);
    size[a] = joined;
    group[a] = static_cast<std::int32_t>(n + dendrogram.merges.size() - 1);
  }
  return dendrogram;
}

std::vector<std::int32_t> cut_after(const Dendrogram& dendrogram, std::size_t merges) {
  const auto n = static_cast<std::size_t>(dendrogram.n);
  Forest forest(n);
  std::vector<std::size_t> member(n + dendrogram.merges.size());  // one object of each group
  std::iota(member.begin(), member.begin() + dendrogram.n, std::size_t{0});
  for (std::size_t i = 0; i < merges; ++i) {
    const Merge& merge = dendrogram.merges[i];
    const std::size_t a = member[static_cast<std::size_t>(merge.first)];
    forest.join(a, member[static_cast<std::size_t>(merge.second)]);
    member[n + i] = a;
  }
  std::vector<std::int32_t> number(n, -1), labels(n);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t& own = number[forest.root(i)];
    if (own < 0) own = next++;
    labels[i] = own;
  }
  return labels;
}

}  // namespace

template <typename ExecutionSpace>
Dendrogram hierarchical(const ExecutionSpace& space, const Signatures& signatures, Linkage linkage) {
  check_signatures(signatures);
  check_table_size(signatures.n);
  const KernelsOn<ExecutionSpace> kernels(space);
  const InRange range(signatures);
  DistanceTable table = kernels.all_distances(range.signatures());
  Groups groups(table.row(0), table.stride(), signatures.n, linkage);
  auto dendrogram = sorted_dendrogram(chain_merges(groups, signatures.n), signatures.n);
  for (Merge& merge : dendrogram.merges) merge.height = range.unscaled(merge.height);
  return dendrogram;
}

std::vector<std::int32_t> cut_to_number(const Dendrogram& dendrogram, int k) {
  check_k(k, dendrogram.n);
  return cut_after(dendrogram, static_cast<std::size_t>(dendrogram.n - k));
}

void normalise_shapes(std::span<double> values, std::size_t n, std::size_t d) {
  check_signatures({values, n, d});
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = values.subspan(i * d, d);
    double largest = 0;
    for (const double value : row) largest = std::max(largest, std::abs(value));
    const bool constant = std::all_of(row.begin(), row.end(), [&](double value) { return value == row[0]; });
    if (constant) {
      std::fill(row.begin(), row.end(), 0.0);
      continue;
    }
    double mean = 0, squares = 0;
    for (double& value : row) mean += (value /= largest);  // so that squares stay in range
    mean /= static_cast<double>(d);
    for (double& value : row) squares += (value - mean) * (value - mean);
    const double length = std::sqrt(squares);
    for (double& value : row) value = (value - mean) / length;
  }
}

namespace {

// The member with the least sum of distances to the others, the first of equals.
std::int32_t medoid_of(const Kernels& kernels, const Signatures& objects, const std::vector<std::int32_t>& members,
                       double& cost) {
  const auto rows = rows_of(objects, members);
  const DistanceTable distances = kernels.all_distances({rows, members.size(), objects.d});
  std::size_t best = 0;
  double least = -1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double sum = std::accumulate(distances.row(i), distances.row(i) + members.size(), 0.0);
    if (least < 0 || sum < least) {
      least = sum;
      best = i;
    }
  }
  cost += least;
  return members[best];
}

}  // namespace

template <typename ExecutionSpace>
Clustering with_medoids(const ExecutionSpace& space, const Signatures& signatures,
                        std::span<const std::int32_t> labels) {
  check_signatures(signatures);
  if (labels.size() != signatures.n) throw std::invalid_argument("there must be one label for each object");
  const KernelsOn<ExecutionSpace> kernels(space);
  const InRange range(signatures);
  std::vector<std::vector<std::int32_t>> members;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto group = static_cast<std::size_t>(labels[i]);
    if (labels[i] < 0 || group >= signatures.n)
      throw std::invalid_argument("label of object " + std::to_string(i) + " is out of range: labels are 0 to k - 1");
    if (group >= members.size()) members.resize(group + 1);
    members[group].push_back(static_cast<std::int32_t>(i));
  }
  std::vector<std::pair<std::int32_t, std::size_t>> by_medoid;
  double cost = 0;
  for (std::size_t group = 0; group < members.size(); ++group) {
    if (members[group].empty())
      throw std::invalid_argument("group " + std::to_string(group) + " has no members: number groups without gaps");
    check_table_size(members[group].size());
    by_medoid.emplace_back(medoid_of(kernels, range.signatures(), members[group], cost), group);
  }
  std::sort(by_medoid.begin(), by_medoid.end());
  Clustering result;
  result.k = static_cast<int>(members.size());
  result.labels.resize(signatures.n);
  for (std::size_t slot = 0; slot < by_medoid.size(); ++slot) {
    result.medoids.push_back(by_medoid[slot].first);
    for (const std::int32_t i : members[by_medoid[slot].second])
      result.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(slot);
  }
  count_sizes(result);
  result.cost = range.unscaled(cost / static_cast<double>(signatures.n));
  const auto rows = rows_of(signatures, result.medoids);
  result.lone = lone_strata(result.sizes, {rows, result.medoids.size(), signatures.d});
  return result;
}

#define EFFORT_INSTANTIATE(Space)                                             \
  template Dendrogram hierarchical(const Space&, const Signatures&, Linkage); \
  template Clustering with_medoids(const Space&, const Signatures&, std::span<const std::int32_t>);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
