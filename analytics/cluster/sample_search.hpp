// PAM on the samples of CLARA, where their objects have been gathered.
#pragma once

#include "analytics/cluster/clara.hpp"
#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/kmedoids.hpp"
#include "analytics/cluster/proposal.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace effort::cluster {

using Ids = std::vector<std::int32_t>;

/// Objects that were gathered on one node; elsewhere empty.
struct SampleTable {
  bool here = false;
  Ids ids;                     ///< global, ascending
  std::vector<double> values;  ///< [ids][d]
  std::int64_t status = Proposal::good;
  std::int64_t where = 0;

  Signatures signatures() const { return {values, ids.size(), ids.empty() ? 0 : values.size() / ids.size()}; }
};

/// What trials on the objects of a table found.
struct SearchedSamples {
  Proposal proposal;                 ///< without medoids
  std::vector<Ids> sets;             ///< medoids of each trial, positions in the table
  std::optional<DistanceTable> all;  ///< of all pairs; none if the objects are bad
};

/// PAM on each trial's objects, and on all of the table if there are several trials.
/// @param trials  [trials] global ids, ascending, all in the table
/// Time and memory O(s^2) for s objects of the table.
SearchedSamples search_samples(const Kernels& kernels, const SampleTable& table, const std::vector<Ids>& trials,
                               const ClaraParameters& parameters);

/// At most so many of the sets that were found: those that are best for the table's objects.
Proposal propose(const SampleTable& table, SearchedSamples searched, std::size_t most);

/// Where `some` are among `all`, both ascending.
Ids positions_in(std::span<const std::int32_t> all, std::span<const std::int32_t> some);

}  // namespace effort::cluster
