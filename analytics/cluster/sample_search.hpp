// PAM on CLARA's samples, on the node that has gathered their objects.
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

/// The gathered objects; empty on the other nodes.
struct SampleTable {
  bool here = false;
  Ids ids;                     ///< global, ascending
  std::vector<double> values;  ///< [ids][d]
  std::int64_t status = Proposal::good;
  std::int64_t where = 0;

  Signatures signatures() const { return {values, ids.size(), ids.empty() ? 0 : values.size() / ids.size()}; }
};

/// The medoids that each trial found.
struct SearchedSamples {
  Proposal proposal;                 ///< without medoids
  std::vector<Ids> sets;             ///< medoids of each trial, positions in the table
  std::optional<DistanceTable> all;  ///< distances of all pairs; none if the objects are bad
};

/// Runs PAM on each trial's objects, and on all objects of the table if there are several trials.
/// @param trials  [trials] global ids, ascending, all in the table
/// Time and memory O(s^2) for s objects of the table.
SearchedSamples search_samples(const Kernels& kernels, const SampleTable& table, const std::vector<Ids>& trials,
                               const ClaraParameters& parameters);

/// The up to `most` sets that cost least on the table's objects.
Proposal propose(const SampleTable& table, SearchedSamples searched, std::size_t most);

/// Positions of `some` in `all`; both ascending.
Ids positions_in(std::span<const std::int32_t> all, std::span<const std::int32_t> some);

}  // namespace effort::cluster
