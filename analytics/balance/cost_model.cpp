#include "analytics/balance/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::balance {
namespace {

constexpr int most_rounds = 60;          // of alternating fits; a bound against endless loops
constexpr double settled = 1e-9;         // largest change of a relative speed at which the fit has converged
constexpr double equal_speed = 0.02;     // relative difference below which nodes share a speed
constexpr double node_deviations = 5.0;  // standard errors below which nodes share a speed
constexpr double rank_deviations = 6.0;  // standard errors by which a rank must differ from its node

// The products c'xy and c'xx c, from which the speed of a group of observations follows for given costs c.
struct Explained {
  double xy = 0, xx = 0;
  bool any() const { return xx > 0 && xy > 0; }
  double speed() const { return xy / xx; }
  double error(double variance) const { return std::sqrt(variance / xx); }
  void add(const Explained& other) {
    xy += other.xy;
    xx += other.xx;
  }
};

Explained explain(const NormalEquations& e, std::span<const double> cost) {
  Explained out;
  for (int i = 0; i < e.n; ++i) {
    out.xy += cost[i] * e.xy[i];
    for (int j = 0; j < e.n; ++j) out.xx += cost[i] * cost[j] * e.xx[static_cast<std::size_t>(i) * e.n + j];
  }
  return out;
}

double lower_median(std::span<const double> values, std::span<const double> weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double half = 0.5 * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i : order) {
    sum += weights[i];
    if (sum >= half) return values[i];
  }
  return values.empty() ? 1.0 : values[order.back()];
}

// Costs for predictions.  Collinear units get an arbitrary split that fits (by ridge regression): all such splits
// predict the same.
std::vector<double> predicting(const NormalEquations& all, const NonNegativeFit& fit) {
  std::vector<double> cost = fit.x;
  if (fit.collinear) {
    NormalEquations ridge = all;
    for (int i = 0; i < all.n; ++i) ridge.xx[static_cast<std::size_t>(i) * all.n + i] *= 1 + 1e-4;
    cost = nnls(ridge, 1e-12).x;
  }
  for (double& c : cost) c = std::max(c, 0.0);
  return cost;
}

// Costs and one speed for each group of observations.
struct GroupFit {
  std::vector<double> speed, cost;
  NormalEquations all;
  NonNegativeFit fit;
};

// One speed per group for given costs; the typical group has speed 1.
std::vector<double> speeds(std::span<const NormalEquations> groups, std::span<const double> ranks,
                           std::span<const double> cost) {
  std::vector<double> speed(groups.size(), 1.0), known, weight;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const Explained e = explain(groups[k], cost);
    if (!e.any()) continue;
    speed[k] = e.speed();
    known.push_back(speed[k]);
    weight.push_back(ranks[k]);
  }
  const double typical = lower_median(known, weight);
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (explain(groups[k], cost).any()) speed[k] /= typical;
  return speed;
}

void fit_at(std::span<const NormalEquations> groups, GroupFit& g) {
  g.all = NormalEquations(groups.front().n);
  for (std::size_t k = 0; k < groups.size(); ++k) g.all.add(groups[k], g.speed[k]);
  g.fit = nnls(g.all);
  g.cost = predicting(g.all, g.fit);
}

GroupFit fit_groups(std::span<const NormalEquations> groups, std::span<const double> ranks) {
  GroupFit g;
  g.speed.assign(groups.size(), 1.0);
  fit_at(groups, g);
  for (int round = 0; round < most_rounds && groups.size() > 1 && g.all.m > 0; ++round) {
    const std::vector<double> now = speeds(groups, ranks, g.cost);
    double moved = 0;
    for (std::size_t k = 0; k < groups.size(); ++k) moved = std::max(moved, std::fabs(now[k] - g.speed[k]));
    g.speed = now;
    fit_at(groups, g);
    if (moved < settled) break;
  }
  return g;
}

// [nodes] each node's class, numbered from the fastest; -1: a node without observations.
std::vector<int> classes_of(std::span<const NormalEquations> nodes, const GroupFit& g) {
  std::vector<Explained> said;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    said.push_back(explain(nodes[k], g.cost));
    if (said[k].any()) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return said[a].speed() < said[b].speed(); });
  std::vector<int> of(nodes.size(), -1);
  Explained members;
  int current = -1;
  for (std::size_t k : order) {
    const bool joins = current >= 0 && said[k].speed() - members.speed() <
                                           std::max(equal_speed * members.speed(),
                                                    node_deviations * std::hypot(said[k].error(g.fit.variance),
                                                                                 members.error(g.fit.variance)));
    if (!joins) {
      ++current;
      members = {};
    }
    members.add(said[k]);
    of[k] = current;
  }
  return of;
}

// Standard errors of the costs.  The speeds of all classes but the typical one (1) are estimated jointly with them, so
// they are eliminated from the joint normal equations first.
std::vector<double> cost_errors(std::span<const NormalEquations> classes, const GroupFit& g) {
  const int n = g.all.n;
  NormalEquations left = g.all;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const double squares = explain(classes[k], g.cost).xx;
    if (g.speed[k] == 1.0 || !(squares > 0)) continue;
    std::vector<double> mixed(static_cast<std::size_t>(n), 0.0);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        mixed[i] += g.speed[k] * classes[k].xx[static_cast<std::size_t>(i) * n + j] * g.cost[j];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) left.xx[static_cast<std::size_t>(i) * n + j] -= mixed[i] * mixed[j] / squares;
  }
  return standard_errors(left, g.fit);
}

}  // namespace

CostModel fit_costs(const WorkScale& scale, std::span<const std::vector<std::int64_t>> nodes,
                    std::span<const double> ranks) {
  CostModel model;
  model.node_speed.assign(nodes.size(), 1.0);
  if (nodes.empty()) return model;
  std::vector<NormalEquations> each;
  for (const auto& sums : nodes) each.push_back(scale.whole(sums));
  const std::vector<int> of = classes_of(each, fit_groups(each, ranks));
  const auto n_classes = static_cast<std::size_t>(std::max(*std::max_element(of.begin(), of.end()), 0) + 1);
  std::vector<std::vector<std::int64_t>> sums(n_classes, std::vector<std::int64_t>(scale.width(), 0));
  std::vector<double> weight(n_classes, 0.0);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (of[k] < 0) continue;
    const auto c = static_cast<std::size_t>(of[k]);
    for (std::size_t i = 0; i < sums[c].size(); ++i) sums[c][i] += nodes[k][i];
    weight[c] += ranks[k];
  }
  std::vector<NormalEquations> classes;
  for (const auto& s : sums) classes.push_back(scale.whole(s));
  const GroupFit g = fit_groups(classes, weight);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (of[k] >= 0) model.node_speed[k] = g.speed[static_cast<std::size_t>(of[k])];
    model.slow_node = model.slow_node || std::fabs(model.node_speed[k] - 1) > notable_difference;
  }
  model.unit_cost = g.fit.x;
  model.unit_cost_error = cost_errors(classes, g);
  model.predicting_cost = g.cost;
  model.collinear = g.fit.collinear;
  model.relative_noise = std::sqrt(g.fit.variance);
  return model;
}

RankSpeed rank_speed(const NormalEquations& rank, std::span<const double> cost, double relative_noise) {
  const Explained e = explain(rank, cost);
  if (!e.any()) return {};
  return {e.speed(), e.error(relative_noise * relative_noise)};
}

bool unlike_node(const RankSpeed& rank, double node_speed) {
  return rank.speed > 0 &&
         std::fabs(rank.speed - node_speed) > std::max(notable_difference * node_speed, rank_deviations * rank.error);
}

}  // namespace effort::balance
