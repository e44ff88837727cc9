// Chooses which of a thread's calls are timed, and how many calls each represents (docs/adr/0014).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace effort::measure {

/// One of every `period` calls of a region is timed; its position is drawn for each block of calls.
struct Sampling {
  std::uint32_t period = 1, position = 0, pick = 0;
  /// A timed call represents the skipped ones only up to this cost, in units of the load.  The cost beyond it counts
  /// once.
  double most = std::numeric_limits<double>::infinity();
};

/// The cost of a thread's timed calls of a region.  Only calls count that are part of the load while the enclosing call
/// is not, or vice versa.  Only the thread writes it.
struct Scatter {
  std::atomic<std::int64_t> calls{0};  ///< timed
  std::atomic<double> sum{0}, square{0};
  std::atomic<std::int64_t> alike{0};  ///< calls whose sampling does not change the load; not in `calls`
};

struct SamplingPlan {
  explicit SamplingPlan(std::uint32_t regions)
      : size(regions),
        calls(std::make_unique<Sampling[]>(regions)),
        apart(std::make_unique<Sampling[]>(regions)),
        scatter(std::make_unique<Scatter[]>(regions)) {}

  std::uint32_t size;  ///< regions from this id on are timed at every call
  int load = -1;       ///< the counter that is the load, among those read at boundaries; -1: ticks
  std::unique_ptr<Sampling[]>
      calls;  ///< [size] used if the region and its parent are both part of the load, or both not
  std::unique_ptr<Sampling[]> apart;   ///< [size] used if only one of them is: errors here are errors of the load
  std::unique_ptr<Scatter[]> scatter;  ///< [size] of the calls that follow `apart`
};

/// The sampling of one thread.
class SlotSampling {
 public:
  // ---- by the thread that ends steps
  /// Offers a plan to the owner, which adopts it at a boundary, and frees those that the owner can no longer use.
  SamplingPlan& offer(std::unique_ptr<SamplingPlan> plan) {
    plans_.push_back(std::move(plan));
    SamplingPlan* const offered = plans_.back().get();
    offered_.store(offered, std::memory_order_seq_cst);
    const SamplingPlan* const used = in_force_.load(std::memory_order_seq_cst);
    std::erase_if(plans_, [&](const auto& p) { return p.get() != offered && p.get() != used; });
    return *offered;
  }
  /// Number of calls that were not timed, counted in whole blocks.  Any thread.
  std::int64_t skips() const noexcept { return skips_.load(std::memory_order_relaxed); }

  // ---- by the owner
  void reset() noexcept {
    offered_.store(nullptr, std::memory_order_relaxed);
    in_force_.store(nullptr, std::memory_order_relaxed);
    skips_.store(0, std::memory_order_relaxed);
    forget_open();
  }
  void seed(std::uint32_t number) noexcept { random_ = 0x9e3779b97f4a7c15u * (number + 1); }
  void take_over() noexcept {
    // Looks again, because offer() may have freed the plan before it could see that it is in use.
    SamplingPlan* plan;
    do {
      plan = offered_.load(std::memory_order_seq_cst);
      in_force_.store(plan, std::memory_order_seq_cst);
    } while (plan != offered_.load(std::memory_order_seq_cst));
  }
  bool active() const noexcept { return plan() != nullptr; }
  bool samples(std::uint32_t region) const noexcept {
    return active() && region < plan()->size && plan()->calls[region].period > 1;
  }

  /// How a call is measured.
  enum class Turn { timed, skipped, weighted };
  /// @param alike  the region and its parent are both part of the load, or both not
  Turn turn_of(std::uint32_t region, bool alike) noexcept {
    SamplingPlan& p = *plan();
    Sampling& calls = (alike ? p.calls : p.apart)[region];
    if (alike) add(p.scatter[region].alike, std::int64_t{1});
    if (!its_turn(calls)) return Turn::skipped;
    if (calls.period <= 1 && (alike || p.calls[region].period <= 1)) return Turn::timed;
    open_ = {calls.period, calls.most, 0, alike ? nullptr : &p.scatter[region]};
    skips_.store(skips_.load(std::memory_order_relaxed) + calls.period - 1, std::memory_order_relaxed);  // whole block
    return Turn::weighted;
  }
  /// Whether turn_of() must be called for a region.
  bool covers(std::uint32_t region) const noexcept { return all_timed_ == 0 && active() && region < plan()->size; }

  void begun(Turn turn) noexcept {
    special_ += turn != Turn::timed;
    all_timed_ += turn == Turn::weighted;
  }
  void ended(Turn turn) noexcept {
    special_ -= turn != Turn::timed;
    all_timed_ -= turn == Turn::weighted;
    if (turn != Turn::weighted || !open_.scatter) return;
    add(open_.scatter->calls, std::int64_t{1});
    add(open_.scatter->sum, open_.cost);
    add(open_.scatter->square, open_.cost * open_.cost);
  }
  /// While a rebalance is priced, every call is timed.
  void time_all(bool all) noexcept {
    special_ += all ? 1u : -1u;
    all_timed_ += all ? 1u : -1u;
  }
  void forget_open() noexcept { special_ = all_timed_ = 0; }
  /// Whether a skipped or weighted call is open, or a rebalance is being priced.
  bool special() const noexcept { return special_ > 0; }
  /// The counter that is the load; -1: ticks.
  int load() const noexcept { return plan()->load; }
  /// How many skipped calls the open weighted one represents.
  std::uint32_t represented() const noexcept { return open_.period - 1; }
  /// Adds an interval to the cost of the open weighted call.  Returns the share of it that the skipped calls are
  /// assumed to have cost as well.
  double spend(double cost) noexcept {
    const double room = open_.most - open_.cost;
    open_.cost += cost;
    return cost <= room ? 1 : std::max(0.0, room / cost);
  }

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
  SamplingPlan* plan() const noexcept { return in_force_.load(std::memory_order_relaxed); }
  template <class T>
  static void add(std::atomic<T>& total, T amount) noexcept {
    total.store(total.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  /// The weighted call that is open.
  struct Open {
    std::uint32_t period = 1;
    double most = 0, cost = 0;
    Scatter* scatter = nullptr;
  };

  std::atomic<SamplingPlan*> offered_{nullptr};
  std::atomic<SamplingPlan*> in_force_{nullptr};
  std::uint32_t special_ = 0;
  /// While this is above 0, no call is skipped: during the pricing of a rebalance, and inside a call that represents
  /// several, because nested weights would multiply, and so would their errors.
  std::uint32_t all_timed_ = 0;
  Open open_;
  std::uint64_t random_ = 0;
  std::atomic<std::int64_t> skips_{0};
  std::vector<std::unique_ptr<SamplingPlan>> plans_;  ///< of the thread that ends steps: offered, and perhaps in force
};

}  // namespace effort::measure
