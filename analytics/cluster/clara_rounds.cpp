#include "analytics/cluster/clara_rounds.hpp"

#include "analytics/cluster/choose_k_table.hpp"
#include "analytics/cluster/finish.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/range.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace effort::cluster {
namespace {

std::int64_t to_word(double value) { return std::bit_cast<std::int64_t>(value); }
double to_double(std::int64_t word) { return std::bit_cast<double>(word); }

// The same on all nodes, so that all throw or none.
void check_parameters(const ClaraParameters& p, std::int64_t n, std::size_t d) {
  if (d == 0) throw std::invalid_argument("objects have no values (d is 0): pass at least one column");
  if (n < 1) throw std::invalid_argument("there are no objects to cluster (n is 0): pass at least one row");
  if (n > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("too many objects (" + std::to_string(n) + "): at most 2147483647 are possible");
  if (p.k != 0) check_k(p.k, n);
  if (p.k > 4096) throw std::invalid_argument("too many strata for CLARA (" + std::to_string(p.k) + "): at most 4096");
  if (p.k == 0 && (p.k_max < 1 || p.k_max > 64))
    throw std::invalid_argument("k_max is " + std::to_string(p.k_max) + ": it must be between 1 and 64");
  if (p.samples < 1)
    throw std::invalid_argument("too few samples (" + std::to_string(p.samples) + "): draw at least 1");
  if (p.finalists < 0) throw std::invalid_argument("finalists is negative: pass a number of trials, or 0 for all");
  const int least = p.k == 0 ? p.k_max : p.k;
  if (p.sample_size < 0 || (p.sample_size > 0 && p.sample_size < least && p.sample_size < n))
    throw std::invalid_argument("samples are too small (" + std::to_string(p.sample_size) + " objects): draw at least " +
                                std::to_string(least) + ", or pass 0");
  if (p.sample_size > 16384 && n > 16384)
    throw std::invalid_argument("samples are too large (" + std::to_string(p.sample_size) + "): at most 16384 objects");
}

// 0^2 + ... + (n - 1)^2 modulo 2^64: (n - 1) n (2n - 1) / 6, divided before it is multiplied.
std::uint64_t sum_of_squares(std::uint64_t n) {
  std::uint64_t factors[3] = {n - 1, n, 2 * n - 1};
  (n % 2 == 0 ? factors[1] : factors[0]) /= 2;
  for (std::uint64_t& factor : factors)
    if (factor % 3 == 0) {
      factor /= 3;
      break;
    }
  return factors[0] * factors[1] * factors[2];
}

int exponent_above(double value) { return value > 0 ? std::ilogb(value) + 1 : -1074; }

// Distances 2^20 times larger than any in the samples still count exactly.
constexpr int outlier_exponent = 20;

double largest_entry(const DistanceTable& table) {
  std::uint64_t bits = 0;
  for (std::size_t j = 0; j < table.rows(); ++j)
    bits = std::max(bits, kernels::table().largest_bits(table.row(j), table.columns()));
  return std::bit_cast<double>(bits);
}

// The part of a table of all pairs that concerns the given objects.
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

// The `count` sets of medoids that are best for the objects of the table, the best first.
void keep_best(const DistanceTable& table, std::size_t count, std::vector<std::vector<std::int32_t>>& sets) {
  std::vector<std::pair<double, std::size_t>> costs;
  for (std::size_t i = 0; i < sets.size(); ++i) costs.emplace_back(cost_on(table, sets[i]), i);
  std::sort(costs.begin(), costs.end());
  std::vector<std::vector<std::int32_t>> best;
  for (std::size_t i = 0; i < std::min(count, sets.size()); ++i) best.push_back(std::move(sets[costs[i].second]));
  sets = std::move(best);
}

std::vector<std::int32_t> positions_in(std::span<const std::int32_t> all, std::span<const std::int32_t> some) {
  std::vector<std::int32_t> positions;
  positions.reserve(some.size());
  for (const std::int32_t id : some)
    positions.push_back(static_cast<std::int32_t>(std::lower_bound(all.begin(), all.end(), id) - all.begin()));
  return positions;
}

}  // namespace

// Rows of `ids`, on the root alone; elsewhere empty.
struct ClaraRounds::Table {
  bool here = false;
  Ids ids;
  std::vector<double> values;
  std::int64_t status = Proposal::good;
  std::int64_t where = 0;
};

// What trials on the objects of a table found.
struct ClaraRounds::Searched {
  Proposal proposal;                 // without medoids
  std::vector<Ids> sets;             // medoids of each trial, positions in the table
  std::optional<DistanceTable> all;  // of all pairs, where it was needed
};

ClaraRounds::ClaraRounds(const Workers& workers, Communicator& nodes, const Signatures& local,
                         std::span<const std::int32_t> ids, std::int64_t n_global, const ClaraParameters& parameters)
    : workers_(workers), nodes_(nodes), local_(local), ids_(ids), n_(n_global), parameters_(parameters) {
  check_parameters(parameters, n_global, local.d);
  parameters_.k_max = static_cast<int>(std::min<std::int64_t>(parameters.k_max, n_global));
  draw();
}

void ClaraRounds::draw() {
  const int k = parameters_.k == 0 ? parameters_.k_max : parameters_.k;
  const std::int64_t asked = parameters_.sample_size > 0 ? parameters_.sample_size : 40 + 2 * std::int64_t{k};
  const std::int64_t size = std::min(n_, asked);
  const int trials = size == n_ ? 1 : parameters_.samples;
  for (int t = 0; t < trials; ++t)
    samples_.push_back(
        sampling::draw_without_replacement(n_, size, parameters_.seed, static_cast<std::uint64_t>(t)));
  for (const Ids& sample : samples_) pool_.insert(pool_.end(), sample.begin(), sample.end());
  if (trials == 1) return;
  std::sort(pool_.begin(), pool_.end());
  pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
}

std::size_t ClaraRounds::finalists() const {
  const std::size_t all = samples_.size() + 1;
  return parameters_.finalists == 0 ? all : std::min(all, static_cast<std::size_t>(parameters_.finalists));
}

// With all sets as finalists, those whose costs are summed exactly in any case.
std::size_t ClaraRounds::favourites(std::size_t count) const {
  return parameters_.finalists == 0 ? count : samples_.size() + 1;
}

Proposal::Status ClaraRounds::check_local() const {
  if (local_.n != ids_.size() || local_.values.size() != local_.n * local_.d) return Proposal::bad_shape;
  std::int64_t last = -1;
  for (const std::int32_t id : ids_) {
    if (id <= last || id >= n_) return Proposal::bad_ids;
    last = id;
  }
  return Proposal::good;
}

// Each node sends: status, number of objects, sums of ids and of their squares (modulo 2^64), then id and row of each
// wanted object it has.
ClaraRounds::Table ClaraRounds::gather(const Ids& wanted, int root) {
  constexpr std::size_t header = 4;
  const std::size_t d = local_.d;
  std::vector<std::int64_t> message(header, 0);
  message[0] = check_local();
  if (message[0] == Proposal::good) {
    std::uint64_t sum = 0, squares = 0;
    for (const std::int32_t id : ids_) {
      sum += static_cast<std::uint64_t>(id);
      squares += static_cast<std::uint64_t>(id) * static_cast<std::uint64_t>(id);
    }
    message[1] = static_cast<std::int64_t>(ids_.size());
    message[2] = static_cast<std::int64_t>(sum);
    message[3] = static_cast<std::int64_t>(squares);
    auto from = ids_.begin();
    for (const std::int32_t id : wanted) {
      from = std::lower_bound(from, ids_.end(), id);
      if (from == ids_.end()) break;
      if (*from != id) continue;
      const std::size_t at = message.size();
      message.resize(at + 1 + d);
      message[at] = id;
      std::memcpy(message.data() + at + 1, local_.row(static_cast<std::size_t>(from - ids_.begin())), d * sizeof(double));
    }
  }
  const auto gathered = nodes_.gatherv(std::span<const std::int64_t>(message), root);

  Table table;
  table.here = nodes_.rank() == root;
  if (!table.here) return table;
  table.ids = wanted;
  table.values.resize(wanted.size() * d);
  std::uint64_t objects = 0, sum = 0, squares = 0;
  std::size_t rows = 0;
  for (int node = 0; node < nodes_.size(); ++node) {
    const auto words = gathered.of(node);
    if (words[0] != Proposal::good) {
      table.status = words[0];
      table.where = node;
      return table;
    }
    objects += static_cast<std::uint64_t>(words[1]);
    sum += static_cast<std::uint64_t>(words[2]);
    squares += static_cast<std::uint64_t>(words[3]);
    for (std::size_t at = header; at + d < words.size(); at += 1 + d, ++rows) {
      const auto place = static_cast<std::size_t>(
          std::lower_bound(wanted.begin(), wanted.end(), static_cast<std::int32_t>(words[at])) - wanted.begin());
      std::memcpy(table.values.data() + place * d, words.data() + at + 1, d * sizeof(double));
    }
  }
  const auto n = static_cast<std::uint64_t>(n_);
  if (objects != n || sum != n * (n - 1) / 2 || squares != sum_of_squares(n) || rows != wanted.size())
    table.status = Proposal::missing_objects;
  return table;
}

ClaraRounds::Searched ClaraRounds::search(const Table& table, const std::vector<Ids>& trials, bool pooled) const {
  Searched searched;
  Proposal& proposal = searched.proposal;
  proposal.status = table.status;
  proposal.where = table.where;
  if (proposal.status != Proposal::good) return searched;
  const std::size_t d = local_.d;
  const Signatures objects{table.values, table.ids.size(), d};
  if (const auto bad = find_bad_value(objects); bad.row >= 0) {
    proposal.status = Proposal::bad_value;
    proposal.where = table.ids[static_cast<std::size_t>(bad.row)];
    proposal.column = static_cast<std::int64_t>(bad.column);
    proposal.value = bad.value;
    return searched;
  }
  proposal.range_exponent = range_exponent(kernels::table().largest_bits(table.values.data(), table.values.size()));
  const InRange range(objects, proposal.range_exponent);
  const bool whole = pooled || parameters_.k == 0;
  std::optional<DistanceTable>& all = searched.all;
  if (whole || (trials.size() == 1 && trials[0].size() == table.ids.size()))
    all = all_distances(workers_, range.signatures());
  proposal.k = parameters_.k;
  if (parameters_.k == 0) {
    ChooseKParameters choice;
    choice.k_max = parameters_.k_max;
    choice.previous_k = parameters_.previous_k;
    const ChosenK chosen = choose_k(workers_, *all, range.signatures(), choice);
    proposal.k = chosen.k;
    proposal.silhouette = chosen.silhouette;
  }
  const auto consider_limit = [&](const DistanceTable& distances) {
    proposal.limit_exponent =
        std::max(proposal.limit_exponent, exponent_above(largest_entry(distances)) + outlier_exponent);
  };
  if (all) consider_limit(*all);
  const auto add = [&](const DistanceTable& distances, const Ids& positions) {
    Ids medoids = build_medoids(workers_, distances, proposal.k);
    swap_medoids(workers_, distances, medoids, SwapRule::eager, std::numeric_limits<int>::max());
    std::sort(medoids.begin(), medoids.end());
    if (!all) consider_limit(distances);
    for (std::int32_t& medoid : medoids) medoid = positions[static_cast<std::size_t>(medoid)];
    searched.sets.push_back(std::move(medoids));
  };
  for (const Ids& trial : trials) {
    const Ids positions = positions_in(table.ids, trial);
    if (all && positions.size() == table.ids.size()) {
      add(*all, positions);
    } else if (all) {
      add(part_of(*all, positions), positions);
    } else {
      const auto rows = rows_of(range.signatures(), positions);
      add(all_distances(workers_, {rows, positions.size(), d}), positions);
    }
  }
  if (pooled) {
    Ids everything(table.ids.size());
    std::iota(everything.begin(), everything.end(), 0);
    add(*all, everything);
  }
  return searched;
}

// All sets, or with the pooled one among them those that are best for all samples' objects.
Proposal ClaraRounds::propose(const Table& table, Searched searched, bool pooled) const {
  Proposal proposal = std::move(searched.proposal);
  if (proposal.status != Proposal::good) return proposal;
  if (pooled) keep_best(*searched.all, finalists(), searched.sets);
  for (const Ids& medoids : searched.sets)
    for (const std::int32_t medoid : medoids) proposal.medoids.push_back(table.ids[static_cast<std::size_t>(medoid)]);
  proposal.rows = rows_of({table.values, table.ids.size(), local_.d}, positions_in(table.ids, proposal.medoids));
  return proposal;
}

namespace {

constexpr std::size_t proposal_header = 8;

// A message of fixed length, so that those who receive it know its length beforehand.
std::vector<std::int64_t> to_words(const Proposal& p) {
  std::vector<std::int64_t> words = {p.status, p.where,          p.column,         to_word(p.value),
                                     p.k,      p.range_exponent, p.limit_exponent, to_word(p.silhouette)};
  words.insert(words.end(), p.medoids.begin(), p.medoids.end());
  for (const double value : p.rows) words.push_back(to_word(value));
  return words;
}

Proposal from_words(std::span<const std::int64_t> words, std::size_t trials, std::size_t d) {
  Proposal p;
  p.status = words[0];
  p.where = words[1];
  p.column = words[2];
  p.value = to_double(words[3]);
  p.k = static_cast<int>(words[4]);
  p.range_exponent = static_cast<int>(words[5]);
  p.limit_exponent = static_cast<int>(words[6]);
  p.silhouette = to_double(words[7]);
  if (p.status != Proposal::good) return p;
  const std::size_t medoids = trials * static_cast<std::size_t>(p.k);
  for (std::size_t i = 0; i < medoids; ++i)
    p.medoids.push_back(static_cast<std::int32_t>(words[proposal_header + i]));
  p.rows.reserve(medoids * d);
  for (std::size_t i = 0; i < medoids * d; ++i) p.rows.push_back(to_double(words[proposal_header + medoids + i]));
  return p;
}

void throw_if_bad(const Proposal& p) {
  switch (p.status) {
    case Proposal::bad_ids:
      throw std::invalid_argument("global ids are out of range or not ascending (node " + std::to_string(p.where) +
                                  "): pass each node's ids in ascending order, 0 to n_global - 1");
    case Proposal::bad_shape:
      throw std::invalid_argument("the number of ids or of values does not fit the number of objects (node " +
                                  std::to_string(p.where) + "): pass one id and d values per object");
    case Proposal::missing_objects:
      throw std::invalid_argument(
          "the nodes' objects are not 0 to n_global - 1, each once: correct the ids or n_global");
    case Proposal::bad_value:
      throw std::invalid_argument(bad_value_message(p.where, static_cast<std::size_t>(p.column), p.value));
    default: return;
  }
}

}  // namespace

Proposal ClaraRounds::share(const Proposal& mine, std::size_t trials) {
  const std::size_t d = local_.d;
  if (nodes_.size() == 1) {
    throw_if_bad(mine);
    return mine;
  }
  const auto most = static_cast<std::size_t>(parameters_.k == 0 ? parameters_.k_max : parameters_.k);
  std::vector<std::int64_t> words;
  if (nodes_.rank() == 0) words = to_words(mine);
  words.resize(proposal_header + trials * most * (1 + d), 0);
  nodes_.bcast(std::span<std::int64_t>(words), 0);
  Proposal proposal = from_words(words, trials, d);
  throw_if_bad(proposal);
  return proposal;
}

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

Proposal Proposal::part(std::span<const std::size_t> which) const {
  Proposal some = *this;
  some.medoids.clear();
  some.rows.clear();
  const auto size = static_cast<std::size_t>(k);
  const std::size_t d = medoids.empty() ? 0 : rows.size() / medoids.size();
  for (const std::size_t t : which) {
    const auto first = static_cast<std::ptrdiff_t>(t * size), last = static_cast<std::ptrdiff_t>((t + 1) * size);
    const auto width = static_cast<std::ptrdiff_t>(d);
    some.medoids.insert(some.medoids.end(), medoids.begin() + first, medoids.begin() + last);
    some.rows.insert(some.rows.end(), rows.begin() + first * width, rows.begin() + last * width);
  }
  return some;
}

// The one that costs less; of equals the one with the smaller ids, so that it does not matter which came first.
ClaraRounds::Evaluated ClaraRounds::Evaluated::better_of(Evaluated other) && {
  const auto medoids = [](const Evaluated& e) {
    return std::span(e.proposal.medoids).subspan(e.best * static_cast<std::size_t>(e.proposal.k), static_cast<std::size_t>(e.proposal.k));
  };
  const auto key = [](const Evaluated& e) { return std::pair(e.sum.high, e.sum.low); };
  const auto mine = medoids(*this), its = medoids(other);
  const bool smaller = std::lexicographical_compare(its.begin(), its.end(), mine.begin(), mine.end());
  return key(other) < key(*this) || (key(other) == key(*this) && smaller) ? std::move(other) : std::move(*this);
}

// All sets of medoids.  The favourites' costs are summed exactly; the others' are known to be at least something, and where
// that does not rule them out (it nearly always does) they are looked at again.  So the result is that of summing all.
ClaraRounds::Evaluated ClaraRounds::evaluate(Proposal proposal, std::size_t favourites) {
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
ClaraRounds::Evaluated ClaraRounds::measure(Proposal proposal, std::size_t favourites) {
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

void ClaraRounds::choose_best(const Proposal& proposal, std::size_t favourites, Evaluated& result) const {
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

void ClaraRounds::throw_bad_value() {
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

ClaraRounds::Evaluated ClaraRounds::run_together() {
  const bool pooled = parameters_.pooled && samples_.size() > 1;
  const Table table = gather(pool_, 0);
  Proposal mine;
  if (table.here) mine = propose(table, search(table, samples_, pooled), pooled);
  return evaluate_shared(mine, pooled);
}

// The samples go to the nodes after the first in turn, all objects of them to the first, which learns what the others found:
// the result is that of run_together.
ClaraRounds::Evaluated ClaraRounds::run_spread() {
  const std::size_t others = static_cast<std::size_t>(nodes_.size()) - 1, k = static_cast<std::size_t>(parameters_.k);
  const Table table = gather(pool_, 0);
  std::vector<Table> tables;
  for (std::size_t t = 0; t < samples_.size(); ++t) tables.push_back(gather(samples_[t], static_cast<int>(1 + t % others)));
  Searched searched;
  if (table.here) searched = search(table, {}, parameters_.pooled);
  std::vector<std::int64_t> words;  // of each trial made here: limit, medoids
  for (std::size_t t = 0; t < samples_.size(); ++t) {
    if (!tables[t].here) continue;
    const Searched trial = search(tables[t], {samples_[t]}, false);
    if (trial.sets.empty()) continue;  // bad objects, which the first node has seen too
    words.push_back(trial.proposal.limit_exponent);
    for (const std::int32_t medoid : trial.sets[0]) words.push_back(samples_[t][static_cast<std::size_t>(medoid)]);
  }
  const auto gathered = nodes_.gatherv(std::span<const std::int64_t>(words), 0);
  Proposal mine;
  if (table.here) {
    std::vector<Ids> sets;
    for (std::size_t t = 0; t < samples_.size() && searched.proposal.status == Proposal::good; ++t) {
      const auto found = gathered.of(static_cast<int>(1 + t % others)).subspan(t / others * (1 + k), 1 + k);
      searched.proposal.limit_exponent = std::max(searched.proposal.limit_exponent, static_cast<int>(found[0]));
      sets.push_back(positions_in(table.ids, Ids(found.begin() + 1, found.end())));
    }
    searched.sets.insert(searched.sets.begin(), sets.begin(), sets.end());
    mine = propose(table, std::move(searched), parameters_.pooled);
  }
  return evaluate_shared(mine, parameters_.pooled);
}

ClaraRounds::Evaluated ClaraRounds::evaluate_shared(const Proposal& mine, bool pooled) {
  return evaluate(share(mine, pooled ? finalists() : samples_.size()), pooled ? favourites(2) : samples_.size());
}

ClaraRounds::Evaluated ClaraRounds::run_joined() {
  Evaluated best;
  double silhouette = -1;
  for (std::size_t t = 0; t < samples_.size(); ++t) {
    Ids sample = samples_[t];
    if (t > 0) {
      sample.insert(sample.end(), best.proposal.medoids.begin(), best.proposal.medoids.end());
      std::sort(sample.begin(), sample.end());
      sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
    }
    const Table table = gather(sample, 0);
    Proposal mine;
    if (table.here) mine = propose(table, search(table, {sample}, false), false);
    Evaluated next = evaluate(share(mine, 1), 1);
    if (t == 0) {  // k is chosen once, from the first sample
      parameters_.k = next.proposal.k;
      silhouette = next.proposal.silhouette;
    }
    if (t == 0 || next.cost < best.cost) best = std::move(next);
  }
  best.proposal.silhouette = silhouette;
  return best;
}

DistributedClustering ClaraRounds::finish(const Evaluated& evaluated) const {
  const Proposal& proposal = evaluated.proposal;
  const auto k = static_cast<std::size_t>(proposal.k);
  const std::size_t first = evaluated.best * k;
  DistributedClustering result;
  result.k = proposal.k;
  result.medoids.assign(proposal.medoids.begin() + static_cast<std::ptrdiff_t>(first),
                        proposal.medoids.begin() + static_cast<std::ptrdiff_t>(first + k));
  result.medoid_signatures.assign(proposal.rows.begin() + static_cast<std::ptrdiff_t>(first * local_.d),
                                  proposal.rows.begin() + static_cast<std::ptrdiff_t>((first + k) * local_.d));
  const auto labels = evaluated.assignment.labels.begin() + static_cast<std::ptrdiff_t>(evaluated.best * local_.n);
  result.labels.assign(labels, labels + static_cast<std::ptrdiff_t>(local_.n));
  result.sizes.assign(evaluated.assignment.sizes.begin() + static_cast<std::ptrdiff_t>(first),
                      evaluated.assignment.sizes.begin() + static_cast<std::ptrdiff_t>(first + k));
  result.cost = evaluated.cost;
  result.silhouette = proposal.silhouette;
  result.lone = lone_strata(result.sizes, {result.medoid_signatures, k, local_.d});
  return result;
}

DistributedClustering ClaraRounds::run() {
  if (parameters_.join) return finish(run_joined());
  // Choosing k needs all samples on one node, and with one trial or one node there is nothing to spread.
  if (parameters_.spread && parameters_.k > 0 && samples_.size() > 1 && nodes_.size() > 1) return finish(run_spread());
  return finish(run_together());
}

}  // namespace effort::cluster
