#include "measures.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace effort::cluster {
namespace {

// Uses long double, whose range contains the squares of all doubles, and shares no code with the verified functions.
long double distance(const double* a, const double* b, std::size_t d) {
  long double squares = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const long double difference = static_cast<long double>(a[j]) - static_cast<long double>(b[j]);
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

std::string wrong_shape(const Signatures& signatures, const Clustering& c) {
  const auto k = static_cast<std::size_t>(c.k);
  if (c.k < 1 || k > signatures.n) return "k is " + std::to_string(c.k) + ", n is " + std::to_string(signatures.n);
  if (c.medoids.size() != k) return "there are " + std::to_string(c.medoids.size()) + " medoids";
  if (c.sizes.size() != k) return "there are " + std::to_string(c.sizes.size()) + " sizes";
  if (c.labels.size() != signatures.n) return "there are " + std::to_string(c.labels.size()) + " labels";
  for (std::size_t slot = 0; slot < k; ++slot) {
    const std::int32_t medoid = c.medoids[slot];
    if (medoid < 0 || static_cast<std::size_t>(medoid) >= signatures.n)
      return "medoid " + std::to_string(medoid) + " is not an object";
    if (slot > 0 && medoid <= c.medoids[slot - 1]) return "medoids are not distinct and ascending";
  }
  for (const std::int32_t label : c.labels)
    if (label < 0 || label >= c.k) return "label " + std::to_string(label) + " is not a stratum";
  return {};
}

std::string wrong_sizes(const Clustering& c) {
  std::vector<std::int64_t> sizes(c.sizes.size(), 0);
  for (const std::int32_t label : c.labels) ++sizes[static_cast<std::size_t>(label)];
  for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
    if (sizes[slot] != c.sizes[slot]) return "size of stratum " + std::to_string(slot) + " is not that of the labels";
    if (c.labels[static_cast<std::size_t>(c.medoids[slot])] != static_cast<std::int32_t>(slot))
      return "medoid " + std::to_string(c.medoids[slot]) + " is not in its own stratum";
  }
  for (const std::int32_t lone : c.lone)
    if (lone < 0 || lone >= c.k || c.sizes[static_cast<std::size_t>(lone)] != 1)
      return "stratum " + std::to_string(lone) + " does not have one member";
  return {};
}

}  // namespace

std::string verify(const Signatures& signatures, const Clustering& clustering) {
  if (auto wrong = wrong_shape(signatures, clustering); !wrong.empty()) return wrong;
  if (auto wrong = wrong_sizes(clustering); !wrong.empty()) return wrong;
  constexpr long double distance_tolerance = 1e-12L, cost_tolerance = 1e-9L;
  long double sum = 0;
  for (std::size_t i = 0; i < signatures.n; ++i) {
    const auto to = [&](std::size_t slot) {
      return distance(signatures.row(i), signatures.row(static_cast<std::size_t>(clustering.medoids[slot])),
                      signatures.d);
    };
    const long double own = to(static_cast<std::size_t>(clustering.labels[i]));
    for (std::size_t slot = 0; slot < clustering.medoids.size(); ++slot)
      if (to(slot) < own * (1 - distance_tolerance))
        return "object " + std::to_string(i) + " is nearer to another medoid";
    sum += own;
  }
  const long double cost = sum / static_cast<long double>(signatures.n);
  if (!(std::abs(cost - static_cast<long double>(clustering.cost)) <= cost_tolerance * cost))
    return "cost is " + std::to_string(clustering.cost) + ", but the mean distance is " +
           std::to_string(static_cast<double>(cost));
  return {};
}

}  // namespace effort::cluster
