#include "adapters/mpi/mpi_transport.hpp"

#include "adapters/mpi/machine.hpp"
#include "adapters/mpi/mpi_library.hpp"
#include "runtime/status.hpp"

#include <climits>
#include <new>

namespace effort::adapters {

using exchange::Operation;

std::unique_ptr<MpiTransport> MpiTransport::over(MPI_Comm comm) {
  std::unique_ptr<MpiTransport> transport;
  int size = 1, all_good = 0;
  PMPI_Comm_size(comm, &size);
  try {
    transport.reset(new MpiTransport(static_cast<std::size_t>(size)));
  } catch (const std::bad_alloc&) {
  }
  // All ranks must agree before the next collective, so that none is left alone in it.
  const int good = transport != nullptr;
  if (PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
    throw Error(Status::mpi, "MPI_Allreduce failed");
  if (all_good == 0) throw Error(Status::memory, good ? "another rank is out of memory" : "out of memory");
  transport->duplicate(comm);
  return transport;
}

MpiTransport::MpiTransport(std::size_t ranks)
    : counts_(ranks), offsets_(ranks), sent_counts_(ranks), sent_offsets_(ranks) {}

void MpiTransport::duplicate(MPI_Comm comm) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  any_thread_ = level == MPI_THREAD_MULTIPLE && second_thread_may_call();
  if (!ok(PMPI_Comm_dup(comm, &world_), "MPI_Comm_dup")) throw Error(Status::mpi, error_);
  // If one of the library's own calls fails, it must return a code and not run the host's error handler, which may
  // abort.
  PMPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(world_, &rank_);
  PMPI_Comm_size(world_, &size_);
}

MpiTransport::~MpiTransport() = default;  // release() is collective, so the owner calls it

bool MpiTransport::ok(int code, const char* call) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  try {
    error_ = std::string(call) + " failed: " + std::string(text, static_cast<std::size_t>(length));
  } catch (const std::bad_alloc&) {
    error_.clear();
  }
  return false;
}

bool MpiTransport::fits(std::size_t bytes) {
  if (bytes <= INT_MAX) return true;
  try {
    error_ = "a message of " + std::to_string(bytes) +
             " bytes exceeds the largest count of MPI: use fewer regions or fewer ranks per node";
  } catch (const std::bad_alloc&) {
    error_.clear();
  }
  return false;
}

bool MpiTransport::world_min(std::int64_t* values, std::size_t n) {
  return ok(PMPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(n), MPI_INT64_T, MPI_MIN, world_), "MPI_Allreduce");
}

bool MpiTransport::world_bcast(void* data, std::size_t bytes, int root) {
  return ok(PMPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, world_), "MPI_Bcast");
}

bool MpiTransport::world_allgather(const void* mine, std::size_t bytes, void* all) {
  const int n = static_cast<int>(bytes);
  return ok(PMPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, world_), "MPI_Allgather");
}

bool MpiTransport::form_nodes(int ranks_per_node, int& local_rank, int& n_local, int& on_machine) {
  MPI_Comm shared = MPI_COMM_NULL;
  if (!ok(PMPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &shared), "MPI_Comm_split_type"))
    return false;
  int place = 0, most_on_machine = 0;
  PMPI_Comm_size(shared, &on_machine);
  bool known = ok(PMPI_Allreduce(&on_machine, &most_on_machine, 1, MPI_INT, MPI_MAX, world_), "MPI_Allreduce");
  if (known && most_on_machine == 1 && size_ > 1) {
    PMPI_Comm_free(&shared);
    known = ok(split_by_machine(world_, rank_, &shared), "MPI_Comm_split");
  }
  if (!known) {
    if (shared != MPI_COMM_NULL) PMPI_Comm_free(&shared);
    return false;
  }
  PMPI_Comm_rank(shared, &place);
  PMPI_Comm_size(shared, &on_machine);
  const int group = ranks_per_node > 0 ? place / ranks_per_node : 0;
  const bool split = ok(PMPI_Comm_split(shared, group, place, &node_), "MPI_Comm_split");
  PMPI_Comm_free(&shared);
  if (!split) return false;
  PMPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(node_, &local_rank);
  PMPI_Comm_size(node_, &n_local);
  return true;
}

bool MpiTransport::node_min(std::int64_t* values, std::size_t n) {
  return ok(PMPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(n), MPI_INT64_T, MPI_MIN, node_), "MPI_Allreduce");
}

bool MpiTransport::node_bcast(void* data, std::size_t bytes) {
  return ok(PMPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, node_), "MPI_Bcast");
}

bool MpiTransport::node_allgather(const void* mine, std::size_t bytes, void* all) {
  const int n = static_cast<int>(bytes);
  return ok(PMPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, node_), "MPI_Allgather");
}

bool MpiTransport::form_leaders(bool leader, int& place, int& n_leaders) {
  if (!ok(PMPI_Comm_split(world_, leader ? 0 : MPI_UNDEFINED, rank_, &leaders_), "MPI_Comm_split")) return false;
  place = -1;
  n_leaders = 0;
  if (leaders_ == MPI_COMM_NULL) return true;
  PMPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(leaders_, &leaders_rank_);
  PMPI_Comm_size(leaders_, &leaders_size_);
  place = leaders_rank_;
  n_leaders = leaders_size_;
  return ok(alarm_.connect(leaders_, leaders_rank_, leaders_size_), "connecting the leaders");
}

bool MpiTransport::layout(const std::size_t* bytes, std::vector<int>& counts, std::vector<int>& offsets) {
  std::size_t at = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(leaders_size_); ++r) {
    if (!fits(at + bytes[r])) return false;
    counts[r] = static_cast<int>(bytes[r]);
    offsets[r] = static_cast<int>(at);
    at += bytes[r];
  }
  return true;
}

bool MpiTransport::start(const Operation& o) {
  ++operation_;
  if (stopped()) return false;
  if (begin(o)) return true;
  alarm_.raise(operation_);
  return false;
}

/// Whether another leader has given up the exchange.
bool MpiTransport::stopped() {
  if (!alarm_.stops(operation_)) return false;
  try {
    error_ = "MPI has refused an operation on another node: the library switches itself off on all";
  } catch (const std::bad_alloc&) {
    error_.clear();
  }
  return true;
}

bool MpiTransport::begin(const Operation& o) {
  if (!fits(o.count) || !fits(o.to_previous_bytes) || !fits(o.to_next_bytes)) return false;
  if (o.counts && !layout(o.counts, counts_, offsets_)) return false;
  if (o.sent_counts && !layout(o.sent_counts, sent_counts_, sent_offsets_)) return false;
  const int n = static_cast<int>(o.count);
  const MPI_Op op = o.op == ReduceOp::sum ? MPI_SUM : o.op == ReduceOp::min ? MPI_MIN : MPI_MAX;
  n_requests_ = 1;
  switch (o.type) {
    case Operation::Type::allreduce_int64:
      return ok(PMPI_Iallreduce(MPI_IN_PLACE, o.receive, n, MPI_INT64_T, op, leaders_, requests_), "MPI_Iallreduce");
    case Operation::Type::allreduce_double:
      return ok(PMPI_Iallreduce(MPI_IN_PLACE, o.receive, n, MPI_DOUBLE, op, leaders_, requests_), "MPI_Iallreduce");
    case Operation::Type::allgather:
      return ok(PMPI_Iallgather(o.send, n, MPI_BYTE, o.receive, n, MPI_BYTE, leaders_, requests_), "MPI_Iallgather");
    case Operation::Type::allgatherv:
      return ok(PMPI_Iallgatherv(o.send, n, MPI_BYTE, o.receive, counts_.data(), offsets_.data(), MPI_BYTE, leaders_,
                                 requests_),
                "MPI_Iallgatherv");
    case Operation::Type::gatherv:
      return ok(PMPI_Igatherv(o.send, n, MPI_BYTE, o.receive, counts_.data(), offsets_.data(), MPI_BYTE, o.root,
                              leaders_, requests_),
                "MPI_Igatherv");
    case Operation::Type::alltoallv:
      return ok(PMPI_Ialltoallv(o.send, sent_counts_.data(), sent_offsets_.data(), MPI_BYTE, o.receive, counts_.data(),
                                offsets_.data(), MPI_BYTE, leaders_, requests_),
                "MPI_Ialltoallv");
    case Operation::Type::bcast:
      return ok(PMPI_Ibcast(o.receive, n, MPI_BYTE, o.root, leaders_, requests_), "MPI_Ibcast");
    case Operation::Type::neighbours: {
      const int before = leaders_rank_ > 0 ? leaders_rank_ - 1 : MPI_PROC_NULL;
      const int after = leaders_rank_ + 1 < leaders_size_ ? leaders_rank_ + 1 : MPI_PROC_NULL;
      n_requests_ = 4;
      return ok(PMPI_Irecv(o.from_previous, static_cast<int>(o.from_previous_bytes), MPI_BYTE, before, 1, leaders_,
                           requests_),
                "MPI_Irecv") &&
             ok(PMPI_Irecv(o.from_next, static_cast<int>(o.from_next_bytes), MPI_BYTE, after, 2, leaders_,
                           requests_ + 1),
                "MPI_Irecv") &&
             ok(PMPI_Isend(o.to_next, static_cast<int>(o.to_next_bytes), MPI_BYTE, after, 1, leaders_, requests_ + 2),
                "MPI_Isend") &&
             ok(PMPI_Isend(o.to_previous, static_cast<int>(o.to_previous_bytes), MPI_BYTE, before, 2, leaders_,
                           requests_ + 3),
                "MPI_Isend");
    }
  }
  return false;
}

bool MpiTransport::test(bool& done) {
  int flag = 0;
  const int code = PMPI_Testall(n_requests_, requests_, &flag, MPI_STATUSES_IGNORE);
  done = flag != 0;
  if (!ok(code, "MPI_Testall")) {
    alarm_.raise(operation_);
    return false;
  }
  return done || !stopped();
}

void MpiTransport::progress() {
  int flag = 0;
  // No message with this tag is ever sent on this communicator: the call only advances the host's own messages.
  PMPI_Iprobe(MPI_ANY_SOURCE, 32767, world_, &flag, MPI_STATUS_IGNORE);
}

void MpiTransport::release() {
  if (!alive()) return;
  if (alarm_.sounded())
    leaders_ = MPI_COMM_NULL;  // not freed, because operations on it may be pending
  else
    alarm_.release();
  for (MPI_Comm* comm : {&leaders_, &node_, &world_})
    if (*comm != MPI_COMM_NULL) PMPI_Comm_free(comm);
}

void MpiTransport::stop_listening() {
  if (alive() && !alarm_.sounded()) alarm_.release();
}

bool MpiTransport::alive() const {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace effort::adapters
