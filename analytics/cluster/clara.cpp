#include "analytics/cluster/clara.hpp"

#include "analytics/cluster/clara_rounds.hpp"
#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/cluster/range.hpp"

#include <limits>
#include <numeric>

namespace effort::cluster {

template <typename ExecutionSpace>
DistributedClustering distributed_clara(const ExecutionSpace& space, Communicator& nodes, const Signatures& local,
                                        std::span<const std::int32_t> ids, std::int64_t n_global,
                                        const ClaraParameters& parameters) {
  const KernelsOn<ExecutionSpace> kernels(space);
  return ClaraRounds(kernels, nodes, local, ids, n_global, parameters).run();
}

template <typename ExecutionSpace>
Clustering clara(const ExecutionSpace& space, const Signatures& signatures, const ClaraParameters& parameters) {
  check_shape(signatures);
  std::vector<std::int32_t> ids(signatures.n);
  std::iota(ids.begin(), ids.end(), 0);
  SelfCommunicator self;
  auto found = distributed_clara(space, self, signatures, ids, static_cast<std::int64_t>(signatures.n), parameters);
  return {found.k,         std::move(found.medoids), std::move(found.labels),
          found.cost,      std::move(found.sizes),   std::move(found.lone),
          found.silhouette};
}

#define EFFORT_INSTANTIATE(Space)                                                                  \
  template DistributedClustering distributed_clara(const Space&, Communicator&, const Signatures&, \
                                                   std::span<const std::int32_t>, std::int64_t,    \
                                                   const ClaraParameters&);                        \
  template Clustering clara(const Space&, const Signatures&, const ClaraParameters&);
EFFORT_FOR_EACH_SPACE(EFFORT_INSTANTIATE)
#undef EFFORT_INSTANTIATE

}  // namespace effort::cluster
