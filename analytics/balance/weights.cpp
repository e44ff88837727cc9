#include "analytics/balance/weights.hpp"

#include "analytics/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace effort::balance {
namespace {

void check(std::span<const double> values, const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] < 0)
      throw std::invalid_argument(std::string(what) + " " + std::to_string(i) + " is " + number_text(values[i]) +
                                  ": pass finite numbers >= 0");
}

}  // namespace

std::vector<double> item_weights(std::span<const double> amount, std::span<const double> unit_cost) {
  const std::size_t units = unit_cost.size();
  if (units == 0 || amount.size() % units != 0)
    throw std::invalid_argument("amounts (" + std::to_string(amount.size()) + ") are not a multiple of the units (" +
                                std::to_string(units) + "): pass one per item and unit");
  check(amount, "amount");
  for (std::size_t u = 0; u < units; ++u)
    if (!std::isfinite(unit_cost[u]))
      throw std::invalid_argument("the cost of unit " + std::to_string(u) +
                                  " is not finite: pass seconds, or -1 if unknown");
  const bool known = std::any_of(unit_cost.begin(), unit_cost.end(), [](double c) { return c > 0; });
  std::vector<double> weight(amount.size() / units, known ? 0.0 : 1.0);
  for (std::size_t i = 0; known && i < weight.size(); ++i)
    for (std::size_t u = 0; u < units; ++u) weight[i] += std::max(unit_cost[u], 0.0) * amount[i * units + u];
  return weight;
}

std::vector<double> shared_load(std::span<const double> estimate, double load) {
  check(estimate, "estimate");
  check({&load, 1}, "load");
  std::vector<double> part(estimate.size(), 1.0);
  const double largest = estimate.empty() ? 0.0 : *std::max_element(estimate.begin(), estimate.end());
  if (largest > 0)
    std::transform(estimate.begin(), estimate.end(), part.begin(), [&](double e) { return e / largest; });
  const double sum = std::accumulate(part.begin(), part.end(), 0.0);
  for (double& p : part) p *= load / sum;
  return part;
}

std::vector<std::int64_t> integer_costs(std::span<const double> weight, std::int64_t sum, std::int64_t least) {
  check(weight, "weight");
  const auto n = static_cast<std::int64_t>(weight.size());
  if (n == 0) return {};
  constexpr std::int64_t most = std::int64_t{1} << 52;  // above, doubles skip integers
  if (least < 0 || sum < 0 || sum > most || least > sum / n)
    throw std::invalid_argument("the sum " + std::to_string(sum) + " cannot give each of " + std::to_string(n) +
                                " items at least " + std::to_string(least) + ": choose a larger sum, up to 2^52");
  const double largest = *std::max_element(weight.begin(), weight.end());
  std::vector<double> share(weight.size(), 1.0);
  if (largest > 0) std::transform(weight.begin(), weight.end(), share.begin(), [&](double w) { return w / largest; });
  const double total = std::accumulate(share.begin(), share.end(), 0.0);
  const auto spare = sum - least * n;
  std::vector<std::int64_t> cost(weight.size());
  std::vector<double> remainder(weight.size());
  std::int64_t given = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    const double exact = share[i] / total * static_cast<double>(spare);
    cost[i] = static_cast<std::int64_t>(std::floor(exact));
    remainder[i] = exact - std::floor(exact);
    given += cost[i];
  }
  std::vector<std::size_t> order(weight.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  // Rounding may leave more than one unit per item to correct: cycle over the items until the sum is right.
  for (std::size_t i = 0; given < spare; i = (i + 1) % order.size(), ++given) ++cost[order[i]];
  for (std::size_t i = order.size(); given > spare; i = i == 1 ? order.size() : i - 1)
    if (cost[order[i - 1]] > 0) {
      --cost[order[i - 1]];
      --given;
    }
  for (std::int64_t& c : cost) c += least;
  return cost;
}

std::vector<double> rank_factors(std::span<const double> load) {
  check(load, "load");
  std::vector<double> factor(load.begin(), load.end());
  const double mean =
      std::accumulate(load.begin(), load.end(), 0.0) / static_cast<double>(std::max<std::size_t>(load.size(), 1));
  if (!(mean > 0)) return std::vector<double>(load.size(), 1.0);
  for (double& f : factor) f = std::max(f / mean, 0.05);
  const double scale = static_cast<double>(factor.size()) / std::accumulate(factor.begin(), factor.end(), 0.0);
  for (double& f : factor) f *= scale;
  return factor;
}

}  // namespace effort::balance
