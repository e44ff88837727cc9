// The Communicator of node leaders.  It is built on non-blocking operations, which an Executor starts and tests.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "runtime/exchange/transport.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace effort::exchange {

/// Executes one operation at a time for the background thread, which blocks meanwhile.
class Executor {
 public:
  virtual ~Executor() = default;
  /// @throws CommunicatorError
  virtual void run(const Operation& operation) = 0;
  /// Makes current and later calls of run() throw CommunicatorError.  Any thread.  Only for use once the message
  /// library is gone, because an operation that has begun cannot be cancelled.
  virtual void close() = 0;
  /// As close(), while the message library may still make progress.  A thread in run() whose operation has begun sleeps
  /// there forever, because the operation may still complete in that thread's memory.
  virtual void abandon() = 0;
  /// Whether a thread sleeps in run() forever: after abandon(), or because the exchange is lost.
  virtual bool asleep() const = 0;

  /// Sets what happens if the transport fails.  An operation that has begun may then still complete in the memory of
  /// the thread in run().  That thread therefore calls `tell` with the reason and sleeps until close() is called, or
  /// until `ends` returns true because only this thread keeps the process alive; `ends` is called about once a second.
  /// Then run() throws.  If the functions are not set, run() throws at once.  Call it before the first run().
  void when_lost(std::function<void(const char* why)> tell, std::function<bool()> ends);

 protected:
  explicit Executor(Transport& transport) : transport_(transport) {}
  /// @throws CommunicatorError
  [[noreturn]] void lose();
  [[noreturn]] void sleep_for_ever();

  Transport& transport_;
  std::atomic<bool> closed_{false}, abandoned_{false}, asleep_{false};

 private:
  std::function<void(const char* why)> tell_;
  std::function<bool()> ends_;
};

/// Calls the transport from the background thread itself, which requires MPI_THREAD_MULTIPLE.  It sleeps for increasing
/// intervals between tests, because a spinning background thread would take the core from a rank.
class DirectExecutor final : public Executor {
 public:
  explicit DirectExecutor(Transport& transport) : Executor(transport) {}
  void run(const Operation& operation) override;
  void close() override { closed_.store(true, std::memory_order_release); }
  void abandon() override { abandoned_.store(true, std::memory_order_release); }
  bool asleep() const override { return asleep_.load(std::memory_order_acquire); }
};

/// Passes the operation to the host's thread, which starts and tests it inside the library's own calls.
class Mailbox final : public Executor {
 public:
  explicit Mailbox(Transport& transport) : Executor(transport) {}

  /// Background thread: posts the operation and sleeps until the host's thread has completed it.
  void run(const Operation& operation) override;
  /// Host's thread: starts a posted operation or tests the current one.  Never blocks.
  void drive();
  /// Host's thread: announces that it will not drive operations any more.
  void close() override;
  void abandon() override;
  bool asleep() const override { return asleep_.load() || (abandoned_.load() && state_.load() == active); }

 private:
  enum State : int { empty, posted, active, done, failed };

  const Operation* operation_ = nullptr;
  std::atomic<int> state_{empty};
};

/// Collectives among leaders.  Each is preceded by a small reduction in which every node states whether it has failed
/// and which collective it is about to call.  A node that failed takes part in it once (fail()); all others then throw
/// PeerFailure at the same place, so that none is left waiting.
class LeaderCommunicator final : public Communicator {
 public:
  /// Another node has failed, or the nodes disagree on what to do next.
  class PeerFailure : public CommunicatorError {
   public:
    using CommunicatorError::CommunicatorError;
  };

  /// @param most_bytes  maximum size of one operation, because counts and offsets of MPI are ints
  LeaderCommunicator(Executor& executor, int rank, int size, std::size_t most_bytes = std::size_t{1} << 30)
      : executor_(executor), rank_(rank), size_(size), most_bytes_(most_bytes) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void allreduce(std::span<std::int64_t> values, ReduceOp op) override;
  void allreduce(std::span<double> values, ReduceOp op) override;

  /// Tells the other nodes, at their next collective, that this node has failed.  Does not throw.
  void fail() noexcept;
  /// Bytes that this node has sent so far.

 protected:
  Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) override;
  Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int root) override;
  Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine, std::span<const std::size_t> offsets) override;
  void bcast_bytes(std::span<std::byte> values, int root) override;
  void neighbour_exchange_bytes(std::span<const std::byte> to_previous, std::span<const std::byte> to_next,
                                std::span<std::byte> from_previous, std::span<std::byte> from_next) override;

 private:
  void agree_on(Operation::Type next);
  void gather_sizes(std::vector<std::size_t>& counts);  ///< [size]; this rank's own count is already set
  Gathered<std::byte> gather(std::span<const std::byte> mine, Operation::Type type, int root);
  void alltoallv_piece(std::span<const std::byte> mine, std::span<const std::size_t> offsets, std::size_t at,
                       std::size_t piece, Gathered<std::byte>& out);
  void gather_in_pieces(Operation o, std::span<const std::byte> mine, const std::vector<std::size_t>& counts,
                        Gathered<std::byte>& out);

  Executor& executor_;
  const int rank_, size_;
  const std::size_t most_bytes_;
  bool failed_ = false;
};

}  // namespace effort::exchange
