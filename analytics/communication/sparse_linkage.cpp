#include "analytics/communication/sparse_linkage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace effort::communication {

namespace {

/// Two groups, each given by one of its objects, and their distance.
struct Join {
  std::uint32_t a, b;
  double distance;
};

class MergedGroups {
 public:
  explicit MergedGroups(std::size_t n) : parent_(n), label_(n), size_(n, 1) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    std::iota(label_.begin(), label_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t object) {
    while (parent_[object] != object) object = parent_[object] = parent_[parent_[object]];
    return object;
  }
  /// Merges two different groups.
  Merge merge(std::uint32_t a, std::uint32_t b, double distance, std::uint32_t label) {
    a = find(a);
    b = find(b);
    if (size_[a] < size_[b]) std::swap(a, b);
    const Merge out{std::min(label_[a], label_[b]), std::max(label_[a], label_[b]), distance, size_[a] + size_[b]};
    parent_[b] = a;
    size_[a] = out.members;
    label_[a] = label;
    return out;
  }

 private:
  std::vector<std::uint32_t> parent_, label_, size_;
};

/// Turns joins into merges, ordered by distance.  Groups that remain apart are joined at the distance `absent`.
std::vector<Merge> merges_of(std::size_t n, std::vector<Join> joins, double absent) {
  std::stable_sort(joins.begin(), joins.end(), [](const Join& a, const Join& b) { return a.distance < b.distance; });
  MergedGroups groups(n);
  std::vector<Merge> out;
  const auto label = [&] { return static_cast<std::uint32_t>(n + out.size()); };
  for (const Join& join : joins)
    if (groups.find(join.a) != groups.find(join.b)) out.push_back(groups.merge(join.a, join.b, join.distance, label()));
  for (std::uint32_t object = 1; object < n; ++object)
    if (groups.find(0) != groups.find(object)) out.push_back(groups.merge(0, object, absent, label()));
  return out;
}

/// The given distances between two groups.
struct Linked {
  double sum = 0, pairs = 0;
};

/// Average linkage.
class Chain {
 public:
  Chain(std::size_t n, std::span<const Distance> distances, double absent)
      : absent_(absent), links_(n), size_(n, 1), alive_(n, true) {
    for (const Distance& d : distances) links_[d.a][d.b] = links_[d.b][d.a] = {d.distance, 1};
  }

  std::vector<Join> run() {
    for (std::uint32_t start = 0; start < alive_.size(); ++start) {
      if (!alive_[start]) continue;
      chain_ = {start};
      while (!chain_.empty()) grow();
    }
    return std::move(joins_);
  }

 private:
  double distance(const Linked& link, std::uint32_t a, std::uint32_t b) const {
    const double pairs = static_cast<double>(size_[a]) * static_cast<double>(size_[b]);
    return (link.sum + (pairs - link.pairs) * absent_) / pairs;
  }

  void grow() {
    const std::uint32_t top = chain_.back();
    const std::uint32_t before = chain_.size() > 1 ? chain_[chain_.size() - 2] : top;
    std::uint32_t best = top;
    double nearest = absent_;
    if (before != top) best = before, nearest = distance(links_[top].at(before), top, before);
    for (const auto& [other, link] : links_[top]) {
      const double d = distance(link, top, other);
      if (d >= absent_) continue;
      // Ties go to the previous group, so that the chain ends, then to the smallest, so that the result is unique.
      const bool tie = d == nearest && (before == top || best != before);
      if (d < nearest || (tie && other < best)) best = other, nearest = d;
    }
    if (best == top) {  // no group is nearer than `absent`
      chain_.pop_back();
    } else if (best == before) {
      chain_.resize(chain_.size() - 2);
      join(top, before, nearest);
    } else {
      chain_.push_back(best);
    }
  }

  void join(std::uint32_t a, std::uint32_t b, double distance) {
    joins_.push_back({a, b, distance});
    // Merge the shorter list into the longer one.
    if (links_[a].size() < links_[b].size()) std::swap(a, b);
    links_[a].erase(b);
    links_[b].erase(a);
    for (const auto& [other, link] : links_[b]) {
      links_[other].erase(b);
      Linked& here = links_[a][other];
      here = {here.sum + link.sum, here.pairs + link.pairs};
      links_[other][a] = here;
    }
    links_[b] = {};
    size_[a] += size_[b];
    alive_[b] = false;
    if (chain_.empty()) chain_.push_back(a);
  }

  double absent_;
  std::vector<std::unordered_map<std::uint32_t, Linked>> links_;  ///< of groups, by the other one
  std::vector<std::uint32_t> size_;
  std::vector<bool> alive_;
  std::vector<std::uint32_t> chain_;
  std::vector<Join> joins_;
};

void check(std::size_t n, std::span<const Distance> distances, double absent) {
  for (const Distance& d : distances) {
    if (d.a >= n || d.b >= n || d.a == d.b)
      throw std::invalid_argument("objects " + std::to_string(d.a) + " and " + std::to_string(d.b) + " of " +
                                  std::to_string(n) + " are not a pair: give two different ones");
    if (!(d.distance >= 0 && d.distance <= absent && std::isfinite(absent)))
      throw std::invalid_argument("a distance must be from 0 to that of absent pairs, which must be finite");
  }
}

}  // namespace

std::vector<Merge> sparse_linkage(std::size_t n, std::span<const Distance> distances, double absent, Linkage linkage) {
  check(n, distances, absent);
  std::vector<Join> joins;
  if (linkage == Linkage::single) {
    for (const Distance& d : distances) joins.push_back({d.a, d.b, d.distance});
  } else {
    joins = Chain(n, distances, absent).run();
  }
  return merges_of(n, std::move(joins), absent);
}

}  // namespace effort::communication
