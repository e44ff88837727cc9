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

constexpr std::size_t finalists = 2;  // sets of medoids that are evaluated on all objects

// The checks see the same values on all nodes, so either all throw or none does.
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
  const int least = p.k == 0 ? p.k_max : p.k;
  if (p.sample_size < 0 || (p.sample_size > 0 && p.sample_size < least && p.sample_size < n))
    throw std::invalid_argument("samples are too small (" + std::to_string(p.sample_size) +
                                " objects): draw at least " + std::to_string(least) + ", or pass 0");
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

ClaraRounds::ClaraRounds(const Kernels& kernels, Communicator& nodes, const Signatures& local,
                         std::span<const std::int32_t> ids, std::int64_t n_global, const ClaraParameters& parameters)
    : kernels_(kernels),
      nodes_(nodes),
      local_(local),
      ids_(ids),
      n_(n_global),
      parameters_(parameters),
      evaluation_(kernels, nodes, local, ids, n_global) {
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
    samples_.push_back(sampling::draw_without_replacement(n_, size, parameters_.seed, static_cast<std::uint64_t>(t)));
  for (const Ids& sample : samples_) pool_.insert(pool_.end(), sample.begin(), sample.end());
  if (trials == 1) return;
  std::sort(pool_.begin(), pool_.end());
  pool_.erase(std::unique(pool_.begin(), pool_.end()), pool_.end());
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

// Each node sends node 0 its status, number of objects, the sums of their ids and squared ids (modulo 2^64), then the
// id and row of each of its sampled objects.
SampleTable ClaraRounds::gather() {
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
    for (const std::int32_t id : pool_) {
      from = std::lower_bound(from, ids_.end(), id);
      if (from == ids_.end()) break;
      if (*from != id) continue;
      const std::size_t at = message.size();
      message.resize(at + 1 + d);
      message[at] = id;
      std::memcpy(message.data() + at + 1, local_.row(static_cast<std::size_t>(from - ids_.begin())),
                  d * sizeof(double));
    }
  }
  const auto gathered = nodes_.gatherv(std::span<const std::int64_t>(message), 0);

  SampleTable table;
  table.here = nodes_.rank() == 0;
  if (!table.here) return table;
  table.ids = pool_;
  table.values.resize(pool_.size() * d);
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
          std::lower_bound(pool_.begin(), pool_.end(), static_cast<std::int32_t>(words[at])) - pool_.begin());
      std::memcpy(table.values.data() + place * d, words.data() + at + 1, d * sizeof(double));
    }
  }
  const auto n = static_cast<std::uint64_t>(n_);
  if (objects != n || sum != n * (n - 1) / 2 || squares != sum_of_squares(n) || rows != pool_.size())
    table.status = Proposal::missing_objects;
  return table;
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
  const std::size_t sets = std::min(samples_.size(), finalists);
  const SampleTable table = gather();
  Proposal mine;
  if (table.here) mine = propose(table, search_samples(kernels_, table, samples_, parameters_), sets);
  const auto most_k = static_cast<std::size_t>(parameters_.k == 0 ? parameters_.k_max : parameters_.k);
  return finish(evaluation_.evaluate(share(nodes_, mine, sets, most_k, local_.d)));
}

}  // namespace effort::cluster
