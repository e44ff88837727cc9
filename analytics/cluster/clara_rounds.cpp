#include "analytics/cluster/clara_rounds.hpp"

#include "analytics/cluster/finish.hpp"
#include "analytics/sampling/draw.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace effort::cluster {
namespace {

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

}  // namespace

ClaraRounds::ClaraRounds(const Workers& workers, Communicator& nodes, const Signatures& local,
                         std::span<const std::int32_t> ids, std::int64_t n_global, const ClaraParameters& parameters)
    : workers_(workers), nodes_(nodes), local_(local), ids_(ids), n_(n_global), parameters_(parameters),
      evaluation_(workers, nodes, local, ids, n_global) {
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
SampleTable ClaraRounds::gather(const Ids& wanted, int root) {
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

  SampleTable table;
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

SearchedSamples ClaraRounds::search(const SampleTable& table, const std::vector<Ids>& trials, bool pooled) const {
  return search_samples(workers_, table, trials, pooled, parameters_);
}

Evaluated ClaraRounds::run_together() {
  const bool pooled = parameters_.pooled && samples_.size() > 1;
  const SampleTable table = gather(pool_, 0);
  Proposal mine;
  if (table.here) mine = propose(table, search(table, samples_, pooled), pooled ? finalists() : 0);
  return evaluate_together(mine, pooled);
}

// The samples go to the nodes after the first in turn, all objects of them to the first, which learns what the others found:
// the result is that of run_together.
Evaluated ClaraRounds::run_spread() {
  const std::size_t others = static_cast<std::size_t>(nodes_.size()) - 1, k = static_cast<std::size_t>(parameters_.k);
  const SampleTable table = gather(pool_, 0);
  std::vector<SampleTable> tables;
  for (std::size_t t = 0; t < samples_.size(); ++t) tables.push_back(gather(samples_[t], static_cast<int>(1 + t % others)));
  SearchedSamples searched;
  if (table.here) searched = search(table, {}, parameters_.pooled);
  std::vector<std::int64_t> words;  // of each trial made here: limit, medoids
  for (std::size_t t = 0; t < samples_.size(); ++t) {
    if (!tables[t].here) continue;
    const SearchedSamples trial = search(tables[t], {samples_[t]}, false);
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
    mine = propose(table, std::move(searched), parameters_.pooled ? finalists() : 0);
  }
  return evaluate_together(mine, parameters_.pooled);
}

Evaluated ClaraRounds::evaluate_together(const Proposal& mine, bool pooled) {
  return pooled ? evaluate_shared(mine, finalists(), favourites(2)) : evaluate_shared(mine, samples_.size(), samples_.size());
}

Evaluated ClaraRounds::evaluate_shared(const Proposal& mine, std::size_t sets, std::size_t favourites) {
  const auto most_k = static_cast<std::size_t>(parameters_.k == 0 ? parameters_.k_max : parameters_.k);
  return evaluation_.evaluate(share(nodes_, mine, sets, most_k, local_.d), favourites);
}

Evaluated ClaraRounds::run_joined() {
  Evaluated best;
  double silhouette = -1;
  for (std::size_t t = 0; t < samples_.size(); ++t) {
    Ids sample = samples_[t];
    if (t > 0) {
      sample.insert(sample.end(), best.proposal.medoids.begin(), best.proposal.medoids.end());
      std::sort(sample.begin(), sample.end());
      sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
    }
    const SampleTable table = gather(sample, 0);
    Proposal mine;
    if (table.here) mine = propose(table, search(table, {sample}, false));
    Evaluated next = evaluate_shared(mine, 1, 1);
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
