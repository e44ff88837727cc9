// The stages of CLARA over nodes: draw, gather, propose medoids, share them, assign, agree on the best.
#pragma once

#include "analytics/cluster/assignment.hpp"
#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/cluster/workers.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// Medoids that the trials propose, and what else all nodes must know of the samples.
struct Proposal {
  enum Status : std::int64_t { good = 0, bad_ids = 1, missing_objects = 2, bad_value = 3, bad_shape = 4 };
  std::int64_t status = good;
  std::int64_t where = 0;      ///< node (bad_ids, bad_shape) or global id (bad_value)
  std::int64_t column = 0;
  double value = 0;
  int k = 0;
  int range_exponent = 0;      ///< see range.hpp
  int limit_exponent = -2000;  ///< see FixedUnit
  double silhouette = -1;
  std::vector<std::int32_t> medoids;  ///< [trials][k] global ids, ascending in each trial
  std::vector<double> rows;           ///< [trials][k][d]

  /// Some of the trials.
  Proposal part(std::span<const std::size_t> which) const;

  std::size_t trials() const { return k == 0 ? 0 : medoids.size() / static_cast<std::size_t>(k); }
};

/// One call of distributed_clara on one node.
class ClaraRounds {
 public:
  ClaraRounds(const Workers& workers, Communicator& nodes, const Signatures& local, std::span<const std::int32_t> ids,
              std::int64_t n_global, const ClaraParameters& parameters);

  DistributedClustering run();

 private:
  using Ids = std::vector<std::int32_t>;
  struct Evaluated {
    Proposal proposal;
    Assignment assignment;
    FixedUnit unit;
    std::size_t best = 0;
    FixedSum sum;   // of the best
    double cost = 0;
    std::vector<std::int64_t> at_least;  // see Assignment

    Evaluated better_of(Evaluated other) &&;
  };
  struct Table;     // the rows of some objects, gathered on one node
  struct Searched;  // and what trials on them found

  void draw();
  std::size_t finalists() const;
  std::size_t favourites(std::size_t count) const;
  Proposal::Status check_local() const;
  Table gather(const Ids& wanted, int root);
  Searched search(const Table& table, const std::vector<Ids>& trials, bool pooled) const;
  Proposal propose(const Table& table, Searched searched, bool pooled) const;
  Proposal share(const Proposal& mine, std::size_t trials);
  Evaluated evaluate(Proposal proposal, std::size_t favourites);
  Evaluated evaluate_shared(const Proposal& mine, bool pooled);
  Evaluated measure(Proposal proposal, std::size_t favourites);
  void choose_best(const Proposal& proposal, std::size_t favourites, Evaluated& result) const;
  [[noreturn]] void throw_bad_value();
  DistributedClustering finish(const Evaluated& evaluated) const;
  Evaluated run_together();
  Evaluated run_spread();
  Evaluated run_joined();

  const Workers& workers_;
  Communicator& nodes_;
  const Signatures& local_;
  std::span<const std::int32_t> ids_;
  std::int64_t n_;
  ClaraParameters parameters_;
  std::vector<Ids> samples_;  // [trials] global ids, ascending
  Ids pool_;                  // of all samples, ascending
};

}  // namespace effort::cluster
