#include "analytics/cluster/proposal.hpp"

#include "analytics/cluster/range.hpp"

#include <bit>
#include <stdexcept>
#include <string>

namespace effort::cluster {
namespace {

std::int64_t to_word(double value) { return std::bit_cast<std::int64_t>(value); }
double to_double(std::int64_t word) { return std::bit_cast<double>(word); }

constexpr std::size_t proposal_header = 8;

// The message has a fixed length, which receivers therefore know beforehand.
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
  for (std::size_t i = 0; i < medoids; ++i) p.medoids.push_back(static_cast<std::int32_t>(words[proposal_header + i]));
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

Proposal share(Communicator& nodes, const Proposal& mine, std::size_t trials, std::size_t most_k, std::size_t d) {
  if (nodes.size() == 1) {
    throw_if_bad(mine);
    return mine;
  }
  std::vector<std::int64_t> words;
  if (nodes.rank() == 0) words = to_words(mine);
  words.resize(proposal_header + trials * most_k * (1 + d), 0);
  nodes.bcast(std::span<std::int64_t>(words), 0);
  Proposal proposal = from_words(words, trials, d);
  throw_if_bad(proposal);
  return proposal;
}

}  // namespace effort::cluster
