#include "runtime/exchange/leader_communicator.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

namespace effort::exchange {

void Executor::when_lost(std::function<void(const char*)> tell, std::function<bool()> ends) {
  tell_ = std::move(tell);
  ends_ = std::move(ends);
}

void Executor::lose() {
  std::string why;
  try {
    why = transport_.error();
  } catch (const std::bad_alloc&) {
  }
  if (tell_ && !closed_.load() && !abandoned_.load()) {
    tell_(why.c_str());
    asleep_.store(true);
    constexpr int rounds_per_second = 20;
    for (int round = 1; !closed_.load(); ++round) {
      if (abandoned_.load()) sleep_for_ever();
      if (round % rounds_per_second == 0 && ends_()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1000 / rounds_per_second));
    }
    asleep_.store(false);
  }
  throw CommunicatorError(why);
}

void Executor::sleep_for_ever() {
  asleep_.store(true);
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void DirectExecutor::run(const Operation& operation) {
  if (closed_.load(std::memory_order_acquire) || abandoned_.load(std::memory_order_acquire))
    throw CommunicatorError("the process is ending before the exchange has begun");
  if (!transport_.start(operation)) lose();
  auto pause = std::chrono::microseconds(5);
  for (bool done = false;;) {
    if (!transport_.test(done)) lose();
    if (done) return;
    if (closed_.load(std::memory_order_acquire))
      throw CommunicatorError("MPI was finalized before the exchange was complete");
    if (abandoned_.load(std::memory_order_acquire)) sleep_for_ever();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(200));
  }
}

// run() stores state_ and then loads closed_; close() does the reverse.  The same holds for abandoned_ and abandon().
// All these accesses have a single total order, so at least one side sees the other's store.  A thread therefore sleeps
// on only if its operation has begun.
void Mailbox::run(const Operation& operation) {
  operation_ = &operation;
  state_.store(posted);
  int state = posted;
  while ((state = state_.load()) != done && state != failed) {
    if (state == posted && (closed_.load() || abandoned_.load()))
      throw CommunicatorError("the host stopped calling before the exchange has begun");
    state_.wait(state, std::memory_order_acquire);
  }
  state_.store(empty, std::memory_order_relaxed);
  if (state == failed) lose();
}

void Mailbox::drive() {
  int state = state_.load(std::memory_order_acquire);
  if (state == posted) {
    state = transport_.start(*operation_) ? active : failed;
    state_.store(state, std::memory_order_release);
  }
  if (state == active) {
    bool complete = false;
    if (!transport_.test(complete))
      state_.store(failed, std::memory_order_release);
    else if (complete)
      state_.store(done, std::memory_order_release);
    else
      return;
  } else if (state != failed) {
    return;
  }
  state_.notify_all();
}

void Mailbox::close() {
  closed_.store(true);
  int expected = posted;
  if (state_.compare_exchange_strong(expected, failed) || (expected == active && state_.exchange(failed) == active))
    state_.notify_all();
}

void Mailbox::abandon() {
  abandoned_.store(true);
  int expected = posted;
  if (state_.compare_exchange_strong(expected, failed)) state_.notify_all();
}

void LeaderCommunicator::agree_on(Operation::Type next) {
  if (failed_) throw PeerFailure("this node no longer takes part in the exchange");
  if (size_ == 1) return;
  const auto code = static_cast<std::int64_t>(next);
  std::int64_t status[3] = {0, code, -code};  // whether any node has failed; the largest code; minus the smallest
  Operation o;
  o.type = Operation::Type::allreduce_int64;
  o.receive = status;
  o.count = 3;
  executor_.run(o);
  if (status[0] != 0) {
    failed_ = true;
    throw PeerFailure("another node has failed: the library switches itself off on all");
  }
  if (status[1] != -status[2]) {
    failed_ = true;
    throw PeerFailure("the nodes disagree on the next exchange (an error in the library)");
  }
}

void LeaderCommunicator::fail() noexcept {
  if (failed_ || size_ == 1) return;
  failed_ = true;
  try {
    std::int64_t status[3] = {1, 0, 0};
    Operation o;
    o.type = Operation::Type::allreduce_int64;
    o.receive = status;
    o.count = 3;
    executor_.run(o);
  } catch (...) {
    // The exchange itself is broken; the other nodes get their own error from it.
  }
}

void LeaderCommunicator::allreduce(std::span<std::int64_t> values, ReduceOp op) {
  agree_on(Operation::Type::allreduce_int64);
  if (size_ == 1 || values.empty()) return;
  Operation o;
  o.type = Operation::Type::allreduce_int64;
  o.op = op;
  o.receive = values.data();
  o.count = values.size();
  executor_.run(o);
}

void LeaderCommunicator::allreduce(std::span<double> values, ReduceOp op) {
  if (op == ReduceOp::sum) throw CommunicatorError("floating-point sums depend on the order: use scaled integers");
  agree_on(Operation::Type::allreduce_double);
  if (size_ == 1 || values.empty()) return;
  Operation o;
  o.type = Operation::Type::allreduce_double;
  o.op = op;
  o.receive = values.data();
  o.count = values.size();
  executor_.run(o);
}

void LeaderCommunicator::gather_sizes(std::vector<std::size_t>& counts) {
  if (size_ == 1) return;
  const std::size_t mine = counts[static_cast<std::size_t>(rank_)];
  Operation o;
  o.type = Operation::Type::allgather;
  o.send = &mine;
  o.receive = counts.data();
  o.count = sizeof mine;
  executor_.run(o);
}

Gathered<std::byte> LeaderCommunicator::gather(std::span<const std::byte> mine, Operation::Type type, int root) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(size_), mine.size());
  agree_on(type);
  gather_sizes(counts);
  Gathered<std::byte> out;
  const bool receives = type == Operation::Type::allgatherv || root == rank_;
  if (receives) {
    out.offsets.assign(1, 0);
    std::partial_sum(counts.begin(), counts.end(), std::back_inserter(out.offsets));
    out.values.resize(out.offsets.back());
  }
  if (size_ == 1) {
    std::copy(mine.begin(), mine.end(), out.values.begin());
    return out;
  }
  agree_on(type);  // a node that had no memory for the result reports it here
  std::size_t all = 0;
  for (std::size_t c : counts) all += c;
  if (all == 0) return out;
  Operation o;
  o.type = type;
  o.root = root;
  if (all > most_bytes_) {
    gather_in_pieces(o, mine, counts, out);
    return out;
  }
  o.send = mine.data();
  o.receive = out.values.data();
  o.count = mine.size();
  o.counts = counts.data();
  executor_.run(o);
  return out;
}

/// Gathers every node's part in rounds of equal pieces.
void LeaderCommunicator::gather_in_pieces(Operation o, std::span<const std::byte> mine,
                                          const std::vector<std::size_t>& counts, Gathered<std::byte>& out) {
  const std::size_t piece = std::max<std::size_t>(1, most_bytes_ / counts.size());
  const std::size_t longest = *std::max_element(counts.begin(), counts.end());
  std::vector<std::size_t> now(counts.size());
  std::vector<std::byte> received(out.values.empty() ? 0 : piece * counts.size());
  for (std::size_t at = 0; at < longest; at += piece) {
    for (std::size_t r = 0; r < counts.size(); ++r) now[r] = std::min(piece, counts[r] - std::min(at, counts[r]));
    o.count = now[static_cast<std::size_t>(rank_)];
    o.send = o.count > 0 ? mine.data() + at : nullptr;
    o.receive = received.data();
    o.counts = now.data();
    executor_.run(o);
    const std::byte* from = received.data();
    for (std::size_t r = 0; r < counts.size() && !received.empty(); from += now[r++])
      std::copy_n(from, now[r], out.values.data() + out.offsets[r] + std::min(at, counts[r]));
  }
}

Gathered<std::byte> LeaderCommunicator::allgatherv_bytes(std::span<const std::byte> mine) {
  return gather(mine, Operation::Type::allgatherv, 0);
}

Gathered<std::byte> LeaderCommunicator::gatherv_bytes(std::span<const std::byte> mine, int root) {
  return gather(mine, Operation::Type::gatherv, root);
}

Gathered<std::byte> LeaderCommunicator::alltoallv_bytes(std::span<const std::byte> mine,
                                                        std::span<const std::size_t> offsets) {
  constexpr auto type = Operation::Type::alltoallv;
  agree_on(type);
  Gathered<std::byte> out;
  if (size_ == 1) {
    out.values.assign(mine.begin(), mine.end());
    out.offsets = {0, mine.size()};
    return out;
  }
  const auto n = static_cast<std::size_t>(size_);
  std::vector<std::size_t> sent(n), counts(n), words(n, sizeof(std::size_t));
  for (std::size_t r = 0; r < n; ++r) sent[r] = offsets[r + 1] - offsets[r];
  Operation o;
  o.type = type;
  o.send = sent.data();
  o.receive = counts.data();
  o.counts = o.sent_counts = words.data();
  executor_.run(o);
  out.offsets.assign(1, 0);
  std::partial_sum(counts.begin(), counts.end(), std::back_inserter(out.offsets));
  out.values.resize(out.offsets.back());
  agree_on(type);  // a node that had no memory for the result reports it here
  std::int64_t longest = static_cast<std::int64_t>(*std::max_element(sent.begin(), sent.end()));
  o = {};
  o.type = Operation::Type::allreduce_int64;
  o.receive = &longest;
  o.count = 1;
  executor_.run(o);
  const std::size_t piece = std::max<std::size_t>(1, most_bytes_ / n);
  for (std::size_t at = 0; at < static_cast<std::size_t>(longest); at += piece)
    alltoallv_piece(mine, offsets, at, piece, out);
  return out;
}

/// Exchanges `piece` bytes of every part, starting at the offset `at`.
void LeaderCommunicator::alltoallv_piece(std::span<const std::byte> mine, std::span<const std::size_t> offsets,
                                         std::size_t at, std::size_t piece, Gathered<std::byte>& out) {
  const auto n = static_cast<std::size_t>(size_);
  const auto length = [&](std::size_t all) { return std::min(piece, all - std::min(at, all)); };
  std::vector<std::size_t> sent(n), counts(n);
  std::vector<std::byte> from, to;
  from.reserve(mine.size() + 1);  // never null
  for (std::size_t r = 0; r < n; ++r) {
    sent[r] = length(offsets[r + 1] - offsets[r]);
    counts[r] = length(out.offsets[r + 1] - out.offsets[r]);
    const auto part = mine.subspan(offsets[r] + (sent[r] > 0 ? at : 0), sent[r]);
    from.insert(from.end(), part.begin(), part.end());
  }
  const std::size_t received = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  to.reserve(received + 1);
  to.resize(received);
  Operation o;
  o.type = Operation::Type::alltoallv;
  o.send = from.data();
  o.receive = to.data();
  o.counts = counts.data();
  o.sent_counts = sent.data();
  executor_.run(o);
  const std::byte* next = to.data();
  for (std::size_t r = 0; r < n; next += counts[r++])
    std::copy_n(next, counts[r], out.values.data() + out.offsets[r] + (counts[r] > 0 ? at : 0));
}

void LeaderCommunicator::bcast_bytes(std::span<std::byte> values, int root) {
  agree_on(Operation::Type::bcast);
  if (size_ == 1 || values.empty()) return;
  Operation o;
  o.type = Operation::Type::bcast;
  o.root = root;
  for (std::size_t at = 0; at < values.size(); at += o.count) {
    o.receive = values.data() + at;
    o.count = std::min(most_bytes_, values.size() - at);
    executor_.run(o);
  }
}

void LeaderCommunicator::neighbour_exchange_bytes(std::span<const std::byte> to_previous,
                                                  std::span<const std::byte> to_next,
                                                  std::span<std::byte> from_previous, std::span<std::byte> from_next) {
  agree_on(Operation::Type::neighbours);
  if (size_ == 1) return;
  Operation o;
  o.type = Operation::Type::neighbours;
  o.to_previous = to_previous.data();
  o.to_previous_bytes = to_previous.size();
  o.to_next = to_next.data();
  o.to_next_bytes = to_next.size();
  o.from_previous = from_previous.data();
  o.from_previous_bytes = from_previous.size();
  o.from_next = from_next.data();
  o.from_next_bytes = from_next.size();
  executor_.run(o);
}

}  // namespace effort::exchange
