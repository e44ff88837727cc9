#include "analytics/comm/thread_group.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace effort {
namespace {

// One slot per rank holds pointers to the rank's contribution to the present collective.  A collective publishes the
// slot, passes a barrier, reads the other slots and passes a second barrier, which keeps buffers alive while others
// read.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : slots(size), size_(size) {}

  // Lock-free: many waiters that wake up one after the other to take a lock would cost more than the collectives.
  void barrier() {
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    throw_if_broken();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      arrived_.store(0, std::memory_order_relaxed);
      next_generation();
      return;
    }
    generation_.wait(generation, std::memory_order_acquire);
    throw_if_broken();
  }

  void fail(std::exception_ptr error) {
    {
      std::lock_guard lock(mutex_);
      if (!first_error_) first_error_ = std::move(error);
    }
    broken_.store(true, std::memory_order_release);
    next_generation();
  }

  std::exception_ptr first_error() const { return first_error_; }

  struct Slot {
    std::span<const std::byte> first, second;
  };
  std::vector<Slot> slots;

 private:
  void next_generation() {
    generation_.fetch_add(1, std::memory_order_acq_rel);
    generation_.notify_all();
  }
  void throw_if_broken() const {
    if (broken_.load(std::memory_order_acquire)) throw CommunicatorError("another rank of the thread group has failed");
  }

  const int size_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> broken_{false};
  std::mutex mutex_;
  std::exception_ptr first_error_;
};

template <typename T>
T combine(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::min: return std::min(a, b);
    case ReduceOp::max: return std::max(a, b);
    case ReduceOp::sum: break;
  }
  return a + b;
}

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_.slots.size()); }

  void allreduce(std::span<std::int64_t> values, ReduceOp op) override { reduce(values, op); }
  void allreduce(std::span<double> values, ReduceOp op) override {
    if (op == ReduceOp::sum) throw CommunicatorError("floating-point sums depend on the order: use scaled integers");
    reduce(values, op);
  }

 protected:
  Gathered<std::byte> allgatherv_bytes(std::span<const std::byte> mine) override { return gather(mine, true); }
  Gathered<std::byte> gatherv_bytes(std::span<const std::byte> mine, int root) override {
    return gather(mine, root == rank_);
  }

  Gathered<std::byte> alltoallv_bytes(std::span<const std::byte> mine, std::span<const std::size_t> offsets) override {
    publish(mine, std::as_bytes(offsets));
    Gathered<std::byte> out;
    out.offsets.push_back(0);
    for (const auto& slot : group_.slots) {
      const auto* const cuts = reinterpret_cast<const std::size_t*>(slot.second.data()) + rank_;
      const auto part = slot.first.subspan(cuts[0], cuts[1] - cuts[0]);
      out.values.insert(out.values.end(), part.begin(), part.end());
      out.offsets.push_back(out.values.size());
    }
    group_.barrier();
    return out;
  }

  void bcast_bytes(std::span<std::byte> values, int root) override {
    publish(values, {});
    if (rank_ != root) {
      auto source = group_.slots[root].first;
      if (source.size() != values.size()) throw CommunicatorError("bcast: lengths differ between ranks");
      std::copy(source.begin(), source.end(), values.begin());
    }
    group_.barrier();
  }

  void neighbour_exchange_bytes(std::span<const std::byte> to_previous, std::span<const std::byte> to_next,
                                std::span<std::byte> from_previous, std::span<std::byte> from_next) override {
    publish(to_previous, to_next);
    if (rank_ > 0) receive(group_.slots[rank_ - 1].second, from_previous);
    if (rank_ + 1 < size()) receive(group_.slots[rank_ + 1].first, from_next);
    group_.barrier();
  }

 private:
  void publish(std::span<const std::byte> first, std::span<const std::byte> second) {
    group_.slots[rank_] = {first, second};
    group_.barrier();
  }

  static void receive(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.size() != to.size()) throw CommunicatorError("neighbour exchange: lengths differ between ranks");
    std::copy(from.begin(), from.end(), to.begin());
  }

  // Every rank combines all contributions for itself.
  template <typename T>
  void reduce_all(std::span<T> values, ReduceOp op) {
    std::vector<T> result(values.size());
    combine_all<T>(result, 0, op);
    group_.barrier();
    std::copy(result.begin(), result.end(), values.begin());
  }

  // The values of all ranks from `begin` on, in rank order.
  template <typename T>
  void combine_all(std::vector<T>& result, std::size_t begin, ReduceOp op) {
    for (std::size_t r = 0; r < group_.slots.size(); ++r) {
      const T* other = reinterpret_cast<const T*>(group_.slots[r].first.data()) + begin;
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = r == 0 ? other[i] : combine(result[i], other[i], op);
    }
  }

  // Every rank combines one part for all ranks, so the work of a rank does not grow with their number.
  template <typename T>
  void reduce(std::span<T> values, ReduceOp op) {
    publish(std::as_bytes(std::span<const T>(values)), {});
    const auto ranks = static_cast<std::size_t>(size());
    for (const auto& slot : group_.slots)
      if (slot.first.size() != values.size_bytes()) throw CommunicatorError("allreduce: lengths differ between ranks");
    constexpr std::size_t little = 4096;  // bytes up to which a third barrier costs more than it saves
    if (ranks * values.size_bytes() <= little) return reduce_all(values, op);
    const auto cut = [&](std::size_t part) { return values.size() * part / ranks; };
    const std::size_t begin = cut(static_cast<std::size_t>(rank_)), end = cut(static_cast<std::size_t>(rank_) + 1);
    std::vector<T> result(end - begin);
    combine_all<T>(result, begin, op);
    group_.slots[static_cast<std::size_t>(rank_)].second = std::as_bytes(std::span<const T>(result));
    group_.barrier();
    for (std::size_t r = 0; r < ranks; ++r) {
      const T* part = reinterpret_cast<const T*>(group_.slots[r].second.data());
      std::copy(part, part + (cut(r + 1) - cut(r)), values.begin() + static_cast<std::ptrdiff_t>(cut(r)));
    }
    group_.barrier();
  }

  Gathered<std::byte> gather(std::span<const std::byte> mine, bool wanted) {
    publish(mine, {});
    Gathered<std::byte> out;
    if (wanted) {
      out.offsets.push_back(0);
      for (const auto& slot : group_.slots) {
        out.values.insert(out.values.end(), slot.first.begin(), slot.first.end());
        out.offsets.push_back(out.values.size());
      }
    }
    group_.barrier();
    return out;
  }

  ThreadGroup& group_;
  const int rank_;
};

}  // namespace

void run_thread_group(int size, const std::function<void(Communicator&)>& body) {
  ThreadGroup group(size);
  auto run = [&](int rank) {
    try {
      ThreadCommunicator comm(group, rank);
      body(comm);
    } catch (...) {
      group.fail(std::current_exception());
    }
  };
  std::vector<std::thread> threads;
  for (int r = 1; r < size; ++r) threads.emplace_back(run, r);
  run(0);
  for (auto& thread : threads) thread.join();
  if (group.first_error()) std::rethrow_exception(group.first_error());
}

}  // namespace effort
