// A transport among threads of one process, for tests of code that uses a transport.
#pragma once

#include "analytics/comm/thread_group.hpp"
#include "runtime/exchange/leader_communicator.hpp"

#include <numeric>

namespace effort::testing {

/// Runs each operation as a blocking collective of a thread group; start() carries it out, and test() reports it
/// complete.
class ThreadTransport : public exchange::Transport {
 public:
  explicit ThreadTransport(Communicator& group) : group_(group) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  bool any_thread() const override { return true; }
  std::string error() const override { return error_; }
  bool world_min(std::int64_t* v, std::size_t n) override {
    return group_.allreduce(std::span(v, n), ReduceOp::min), true;
  }
  bool world_bcast(void*, std::size_t, int) override { return false; }
  bool world_allgather(const void*, std::size_t, void*) override { return false; }
  bool form_nodes(int, int&, int&, int&) override { return false; }
  bool node_min(std::int64_t*, std::size_t) override { return false; }
  bool node_bcast(void*, std::size_t) override { return false; }
  bool node_allgather(const void*, std::size_t, void*) override { return false; }
  bool form_leaders(bool, int&, int&) override { return false; }

  bool start(const exchange::Operation& o) override {
    using Type = exchange::Operation::Type;
    try {
      switch (o.type) {
        case Type::allreduce_int64:
          group_.allreduce(std::span(static_cast<std::int64_t*>(o.receive), o.count), o.op);
          break;
        case Type::allreduce_double: group_.allreduce(std::span(static_cast<double*>(o.receive), o.count), o.op); break;
        case Type::allgather:
        case Type::allgatherv:
        case Type::gatherv: gather(o); break;
        case Type::alltoallv: alltoallv(o); break;
        case Type::bcast: group_.bcast(std::span(static_cast<std::byte*>(o.receive), o.count), o.root); break;
        case Type::neighbours:
          group_.neighbour_exchange(bytes(o.to_previous, o.to_previous_bytes), bytes(o.to_next, o.to_next_bytes),
                                    writable(o.from_previous, o.from_previous_bytes),
                                    writable(o.from_next, o.from_next_bytes));
          break;
      }
      return true;
    } catch (const std::exception& e) {
      error_ = e.what();
      return false;
    }
  }
  bool test(bool& done) override { return done = true; }
  void progress() override {}
  void release() override {}
  bool alive() const override { return true; }

 private:
  static std::span<const std::byte> bytes(const void* p, std::size_t n) {
    return {static_cast<const std::byte*>(p), n};
  }
  static std::span<std::byte> writable(void* p, std::size_t n) { return {static_cast<std::byte*>(p), n}; }

  void gather(const exchange::Operation& o) {
    const bool all = o.type != exchange::Operation::Type::gatherv;
    auto result = all ? group_.allgatherv(bytes(o.send, o.count)) : group_.gatherv(bytes(o.send, o.count), o.root);
    if (!result.values.empty()) std::memcpy(o.receive, result.values.data(), result.values.size());
  }

  void alltoallv(const exchange::Operation& o) {
    const auto n = static_cast<std::size_t>(size());
    Gathered<std::byte> parts;
    parts.offsets.assign(1, 0);
    std::partial_sum(o.sent_counts, o.sent_counts + n, std::back_inserter(parts.offsets));
    const auto all = bytes(o.send, parts.offsets.back());
    parts.values.assign(all.begin(), all.end());
    const auto result = group_.alltoallv(parts);
    for (std::size_t r = 0; r < n; ++r)
      if (result.offsets[r + 1] - result.offsets[r] != o.counts[r]) throw CommunicatorError("alltoallv: counts differ");
    if (!result.values.empty()) std::memcpy(o.receive, result.values.data(), result.values.size());
  }

  Communicator& group_;
  std::string error_;
};

}  // namespace effort::testing
