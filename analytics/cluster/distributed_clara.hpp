// CLARA over objects that are distributed over nodes: the strata of the running application.
#pragma once

#include "analytics/cluster/clara.hpp"
#include "analytics/cluster/clustering.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// The strata of all nodes' objects.  Everything but `labels` is identical on all nodes.
struct DistributedClustering {
  int k = 0;
  std::vector<std::int32_t> medoids;      ///< [k] global ids, ascending
  std::vector<double> medoid_signatures;  ///< [k][d]
  std::vector<std::int32_t> labels;       ///< local: stratum of each of this node's objects
  double cost = 0;                        ///< mean distance to the nearest medoid over all objects
  std::vector<std::int64_t> sizes;        ///< [k] members over all nodes, each at least 1
  std::vector<std::int32_t> lone;         ///< strata of one member: objects far from all others
  double silhouette = -1;                 ///< average silhouette on the sample, if k was chosen by data; else -1
};

/// CLARA over a group of nodes: samples are gathered where PAM runs, medoid signatures are shared, every node assigns
/// its own objects to all trials' medoids in one pass over the data, and costs are summed as scaled integers.  Draws
/// depend only on seed, trial and global id, and every distance is computed in a fixed order of operations.  The result
/// is therefore bitwise the same for any number of nodes and threads, and any distribution of the objects.
///
/// Collective over `nodes`; blocks.  All nodes pass the same `n_global`, d and parameters.  Collectives: three
/// (gatherv, bcast, allreduce), and two more if some values exceed those in the samples.
///
/// @param space       Kokkos execution space instance, as for pam
/// @param local       this node's objects, n_local x d; n_local may be 0, but d is that of all nodes
/// @param ids         [n_local] their global ids, ascending; every id of 0..n_global-1 is on exactly one node
/// @param n_global    objects of all nodes
/// @param parameters  k is 1..n_global or 0; the caller clamps it
/// @throws std::invalid_argument on all nodes alike when any node's objects are bad (NaN or infinity: global id and
///         column; ids out of range, not ascending, or missing) or a parameter is outside its range
/// @throws CommunicatorError when a collective could not be completed
/// Wire: O(samples (sample_size + k) d).  Memory: O(n_local d); on the node that runs PAM also O(samples s d + s^2).
template <typename ExecutionSpace>
DistributedClustering distributed_clara(const ExecutionSpace& space, Communicator& nodes, const Signatures& local,
                                        std::span<const std::int32_t> ids, std::int64_t n_global,
                                        const ClaraParameters& parameters);

}  // namespace effort::cluster
