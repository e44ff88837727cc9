#include "analytics/cluster/sample_search.hpp"

#include "analytics/cluster/choose_k_table.hpp"
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace effort::cluster {
namespace {

int exponent_above(double value) { return value > 0 ? std::ilogb(value) + 1 : -1074; }

double largest_entry(const DistanceTable& table) {
  std::uint64_t bits = 0;
  for (std::size_t j = 0; j < table.rows(); ++j) bits = std::max(bits, largest_bits({table.row(j), table.columns()}));
  return std::bit_cast<double>(bits);
}

// The rows and columns of the given objects.
DistanceTable part_of(const DistanceTable& whole, std::span<const std::int32_t> positions) {
  DistanceTable part(positions.size(), positions.size());
  for (std::size_t j = 0; j < positions.size(); ++j) {
    const double* from = whole.row(static_cast<std::size_t>(positions[j]));
    double* to = part.row(j);
    for (std::size_t i = 0; i < positions.size(); ++i) to[i] = from[positions[i]];
  }
  return part;
}

double cost_on(const DistanceTable& table, std::span<const std::int32_t> medoids) {
  double cost = 0;
  for (std::size_t j = 0; j < table.rows(); ++j) {
    const double* row = table.row(j);
    double least = row[medoids[0]];
    for (const std::int32_t medoid : medoids) least = std::min(least, row[medoid]);
    cost += least;
  }
  return cost;
}

// Keeps the `count` sets of medoids that cost least on the objects of the table, the cheapest first.
void keep_best(const DistanceTable& table, std::size_t count, std::vector<std::vector<std::int32_t>>& sets) {
  std::vector<std::pair<double, std::size_t>> costs;
  for (std::size_t i = 0; i < sets.size(); ++i) costs.emplace_back(cost_on(table, sets[i]), i);
  std::sort(costs.begin(), costs.end());
  std::vector<std::vector<std::int32_t>> best;
  for (std::size_t i = 0; i < std::min(count, sets.size()); ++i) best.push_back(std::move(sets[costs[i].second]));
  sets = std::move(best);
}

}  // namespace

Ids positions_in(std::span<const std::int32_t> all, std::span<const std::int32_t> some) {
  Ids positions;
  positions.reserve(some.size());
  for (const std::int32_t id : some)
    positions.push_back(static_cast<std::int32_t>(std::lower_bound(all.begin(), all.end(), id) - all.begin()));
  return positions;
}

SearchedSamples search_samples(const Kernels& kernels, const SampleTable& table, const std::vector<Ids>& trials,
                               const ClaraParameters& parameters) {
  SearchedSamples searched;
  Proposal& proposal = searched.proposal;
  proposal.status = table.status;
  proposal.where = table.where;
  if (proposal.status != Proposal::good) return searched;
  const Signatures objects = table.signatures();
  if (const auto bad = find_bad_value(objects); bad.row >= 0) {
    proposal.status = Proposal::bad_value;
    proposal.where = table.ids[static_cast<std::size_t>(bad.row)];
    proposal.column = static_cast<std::int64_t>(bad.column);
    proposal.value = bad.value;
    return searched;
  }
  proposal.range_exponent = range_exponent(largest_bits(table.values));
  const InRange range(objects, proposal.range_exponent);
  const bool pooled = trials.size() > 1;
  std::optional<DistanceTable>& all = searched.all;
  all = kernels.all_distances(range.signatures());
  proposal.k = parameters.k;
  if (parameters.k == 0) {
    ChooseKParameters choice;
    choice.k_max = parameters.k_max;
    choice.previous_k = parameters.previous_k;
    const ChosenK chosen = choose_k(kernels, *all, range.signatures(), choice);
    proposal.k = chosen.k;
    proposal.silhouette = chosen.silhouette;
  }
  proposal.limit_exponent = std::max(proposal.limit_exponent, exponent_above(largest_entry(*all)) + outlier_exponent);
  const auto add = [&](const DistanceTable& distances, const Ids& positions) {
    Ids medoids = build_medoids(kernels, distances, proposal.k);
    swap_medoids(kernels, distances, medoids, SwapRule::eager, std::numeric_limits<int>::max());
    std::sort(medoids.begin(), medoids.end());
    for (std::int32_t& medoid : medoids) medoid = positions[static_cast<std::size_t>(medoid)];
    searched.sets.push_back(std::move(medoids));
  };
  for (const Ids& trial : trials) {
    const Ids positions = positions_in(table.ids, trial);
    if (positions.size() == table.ids.size())
      add(*all, positions);
    else
      add(part_of(*all, positions), positions);
  }
  if (pooled) {
    Ids everything(table.ids.size());
    std::iota(everything.begin(), everything.end(), 0);
    add(*all, everything);
  }
  return searched;
}

Proposal propose(const SampleTable& table, SearchedSamples searched, std::size_t most) {
  Proposal proposal = std::move(searched.proposal);
  if (proposal.status != Proposal::good) return proposal;
  keep_best(*searched.all, most, searched.sets);
  for (const Ids& medoids : searched.sets)
    for (const std::int32_t medoid : medoids) proposal.medoids.push_back(table.ids[static_cast<std::size_t>(medoid)]);
  proposal.rows = rows_of(table.signatures(), positions_in(table.ids, proposal.medoids));
  return proposal;
}

}  // namespace effort::cluster
