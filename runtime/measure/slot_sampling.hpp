// Chooses which of a thread's calls are timed, and how many calls each represents (docs/adr/0014).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace effort::measure {

/// One of every `period` calls of a region is timed; its position is drawn for each block of calls.
struct Sampling {
  std::uint32_t period = 1, position = 0, pick = 0;
};

struct SamplingPlan {
  explicit SamplingPlan(std::uint32_t regions)
      : size(regions), calls(std::make_unique<Sampling[]>(regions)), apart(std::make_unique<Sampling[]>(regions)) {}

  std::uint32_t size;  ///< regions from this id on are timed at every call
  std::unique_ptr<Sampling[]>
      calls;  ///< [size] used if the region and its parent are both part of the load, or both not
  std::unique_ptr<Sampling[]> apart;  ///< [size] used if only one of them is: errors here are errors of the load
};

/// The sampling of one thread.
class SlotSampling {
 public:
  /// Offers a plan to the owner, which adopts it at a boundary.  Called by the thread that ends steps.
  void offer(std::unique_ptr<SamplingPlan> plan) {
    offered_.store(plan.get(), std::memory_order_release);
    plans_.push_back(std::move(plan));
  }
  /// Number of calls that were not timed, counted in whole blocks.  Any thread.
  std::int64_t skips() const noexcept { return skips_.load(std::memory_order_relaxed); }

  // ---- by the owner
  void reset() noexcept {
    offered_.store(nullptr, std::memory_order_relaxed);
    in_force_ = nullptr;
    skips_.store(0, std::memory_order_relaxed);
    forget_open();
  }
  void seed(std::uint32_t number) noexcept { random_ = 0x9e3779b97f4a7c15u * (number + 1); }
  void take_over() noexcept { in_force_ = offered_.load(std::memory_order_acquire); }
  bool active() const noexcept { return in_force_ != nullptr; }
  bool samples(std::uint32_t region) const noexcept {
    return in_force_ && region < in_force_->size && in_force_->calls[region].period > 1;
  }

  /// How a call is measured.
  enum class Turn { timed, skipped, weighted };
  /// @param alike  the region and its parent are both part of the load, or both not
  Turn turn_of(std::uint32_t region, bool alike) noexcept {
    Sampling& calls = (alike ? in_force_->calls : in_force_->apart)[region];
    if (!its_turn(calls)) return Turn::skipped;
    if (calls.period <= 1) return Turn::timed;
    weight_ = calls.period;
    skips_.store(skips_.load(std::memory_order_relaxed) + calls.period - 1, std::memory_order_relaxed);  // whole block
    return Turn::weighted;
  }
  /// Whether turn_of() must be called for a region.
  bool covers(std::uint32_t region) const noexcept { return all_timed_ == 0 && in_force_ && region < in_force_->size; }

  void begun(Turn turn) noexcept {
    special_ += turn != Turn::timed;
    all_timed_ += turn == Turn::weighted;
  }
  void ended(Turn turn) noexcept {
    special_ -= turn != Turn::timed;
    all_timed_ -= turn == Turn::weighted;
  }
  /// While a rebalance is priced, every call is timed.
  void time_all(bool all) noexcept {
    special_ += all ? 1u : -1u;
    all_timed_ += all ? 1u : -1u;
  }
  void forget_open() noexcept { special_ = all_timed_ = 0; }
  /// Whether a skipped or weighted call is open, or a rebalance is being priced.
  bool special() const noexcept { return special_ > 0; }
  /// How many calls the open weighted call represents.
  std::uint32_t weight() const noexcept { return weight_; }

 private:
  bool its_turn(Sampling& calls) noexcept {
    const bool turn = calls.position == calls.pick;
    if (++calls.position >= calls.period) {
      calls.position = 0;
      calls.pick = draw(calls.period);
    }
    return turn;
  }
  std::uint32_t draw(std::uint32_t below) noexcept {  // xorshift
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::uint32_t>((random_ >> 32) * below >> 32);
  }

  std::atomic<SamplingPlan*> offered_{nullptr};
  SamplingPlan* in_force_ = nullptr;
  std::uint32_t special_ = 0;
  /// While this is above 0, no call is skipped: during the pricing of a rebalance, and inside a call that represents
  /// several, because nested weights would multiply, and so would their errors.
  std::uint32_t all_timed_ = 0;
  std::uint32_t weight_ = 1;
  std::uint64_t random_ = 0;
  std::atomic<std::int64_t> skips_{0};
  std::vector<std::unique_ptr<SamplingPlan>> plans_;  ///< kept by the thread that ends steps
};

}  // namespace effort::measure
