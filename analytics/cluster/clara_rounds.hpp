// The stages of distributed CLARA: draw, gather, propose medoids, share them, assign objects, agree on the best.
#pragma once

#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/cluster/evaluation.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/proposal.hpp"
#include "analytics/cluster/sample_search.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// One call of distributed_clara on one node.
class ClaraRounds {
 public:
  ClaraRounds(const Kernels& kernels, Communicator& nodes, const Signatures& local, std::span<const std::int32_t> ids,
              std::int64_t n_global, const ClaraParameters& parameters);

  DistributedClustering run();

 private:
  void draw();
  Proposal::Status check_local() const;
  SampleTable gather();
  DistributedClustering finish(const Evaluated& evaluated) const;

  const Kernels& kernels_;
  Communicator& nodes_;
  const Signatures& local_;
  std::span<const std::int32_t> ids_;
  std::int64_t n_;
  ClaraParameters parameters_;
  Evaluation evaluation_;
  std::vector<Ids> samples_;  // [trials] global ids, ascending
  Ids pool_;                  // of all samples, ascending
};

}  // namespace effort::cluster
