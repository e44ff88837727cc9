// The transport over MPI.
#pragma once

#include "adapters/mpi/alarm.hpp"
#include "runtime/exchange/transport.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace effort::adapters {

/// Owns duplicates of the host's communicator, so that the library's messages never match the host's.  Calls only PMPI
/// names, so that tools that wrap MPI do not see the library.
class MpiTransport final : public exchange::Transport {
 public:
  /// Duplicates `comm`; collective.  If a rank runs out of memory, it fails on all ranks.
  /// @throws Error(mpi), Error(memory)
  static std::unique_ptr<MpiTransport> over(MPI_Comm comm);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool any_thread() const override { return any_thread_; }
  std::string error() const override { return error_; }

  bool world_min(std::int64_t* values, std::size_t n) override;
  bool world_bcast(void* data, std::size_t bytes, int root) override;
  bool world_allgather(const void* mine, std::size_t bytes, void* all) override;
  bool form_nodes(int ranks_per_node, int& local_rank, int& n_local, int& on_machine) override;
  bool node_min(std::int64_t* values, std::size_t n) override;
  bool node_bcast(void* data, std::size_t bytes) override;
  bool node_allgather(const void* mine, std::size_t bytes, void* all) override;
  bool form_leaders(bool leader, int& place, int& n_leaders) override;

  bool start(const exchange::Operation& operation) override;
  bool test(bool& done) override;
  void progress() override;
  void release() override;
  void stop_listening() override;
  bool alive() const override;

 private:
  explicit MpiTransport(std::size_t ranks);
  void duplicate(MPI_Comm comm);
  bool begin(const exchange::Operation& operation);
  bool stopped();
  bool ok(int code, const char* call);
  bool fits(std::size_t bytes);
  bool layout(const std::size_t* bytes, std::vector<int>& counts, std::vector<int>& offsets);

  MPI_Comm world_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL, leaders_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, leaders_size_ = 1, leaders_rank_ = -1;
  bool any_thread_ = false;
  MPI_Request requests_[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int n_requests_ = 0;
  std::int64_t operation_ = 0;  // number of the operation under way
  Alarm alarm_;                 // among leaders
  // Of the operation under way.  They have room for all ranks from the start, so that nothing is allocated later.
  std::vector<int> counts_, offsets_, sent_counts_, sent_offsets_;
  std::string error_;
};

}  // namespace effort::adapters
