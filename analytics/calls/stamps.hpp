// Which calls of a stream have time stamps: at their entry and at their return.  The writer and readers compute them in
// the same way, so the stream need not store them.
#pragma once

#include <cstdint>
#include <vector>

namespace effort::calls {

inline constexpr std::uint32_t most_stamp_every = 1'000'000'000;

/// Each call, or one in `every` on average: at random distances, because regular ones would always hit the same call of
/// a loop.  A schedule in memory of all zeros never stamps.
class StampSchedule {
 public:
  StampSchedule() = default;
  /// @param every  at most most_stamp_every; 0: no call
  explicit StampSchedule(std::uint32_t every) : every_(every) { next(); }

  /// For each call, in their order.
  bool stamps_call() {
    if (--left_ != 0) [[likely]]
      return false;
    next();
    return every_ != 0;
  }

 private:
  /// A distance from 1 to 2 * every - 1 (a linear congruential generator, Knuth's MMIX).
  void next() {
    if (every_ <= 1) {
      left_ = every_;
      return;
    }
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    left_ = 1 + static_cast<std::uint32_t>((state_ >> 32) * (2 * std::uint64_t{every_} - 1) >> 32);
  }

  std::uint32_t every_ = 0, left_ = 0;
  std::uint64_t state_ = 0;
};

/// Finds the events with time stamps in a stream.  Memory: 8 bytes for each open call.
class StampFinder {
 public:
  explicit StampFinder(std::uint32_t every = 0) : schedule_(every) {}

  /// For each event, in their order: whether it has a stamp.
  bool next(std::uint32_t event) {
    if (event != 0) {
      const bool stamped = schedule_.stamps_call();
      open_.push_back({event, stamped});
      context_ = event * 2;
      return stamped;
    }
    if (open_.empty()) return false;
    const Open call = open_.back();
    open_.pop_back();
    context_ = call.function * 2 + 1;
    return call.stamped;
  }
  /// The function and the kind of the last event: what its time depends on.
  std::uint32_t context() const { return context_; }

 private:
  struct Open {
    std::uint32_t function;
    bool stamped;
  };
  StampSchedule schedule_;
  std::vector<Open> open_;
  std::uint32_t context_ = 0;
};

}  // namespace effort::calls
