// The interface to a message library; adapters/mpi implements it.
#pragma once

#include "analytics/comm/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::exchange {

/// One non-blocking collective among node leaders, or a neighbour exchange.  Buffers belong to the caller, who must not
/// touch them until the operation is complete.
struct Operation {
  enum class Type { allreduce_int64, allreduce_double, allgather, allgatherv, gatherv, alltoallv, bcast, neighbours };
  Type type = Type::bcast;
  ReduceOp op = ReduceOp::max;
  int root = 0;
  const void* send = nullptr;  ///< null for allreduce: `receive` is reduced in place
  void* receive = nullptr;
  std::size_t count = 0;  ///< elements (allreduce) or bytes that this rank contributes
  /// [size] bytes received per rank (allgatherv, gatherv at the root, alltoallv).
  const std::size_t* counts = nullptr;
  const std::size_t* sent_counts = nullptr;  ///< [size] bytes per rank (alltoallv)
  // neighbours
  const void *to_previous = nullptr, *to_next = nullptr;
  void *from_previous = nullptr, *from_next = nullptr;
  std::size_t to_previous_bytes = 0, to_next_bytes = 0, from_previous_bytes = 0, from_next_bytes = 0;
};

/// Message passing among all ranks of a run and, after the nodes are formed, among their leaders.  No function
/// throws.  Functions that return bool return false on failure; error() then gives the reason.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether any thread may call the transport at any time (MPI_THREAD_MULTIPLE).
  virtual bool any_thread() const = 0;
  virtual std::string error() const = 0;

  // ---- set-up: blocking, collective over all ranks, on the host's thread
  virtual bool world_min(std::int64_t* values, std::size_t n) = 0;
  virtual bool world_bcast(void* data, std::size_t bytes, int root) = 0;
  virtual bool world_allgather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Forms nodes of ranks that share memory, at most `ranks_per_node` each (0: no limit).
  /// @param on_machine  receives the number of all ranks that share this one's memory
  virtual bool form_nodes(int ranks_per_node, int& local_rank, int& n_local, int& on_machine) = 0;
  virtual bool node_min(std::int64_t* values, std::size_t n) = 0;
  virtual bool node_bcast(void* data, std::size_t bytes) = 0;  ///< from local rank 0
  virtual bool node_allgather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Connects the leaders, in the order of their ranks; the place of all other ranks becomes -1.
  virtual bool form_leaders(bool leader, int& place, int& n_leaders) = 0;

  // ---- among leaders: one operation at a time.  If one of these fails, the exchange has ended: it fails on all
  // leaders that need this one for an operation, and the buffers of operations that have begun may be in use forever.
  virtual bool start(const Operation& operation) = 0;
  virtual bool test(bool& done) = 0;

  /// Lets the message library progress the host's pending operations.  Any rank may call it.
  virtual void progress() = 0;
  /// Frees the communicators; collective unless the message library has already been finalized.
  virtual void release() = 0;
  /// Withdraws receives that no operation waits for.  Local; instead of release() when the host exits without
  /// finalizing.
  virtual void stop_listening() {}
  /// Whether the message library can still be called.
  virtual bool alive() const = 0;
};

}  // namespace effort::exchange
