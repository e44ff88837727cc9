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

// The distinct medoids of all trials, and each trial's subset of them.
class DistinctMedoids {
 public:
  DistinctMedoids(const Proposal& proposal, std::size_t d) {
    const auto k = static_cast<std::size_t>(proposal.k);
    std::vector<std::int32_t> distinct = proposal.medoids;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    rows_.resize(distinct.size() * d);
    sets_.k = k;
    sets_.sets.resize(proposal.trials());
    for (std::size_t i = 0; i < proposal.medoids.size(); ++i) {
      const auto place = static_cast<std::size_t>(
          std::lower_bound(distinct.begin(), distinct.end(), proposal.medoids[i]) - distinct.begin());
      for (std::size_t j = 0; j < d; ++j)
        rows_[place * d + j] = std::ldexp(proposal.rows[i * d + j], proposal.range_exponent);
      sets_.sets[i / k].push_back(static_cast<std::int32_t>(place));
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

// Puts each medoid into its own stratum, even if another medoid has the same values.
void own_strata(const Proposal& proposal, std::span<const std::int32_t> ids, Assignment& assignment) {
  const auto k = static_cast<std::size_t>(proposal.k);
  for (std::size_t i = 0; i < proposal.medoids.size(); ++i) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), proposal.medoids[i]);
    if (at == ids.end() || *at != proposal.medoids[i]) continue;
    const std::size_t trial = i / k;
    std::uint16_t& label = assignment.labels[trial * ids.size() + static_cast<std::size_t>(at - ids.begin())];
    --assignment.sizes[trial * k + label];
    label = static_cast<std::uint16_t>(i % k);
    ++assignment.sizes[i];
  }
}

// Problems that one node's assignment reports to the others.
enum Trouble : std::size_t { bad_values = 0, out_of_range = 1, beyond_limit = 2, troubles = 3 };

constexpr std::uint64_t infinite_bits = 0x7ff0000000000000;

}  // namespace

Evaluated Evaluation::evaluate(Proposal proposal) {
  Evaluated result;
  result.unit.bits = FixedUnit::bits_for(n_);
  // If values exceed those in the samples, the evaluation is repeated with the limits that all nodes know by then.
  for (bool again = true; again;) {
    const DistinctMedoids medoids(proposal, local_.d);
    const InRange range(local_, proposal.range_exponent);
    result.unit.limit_exponent = proposal.limit_exponent;
    Assignment mine = kernels_.assign(range.signatures(), medoids.sets(), result.unit);
    own_strata(proposal, ids_, mine);
    const bool infinite = mine.largest_bits >= infinite_bits;  // bad, or scaled up too much
    const bool bad = infinite && (proposal.range_exponent <= 0 || find_bad_value(local_).row >= 0);
    const bool outside = !bad && (infinite || range_exponent(mine.largest_bits) < 0);
    const bool beyond = !bad && !outside && mine.largest_distance > std::ldexp(1.0, proposal.limit_exponent);
    std::vector<std::int64_t> words = {bad, outside, beyond};
    for (const FixedSum& sum : mine.cost) words.insert(words.end(), {sum.high, sum.low});
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
      std::copy(word, words.end(), mine.sizes.begin());
      result.assignment = std::move(mine);
      break;
    }
    std::int64_t largest = static_cast<std::int64_t>(local_.n == 0 ? 0 : largest_bits(local_.values));
    nodes_.allreduce(std::span<std::int64_t>(&largest, 1), ReduceOp::max);
    const auto bits = static_cast<std::uint64_t>(largest);
    proposal.range_exponent = range_exponent(bits);
    proposal.limit_exponent = limit_of(bits, local_.d) + proposal.range_exponent;
  }
  choose_best(std::move(proposal), result);
  return result;
}

void Evaluation::choose_best(Proposal proposal, Evaluated& result) const {
  const auto k = static_cast<std::size_t>(proposal.k);
  const auto key = [&](std::size_t t) {
    const FixedSum sum = result.unit.normalised(result.assignment.cost[t]);
    const auto medoids = std::span(proposal.medoids).subspan(t * k, k);
    return std::tuple(sum.high, sum.low, std::vector<std::int32_t>(medoids.begin(), medoids.end()));
  };
  for (std::size_t t = 1; t < proposal.trials(); ++t)
    if (key(t) < key(result.best)) result.best = t;
  result.sum = result.unit.normalised(result.assignment.cost[result.best]);
  result.cost = std::ldexp(result.unit.value(result.sum) / static_cast<double>(n_), -proposal.range_exponent);
  result.proposal = std::move(proposal);
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
