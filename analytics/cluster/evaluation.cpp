#include "analytics/cluster/evaluation.hpp"

#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace effort::cluster {
namespace {

// The distinct medoids of the trials first .. last - 1, and which of them each trial has.
class DistinctMedoids {
 public:
  DistinctMedoids(const Proposal& proposal, std::size_t first, std::size_t last, std::size_t d) {
    const auto k = static_cast<std::size_t>(proposal.k);
    std::vector<std::int32_t> distinct(proposal.medoids.begin() + static_cast<std::ptrdiff_t>(first * k),
                                       proposal.medoids.begin() + static_cast<std::ptrdiff_t>(last * k));
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    rows_.resize(distinct.size() * d);
    sets_.k = k;
    sets_.sets.resize(last - first);
    for (std::size_t i = first * k; i < last * k; ++i) {
      const auto place = static_cast<std::size_t>(
          std::lower_bound(distinct.begin(), distinct.end(), proposal.medoids[i]) - distinct.begin());
      for (std::size_t j = 0; j < d; ++j)
        rows_[place * d + j] = std::ldexp(proposal.rows[i * d + j], proposal.range_exponent);
      sets_.sets[i / k - first].push_back(static_cast<std::int32_t>(place));
    }
    sets_.points = {rows_, distinct.size(), d};
  }
  DistinctMedoids(const DistinctMedoids&) = delete;
  DistinctMedoids& operator=(const DistinctMedoids&) = delete;

  const MedoidSets& sets() const { return sets_; }

 private:
  std::vector<double> rows_;
  MedoidSets sets_;
};

// Medoids belong to their own stratum, also where another medoid has the same values.
void own_strata(const Proposal& proposal, std::size_t trials, std::span<const std::int32_t> ids, Assignment& assignment) {
  const auto k = static_cast<std::size_t>(proposal.k);
  for (std::size_t i = 0; i < trials * k; ++i) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), proposal.medoids[i]);
    if (at == ids.end() || *at != proposal.medoids[i]) continue;
    const std::size_t trial = i / k;
    std::uint16_t& label = assignment.labels[trial * ids.size() + static_cast<std::size_t>(at - ids.begin())];
    --assignment.sizes[trial * k + label];
    label = static_cast<std::uint16_t>(i % k);
    ++assignment.sizes[i];
  }
}

// What one node's assignment asks of the others.
enum Trouble : std::size_t { bad_values = 0, out_of_range = 1, beyond_limit = 2, troubles = 3 };

constexpr std::uint64_t infinite_bits = 0x7ff0000000000000;

}  // namespace

Evaluated Evaluated::better_of(Evaluated other) && {
  const auto medoids = [](const Evaluated& e) {
    return std::span(e.proposal.medoids).subspan(e.best * static_cast<std::size_t>(e.proposal.k), static_cast<std::size_t>(e.proposal.k));
  };
  const auto key = [](const Evaluated& e) { return std::pair(e.sum.high, e.sum.low); };
  const auto mine = medoids(*this), its = medoids(other);
  const bool smaller = std::lexicographical_compare(its.begin(), its.end(), mine.begin(), mine.end());
  return key(other) < key(*this) || (key(other) == key(*this) && smaller) ? std::move(other) : std::move(*this);
}

Evaluated Evaluation::evaluate(Proposal proposal, std::size_t favourites) {
  constexpr std::size_t most_columns = std::size_t{1} << 16;  // beyond, single precision says too little
  const std::size_t trials = proposal.trials();
  if (favourites >= trials || local_.d > most_columns) favourites = trials;
  Evaluated found = measure(proposal, favourites);
  std::vector<std::size_t> open;
  for (std::size_t t = favourites; t < trials; ++t)
    if (found.at_least[t - favourites] <= found.sum.high + 1) open.push_back(t);
  if (open.empty()) return found;
  proposal.range_exponent = found.proposal.range_exponent;
  proposal.limit_exponent = found.proposal.limit_exponent;
  return std::move(found).better_of(measure(proposal.part(open), open.size()));
}

// The first trials' costs exactly, and what the others' are at least.
Evaluated Evaluation::measure(Proposal proposal, std::size_t favourites) {
  Evaluated result;
  result.unit.bits = FixedUnit::bits_for(n_);
  const std::size_t trials = proposal.trials();
  // The samples may not have shown the largest values: then once more, with what all nodes know now.
  for (bool again = true; again;) {
    const DistinctMedoids medoids(proposal, 0, favourites, local_.d), others(proposal, favourites, trials, local_.d);
    const InRange range(local_, proposal.range_exponent);
    result.unit.limit_exponent = proposal.limit_exponent;
    const ScreenedSets screened = favourites == trials
                                      ? ScreenedSets()
                                      : ScreenedSets(others.sets(), proposal.limit_exponent - outlier_exponent);
    Assignment mine = assign(workers_, range.signatures(), medoids.sets(), result.unit, screened);
    own_strata(proposal, favourites, ids_, mine);
    const bool infinite = mine.largest_bits >= infinite_bits;  // bad, or scaled up too much
    const bool bad = infinite && (proposal.range_exponent <= 0 || find_bad_value(local_).row >= 0);
    const bool outside = !bad && (infinite || range_exponent(mine.largest_bits) < 0);
    const bool beyond = !bad && !outside && mine.largest_distance > std::ldexp(1.0, proposal.limit_exponent);
    std::vector<std::int64_t> words = {bad, outside, beyond};
    for (const FixedSum& sum : mine.cost) words.insert(words.end(), {sum.high, sum.low});
    words.insert(words.end(), mine.at_least.begin(), mine.at_least.end());
    words.insert(words.end(), mine.sizes.begin(), mine.sizes.end());
    nodes_.allreduce(std::span<std::int64_t>(words), ReduceOp::sum);
    if (words[bad_values] > 0) throw_bad_value();
    again = words[out_of_range] > 0 || words[beyond_limit] > 0;
    if (!again) {
      auto word = words.begin() + troubles;
      for (FixedSum& sum : mine.cost) {
        sum.high = *word++;
        sum.low = *word++;
      }
      for (std::int64_t& bound : mine.at_least) bound = *word++;
      std::copy(word, words.end(), mine.sizes.begin());
      result.assignment = std::move(mine);
      break;
    }
    std::int64_t largest = static_cast<std::int64_t>(
        local_.n == 0 ? 0 : kernels::table().largest_bits(local_.values.data(), local_.values.size()));
    nodes_.allreduce(std::span<std::int64_t>(&largest, 1), ReduceOp::max);
    const auto bits = static_cast<std::uint64_t>(largest);
    proposal.range_exponent = range_exponent(bits);
    proposal.limit_exponent = limit_of(bits, local_.d) + proposal.range_exponent;
  }
  choose_best(proposal, favourites, result);
  return result;
}

void Evaluation::choose_best(const Proposal& proposal, std::size_t favourites, Evaluated& result) const {
  const auto k = static_cast<std::size_t>(proposal.k);
  const auto key = [&](std::size_t t) {
    const FixedSum sum = result.unit.normalised(result.assignment.cost[t]);
    const auto medoids = std::span(proposal.medoids).subspan(t * k, k);
    return std::tuple(sum.high, sum.low, std::vector<std::int32_t>(medoids.begin(), medoids.end()));
  };
  for (std::size_t t = 1; t < favourites; ++t)
    if (key(t) < key(result.best)) result.best = t;
  result.sum = result.unit.normalised(result.assignment.cost[result.best]);
  result.cost = std::ldexp(result.unit.value(result.sum) / static_cast<double>(n_), -proposal.range_exponent);
  result.at_least = result.assignment.at_least;
  std::vector<std::size_t> first(favourites);
  std::iota(first.begin(), first.end(), std::size_t{0});
  result.proposal = proposal.part(first);
}

void Evaluation::throw_bad_value() {
  const BadValue bad = find_bad_value(local_);
  const auto none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = bad.row < 0 ? none : ids_[static_cast<std::size_t>(bad.row)];
  const std::int64_t mine = first;
  nodes_.allreduce(std::span<std::int64_t>(&first, 1), ReduceOp::min);
  std::int64_t details[2] = {none, none};
  if (first == mine) {
    details[0] = static_cast<std::int64_t>(bad.column);
    details[1] = std::isnan(bad.value) ? 0 : 1;
  }
  nodes_.allreduce(std::span<std::int64_t>(details), ReduceOp::min);
  const double value = details[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  throw std::invalid_argument(bad_value_message(first, static_cast<std::size_t>(details[0]), value));
}

}  // namespace effort::cluster
