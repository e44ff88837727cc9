#include "analytics/window/costs.hpp"

#include "analytics/window/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

namespace effort::window {
namespace {

constexpr std::size_t windows_fitted = 6;  // windows whose observations enter a fit
constexpr double clear = 3;                // standard errors by which a window's level must differ from the fit's
constexpr double change_gain = 0.3;        // share of a new window in the mean square error of published costs
constexpr double most_above = 1e3;         // bound of the modelled cost of work, in largest loads
constexpr int most_unlike = 4;             // if more than 1 / most_unlike of the ranks differ, the model is wrong

// The result of the fit as one array, to be broadcast.
class FittedCosts {
 public:
  FittedCosts(std::size_t units, std::size_t nodes)
      : units_(units), nodes_(nodes), values_(3 * units + nodes + 3, -1.0) {}
  std::span<double> all() { return values_; }
  std::span<double> cost() { return part(0, units_); }
  std::span<double> error() { return part(units_, units_); }
  std::span<double> predicting() { return part(2 * units_, units_); }
  std::span<double> speed() { return part(3 * units_, nodes_); }
  double& noise() { return values_[values_.size() - 3]; }
  double& collinear() { return values_[values_.size() - 2]; }
  double& slow() { return values_[values_.size() - 1]; }

 private:
  std::span<double> part(std::size_t first, std::size_t n) { return std::span<double>(values_).subspan(first, n); }
  std::size_t units_, nodes_;
  std::vector<double> values_;
};

std::vector<double> vector_of(std::span<const double> values) { return {values.begin(), values.end()}; }

void fit_into(const balance::WorkScale& scale, const Gathered<std::int64_t>& all, const Layout& layout,
              FittedCosts& fitted) {
  std::vector<std::vector<std::int64_t>> nodes;
  std::vector<double> ranks;
  for (std::size_t node = 0; node + 1 < all.offsets.size(); ++node) {
    const auto sums = all.of(static_cast<int>(node));
    nodes.emplace_back(sums.begin(), sums.end());
    ranks.push_back(static_cast<double>(layout.all.of(static_cast<int>(node)).size()));
  }
  try {
    const balance::CostModel model = balance::fit_costs(scale, nodes, ranks);
    std::copy(model.unit_cost.begin(), model.unit_cost.end(), fitted.cost().begin());
    std::copy(model.unit_cost_error.begin(), model.unit_cost_error.end(), fitted.error().begin());
    std::copy(model.predicting_cost.begin(), model.predicting_cost.end(), fitted.predicting().begin());
    std::copy(model.node_speed.begin(), model.node_speed.end(), fitted.speed().begin());
    fitted.noise() = model.relative_noise;
    fitted.collinear() = model.collinear ? 1 : 0;
    fitted.slow() = model.slow_node ? 1 : 0;
  } catch (const std::exception&) {
    std::fill(fitted.all().begin(), fitted.all().end(),
              -1.0);  // the sums are out of range: costs stay unknown, the analysis continues
  }
}

}  // namespace

void UnitCosts::restart() {
  logs_.clear();
  unlike_.clear();
}

std::size_t UnitCosts::bytes() const {
  std::size_t bytes = unlike_.size();
  for (const balance::WorkLog& log : logs_) bytes += log.bytes();
  return bytes;
}

void UnitCosts::fit(Communicator& nodes, const Layout& layout, Pass& pass) {
  const Input& in = pass.input;
  Result& result = pass.result;
  const auto units = static_cast<std::size_t>(in.n_units);
  slow_node_ = collinear_ = false;
  if (in.n_units == 0) return;
  const balance::WorkLog recent = log_work(pass);
  std::vector<double> largest = recent.largest();
  nodes.allreduce(std::span<double>(largest), ReduceOp::max);
  FittedCosts fitted(units, static_cast<std::size_t>(nodes.size()));
  if (balance::WorkScale::fits(largest)) {
    const balance::WorkScale scale(in.n_units, largest, layout.n_ranks);
    const std::vector<std::int64_t> sums = recent.sums(scale, unlike_);
    const Gathered<std::int64_t> all = nodes.gatherv(std::span<const std::int64_t>(sums), 0);
    if (nodes.rank() == 0) fit_into(scale, all, layout, fitted);
    nodes.bcast(fitted.all(), 0);
  }
  result.unit_cost = vector_of(fitted.cost());
  result.unit_cost_error = vector_of(fitted.error());
  pass.predicting = vector_of(fitted.predicting());
  collinear_ = fitted.collinear() > 0;
  slow_node_ = fitted.slow() > 0;
  rate_ranks(nodes, layout, recent, pass.predicting, fitted.speed(), fitted.noise(), result);
  follow(nodes, pass, fitted.noise());
}

// Costs are fitted over several windows and lag behind when they change, so the newest window sets their level.  Their
// errors include how far published costs were off in the window that followed.
void UnitCosts::follow(Communicator& nodes, Pass& pass, double noise) {
  const Input& in = pass.input;
  const auto complete = [&](const std::vector<double>& cost) {
    return cost.size() == static_cast<std::size_t>(in.n_units) &&
           std::all_of(cost.begin(), cost.end(), [](double c) { return c >= 0; });
  };
  if (!complete(pass.predicting)) return;
  if (!complete(stated_)) stated_.assign(pass.predicting.size(), 0.0);
  const auto steps = static_cast<std::size_t>(pass.steps), n = in.ranks.size();
  ExactSum sums(most_above * pass.agreed.largest_load * in.n_ranks * pass.steps);
  const std::size_t load = sums.reserve(3), modelled = load + 1, stated = load + 2;
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t s = 0; s < steps; ++s) {
      const double speed = pass.result.speed[static_cast<std::size_t>(in.ranks[i])];
      double now = 0, before = 0;
      for (std::size_t u = 0; u < pass.predicting.size(); ++u) {
        const double amount = in.work[(u * n + i) * steps + s];
        now += speed * pass.predicting[u] * amount;
        before += speed * stated_[u] * amount;
      }
      const double seconds = in.rank_load[i * steps + s];
      if (!(now > 0 && seconds > 0 && std::isfinite(now) && std::isfinite(before))) continue;
      sums.add_to(load, seconds);
      sums.add_to(modelled, now);
      sums.add_to(stated, before);
      ++seen;
    }
  sums.reduce(nodes);
  nodes.allreduce(std::span<std::int64_t>(&seen, 1), ReduceOp::sum);
  if (seen == 0 || !(sums[modelled] > 0)) return;
  if (sums[stated] > 0) {
    const double off = sums[load] / sums[stated] - 1;
    change_ = change_ < 0 ? off * off : change_ + change_gain * (off * off - change_);
  }
  const double level = sums[load] / sums[modelled];
  const bool moved = std::fabs(level - 1) > clear * std::max(noise, 0.0) / std::sqrt(static_cast<double>(seen));
  const double change = std::sqrt(std::max(change_, 0.0));
  const auto scale = [&](double& cost) {
    if (moved && cost >= 0) cost *= level;
  };
  for (double& cost : pass.predicting) scale(cost);
  for (std::size_t u = 0; u < pass.result.unit_cost.size(); ++u) {
    double &cost = pass.result.unit_cost[u], &error = pass.result.unit_cost_error[u];
    scale(cost);
    if (cost >= 0 && error >= 0) error = std::hypot(error, cost * change);
  }
  stated_ = pass.predicting;
}

// The cost of a unit of work does not depend on the rank that does it, so windows before a rebalance count as well.
balance::WorkLog UnitCosts::log_work(const Pass& pass) {
  const Input& in = pass.input;
  const auto n = static_cast<int>(in.ranks.size());
  if (!logs_.empty() && logs_.front().units() != in.n_units) logs_.clear();
  balance::WorkLog log(in.n_units, n);
  const double floor = std::max(1e-3 * std::accumulate(pass.step_total.begin(), pass.step_total.end(), 0.0) /
                                    (static_cast<double>(in.n_ranks) * pass.steps),
                                1e-300);
  log.add(in.work, in.rank_load, pass.steps, floor);
  logs_.push_front(std::move(log));
  if (logs_.size() > windows_fitted) logs_.pop_back();
  balance::WorkLog recent(in.n_units, n);
  for (const balance::WorkLog& each : logs_) recent.add(each);
  return recent;
}

// A rank has its node's speed unless its own observations differ clearly.  It then gets a speed of its own, and is left
// out of the fit from the next window on.
void UnitCosts::rate_ranks(Communicator& nodes, const Layout& layout, const balance::WorkLog& recent,
                           std::span<const double> cost, std::span<const double> node_speed, double noise,
                           Result& result) {
  const bool rated = noise >= 0 && node_speed[static_cast<std::size_t>(nodes.rank())] > 0;
  const double usual = rated ? node_speed[static_cast<std::size_t>(nodes.rank())] : 1.0;
  std::vector<double> speed(layout.ranks.size(), usual);
  unlike_.assign(layout.ranks.size(), 0);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < speed.size() && rated; ++i) {
    const balance::RankSpeed own = balance::rank_speed(recent.rank(static_cast<int>(i)), cost, noise);
    if (!balance::unlike_node(own, usual)) continue;
    speed[i] = own.speed;
    unlike_[i] = 1;
    ++count;
  }
  nodes.allreduce(std::span<std::int64_t>(&count, 1), ReduceOp::sum);
  if (count * most_unlike > layout.n_ranks) {
    std::fill(speed.begin(), speed.end(), usual);
    std::fill(unlike_.begin(), unlike_.end(), char{0});
  }
  result.speed = layout.gather(nodes, speed);
}

}  // namespace effort::window
