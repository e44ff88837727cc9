// Records of artificial programs: the calls of each rank, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication::test {

/// Ranks with a clock each.  A call takes 100 ns unless stated; ranks never wait.
class Program {
 public:
  explicit Program(std::int32_t ranks);

  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_.size()); }
  std::int64_t now(std::int32_t rank) const { return at(rank).clock_ns; }
  /// Lets time pass on a rank, outside of any call.
  void compute(std::int32_t rank, std::int64_t ns) { at(rank).clock_ns += ns; }
  /// Lets all clocks go on to the latest one.
  void meet();

  void enter(std::int32_t rank, const std::string& function);
  void leave(std::int32_t rank);

  void start_send(std::int32_t rank, std::int32_t to, std::uint64_t bytes = 8);
  void start_receive(std::int32_t rank, std::int32_t from);
  void send(std::int32_t rank, std::int32_t to, std::uint64_t bytes = 8, std::int64_t ns = 100);
  void receive(std::int32_t rank, std::int32_t from, std::int64_t ns = 100);
  void send_receive(std::int32_t rank, std::int32_t to, std::int32_t from, std::uint64_t bytes = 8);
  /// Completes all requests that were started.
  void wait_all(std::int32_t rank, std::int64_t ns = 100);
  /// @param until  when the call ends, on all ranks: 0: 100 ns after its start
  void collective(const std::string& name, Operation operation, const std::vector<std::int32_t>& members,
                  std::int32_t root = -1, std::int64_t until = 0, std::uint64_t bytes = 8);
  /// @param until  [members] when each call ends
  void collective(const std::string& name, Operation operation, const std::vector<std::int32_t>& members,
                  std::int32_t root, const std::vector<std::int64_t>& until, std::uint64_t bytes = 8);

  /// The k-th send of a pair of ranks is received by the k-th receive; what is left over is unmatched.
  Record record() const;

 private:
  struct End {
    std::int32_t sender = 0, receiver = 0;
    std::uint64_t bytes = 0;
    std::uint32_t start = none, done = none;  ///< of the rank's calls
  };
  struct Rank {
    std::int64_t clock_ns = 0;
    std::vector<Call> calls;
    std::vector<std::uint32_t> open;  ///< functions
    std::vector<End> sends, receives;
    std::vector<std::size_t> pending_sends, pending_receives;
  };
  struct Part {
    std::int32_t rank = 0;
    std::uint32_t call = 0;
  };
  struct Together {
    Operation operation = Operation::nxn;
    std::int32_t root = -1;
    std::uint64_t bytes = 0;
    std::vector<Part> parts;
  };

  Rank& at(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(std::int32_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  std::uint32_t region(const std::string& name);
  std::uint32_t call(std::int32_t rank, const std::string& name, Operation operation, std::int64_t ns);

  std::vector<Rank> ranks_;
  std::vector<std::string> regions_;
  std::vector<Together> collectives_;
};

}  // namespace effort::communication::test
