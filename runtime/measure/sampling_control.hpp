// The recorder's side of the overhead guard: calls it at intervals and passes its decisions to the threads.
#pragma once

#include "runtime/measure/guard.hpp"
#include "runtime/measure/slot_reader.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace effort::measure {

/// Called by the thread that ends steps.
class SamplingControl {
 public:
  /// @param limit  see Guard; 0: no sampling
  SamplingControl(double limit, std::uint64_t now) : limit_(limit), guard_(limit), look_stamp_(now) {}

  /// Called after each step; runs the guard once every few steps.
  /// @param readers  readers of the session's slots
  /// @param now      end of the step, in ticks
  void step(std::span<SlotReader* const> readers, const StepFrame& frame, const Reading& how, std::uint64_t now,
            Registry& registry);
  /// Adds the seconds that ending a step took.
  void add_fixed(double seconds) noexcept { fixed_ += seconds; }

 private:
  /// The state of a region that the guard samples.  It concerns only the calls whose sampling errors are errors of the
  /// load.
  struct Apart {
    std::uint32_t period = 1;
    double most = 0;       ///< see Sampling::most; 0: without limit
    bool resting = false;  ///< timed at every call at the usual cost, although the guard would sample the region
    bool skips = false;    ///< some calls are not timed, with or without an effect on the load
    int looks_to_rest = 0;
    int next_rest = 1;  ///< in looks
  };

  void look(std::span<SlotReader* const> readers, const StepFrame& frame, const Reading& how, double wall,
            Registry& registry);
  double computing(std::span<SlotReader* const> readers, bool cpu_time_is_read, double wall);
  bool limit_apart(std::span<SlotReader* const> readers, std::span<const std::int64_t> begins, double computing,
                   const PairCost& cost);
  static void judge(Apart& apart, const SlotReader::Calls& seen, std::int64_t per_step, std::uint32_t longest,
                    std::uint32_t least);
  void offer_periods(SlotReader& reader);
  void note_sampling(Registry& registry);

  const double limit_;
  Guard guard_;
  std::uint32_t version_ = 0;  ///< of the periods offered
  std::uint64_t look_stamp_;   ///< time of the guard's last look
  int looked_steps_ = 0;       ///< since then
  double fixed_ = 0;           ///< seconds that ending steps took since then
  double waited_ = 0;  ///< seconds that the stepping thread has waited since then; CPU seconds if the load is CPU time
  std::int64_t looked_cpu_ = 0;  ///< CPU time of that thread at the last look
  std::thread::id stepping_;
  int exhausted_looks_ = 0;   ///< consecutive looks at which the guard was exhausted
  int load_counter_ = -1;     ///< see SamplingPlan::load
  std::vector<Apart> apart_;  ///< [region]
  std::vector<bool> noted_;   ///< [region] whether its sampling is in the notes
  int notes_left_ = 16;
};

}  // namespace effort::measure
