// Finds which of several sets of medoids costs least over the objects of all nodes.
#pragma once

#include "analytics/cluster/assignment.hpp"
#include "analytics/cluster/clustering.hpp"
#include "analytics/cluster/kernels.hpp"
#include "analytics/cluster/proposal.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// The cheapest of a proposal's sets of medoids, with every object of this node assigned.
struct Evaluated {
  Proposal proposal;  ///< the sets whose costs were summed
  Assignment assignment;
  FixedUnit unit;
  std::size_t best = 0;  ///< the set that costs least
  FixedSum sum;          ///< cost of the best
  double cost = 0;
};

/// One node's part of the evaluation.  Borrows its arguments.
class Evaluation {
 public:
  /// @param local     this node's objects
  /// @param ids       [local.n] their global ids, ascending
  /// @param n_global  objects of all nodes
  Evaluation(const Kernels& kernels, Communicator& nodes, const Signatures& local, std::span<const std::int32_t> ids,
             std::int64_t n_global)
      : kernels_(kernels), nodes_(nodes), local_(local), ids_(ids), n_(n_global) {}

  /// Sums the costs of all sets of medoids exactly.  Collective; one reduction, and two more if some values exceed
  /// those in the samples.
  /// @throws std::invalid_argument on all nodes alike when a value is not finite
  /// Time O(n_local d k) for each set; memory O(n_local) for each.
  Evaluated evaluate(Proposal proposal);

 private:
  void choose_best(Proposal proposal, Evaluated& result) const;
  [[noreturn]] void throw_bad_value();

  const Kernels& kernels_;
  Communicator& nodes_;
  const Signatures& local_;
  std::span<const std::int32_t> ids_;
  std::int64_t n_;
};

}  // namespace effort::cluster
