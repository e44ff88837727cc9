#include "analytics/balance/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effort::balance {
namespace {

constexpr int most_rounds = 60;
constexpr double settled = 1e-9;
constexpr double equal_speed = 0.02;
constexpr double deviations = 4.0;
constexpr double slow = 0.1;

// What the costs explain of a node's log: c'xy and c'xx c.
struct Explained {
  double xy = 0, xx = 0;
};

Explained explain(const NormalEquations& e, const std::vector<double>& cost) {
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

NormalEquations combine(std::span<const WorkLog> nodes, const std::vector<double>& speed, int units) {
  NormalEquations all(units);
  for (std::size_t k = 0; k < nodes.size(); ++k) all.add(nodes[k].whole(), speed[k]);
  return all;
}

// Costs with those that can't be told apart shared out somehow: for predicting, any split that fits will do.
std::vector<double> predicting(const NormalEquations& all, const NonNegativeFit& fit) {
  if (!fit.collinear) {
    std::vector<double> cost = fit.x;
    for (double& c : cost) c = std::max(c, 0.0);
    return cost;
  }
  NormalEquations ridge = all;
  for (int i = 0; i < all.n; ++i) ridge.xx[static_cast<std::size_t>(i) * all.n + i] *= 1 + 1e-4;
  std::vector<double> cost = nnls(ridge, 1e-12).x;
  for (double& c : cost) c = std::max(c, 0.0);
  return cost;
}

// One speed per node for given costs, the typical node's being 1.
std::vector<double> speeds(std::span<const WorkLog> nodes, std::span<const double> weights, const std::vector<double>& cost) {
  std::vector<double> speed(nodes.size(), 1.0), known, known_weight;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const Explained e = explain(nodes[k].whole(), cost);
    if (!(e.xx > 0) || !(e.xy > 0)) continue;
    speed[k] = e.xy / e.xx;
    known.push_back(speed[k]);
    known_weight.push_back(weights[k]);
  }
  const double typical = lower_median(known, known_weight);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    if (explain(nodes[k].whole(), cost).xx > 0 && typical > 0) speed[k] /= typical;
  return speed;
}

// Speeds that are 1 to within their error become 1.
void snap(std::span<const WorkLog> nodes, const std::vector<double>& cost, double variance, std::vector<double>& speed) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const double xx = explain(nodes[k].whole(), cost).xx;
    const double error = xx > 0 ? std::sqrt(variance / xx) : 0.0;
    if (std::fabs(speed[k] - 1) < std::max(equal_speed, deviations * error)) speed[k] = 1;
  }
}

}  // namespace

WorkLog::WorkLog(int units, int regions)
    : whole_(units), regions_(regions), region_xy_(static_cast<std::size_t>(units) * regions, 0.0) {}

void WorkLog::add(std::span<const double> work, std::span<const double> load, std::span<const double> region_load,
                  int ranks, int steps, double floor) {
  const int units = whole_.n;
  const std::size_t plane = static_cast<std::size_t>(ranks) * steps;
  std::vector<double> x(static_cast<std::size_t>(units));
  for (int r = 0; r < ranks; ++r) {
    const std::size_t first = static_cast<std::size_t>(r) * steps;
    const double mean = std::accumulate(load.begin() + static_cast<std::ptrdiff_t>(first),
                                        load.begin() + static_cast<std::ptrdiff_t>(first + steps), 0.0) / steps;
    const double weight = 1 / (std::max(mean, floor) * std::max(mean, floor));
    for (int s = 0; s < steps; ++s) {
      bool any = false;
      for (int u = 0; u < units; ++u) {
        x[u] = work[u * plane + first + s];
        any = any || x[u] > 0;
      }
      if (!any) continue;
      whole_.add(x, load[first + s], weight);
      for (int g = 0; g < regions_; ++g) {
        const double y = weight * region_load[g * plane + first + s];
        for (int u = 0; u < units; ++u) region_xy_[static_cast<std::size_t>(g) * units + u] += x[u] * y;
      }
    }
  }
}

void WorkLog::add(const WorkLog& other) {
  whole_.add(other.whole_);
  for (std::size_t i = 0; i < region_xy_.size(); ++i) region_xy_[i] += other.region_xy_[i];
}

std::vector<double> WorkLog::pack() const {
  std::vector<double> out = whole_.xx;
  out.insert(out.end(), whole_.xy.begin(), whole_.xy.end());
  out.insert(out.end(), region_xy_.begin(), region_xy_.end());
  out.push_back(whole_.yy);
  out.push_back(whole_.m);
  return out;
}

WorkLog WorkLog::unpack(std::span<const double> packed, int units, int regions) {
  WorkLog log(units, regions);
  const double* next = packed.data();
  for (double& v : log.whole_.xx) v = *next++;
  for (double& v : log.whole_.xy) v = *next++;
  for (double& v : log.region_xy_) v = *next++;
  log.whole_.yy = *next++;
  log.whole_.m = *next++;
  return log;
}

CostModel fit_costs(std::span<const WorkLog> nodes, std::span<const double> weights, int regions) {
  CostModel model;
  const int units = nodes.empty() ? 0 : nodes.front().units();
  model.node_speed.assign(nodes.size(), 1.0);
  NormalEquations all = combine(nodes, model.node_speed, units);
  NonNegativeFit fit = nnls(all);
  std::vector<double> cost = predicting(all, fit);
  for (int round = 0; round < most_rounds && all.m > 0; ++round) {
    const std::vector<double> speed = speeds(nodes, weights, cost);
    double moved = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) moved = std::max(moved, std::fabs(speed[k] - model.node_speed[k]));
    model.node_speed = speed;
    all = combine(nodes, speed, units);
    fit = nnls(all);
    cost = predicting(all, fit);
    if (moved < settled) break;
  }
  snap(nodes, cost, fit.variance, model.node_speed);
  all = combine(nodes, model.node_speed, units);
  fit = nnls(all);
  model.unit_cost = fit.x;
  model.unit_cost_error = fit.error;
  model.collinear = fit.collinear;
  model.relative_noise = std::sqrt(fit.variance);
  for (double s : model.node_speed) model.slow_node = model.slow_node || std::fabs(s - 1) > slow;
  for (int g = 0; g < regions; ++g) {
    NormalEquations part = all;
    std::fill(part.xy.begin(), part.xy.end(), 0.0);
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for (int u = 0; u < units; ++u) part.xy[u] += model.node_speed[k] * nodes[k].region(g)[u];
    const std::vector<double> x = nnls(part).x;
    model.region_unit_cost.insert(model.region_unit_cost.end(), x.begin(), x.end());
  }
  return model;
}

}  // namespace effort::balance
