// Samples that are chosen before their windows.
#pragma once

#include "analytics/sampling/changes.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/window/window.hpp"
#include "runtime/config/settings.hpp"
#include "runtime/node/board.hpp"
#include "runtime/trace/sample_rules.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace effort::engine {

/// Decides from a described window which ranks are in the sample of later ones (AMPL, Gamblin 2009, section 4.3.2), and
/// remembers it until they have ended.  A decision travels with a hint, so all ranks know it at the same step.  It
/// holds from the first window that begins after that step.  With `subset` the same ranks are drawn for all windows
/// until the next decision; with `global` each rank draws by itself in each window, with the probability that was
/// decided (sampling::is_drawn_independently).  Samples allow for the changes of the load that were seen so far, except
/// those of groups.  Until four windows have shown how the load changes, decisions are made after every window.
/// Used by the engine's thread only; the same on all nodes.
class SampleSchedule {
 public:
  /// @param tile  steps of a window
  SampleSchedule(const config::Trace& settings, const std::vector<int>& ranks, int tile)
      : settings_(settings), ranks_(ranks), tile_(tile), probability_(ranks.size()) {}

  bool decides_in_advance() const { return settings_.decides_in_advance(); }
  /// Learns from a window that has ended and been described, before the next decision.
  /// @param first_step  of the window
  void learn(const window::Result& known, const SampleRules& rules, std::int64_t first_step);
  /// Whether the hint due at the end of this step must carry a decision about the sample.
  bool is_due(std::int64_t due) const;
  /// @param known  after a description
  /// @param affordable  the most ranks
  void decide(const window::Result& known, const SampleRules& rules, std::int64_t affordable, std::int64_t due);
  /// The part that local ranks need.
  node::SampleContent content() const { return {from_, probability_}; }
  /// The sample of a window; forgets those of earlier ones.
  /// @param n  ranks of the run
  sampling::DrawnSample of_window(std::int64_t first_step, std::size_t n);

 private:
  struct Decision {
    std::int64_t from;  ///< first step
    sampling::DrawnSample sample;
    double each = 0;         ///< global: probability of every rank
    bool affordable = true;  ///< not drawn smaller for want of room
    bool guided = true;      ///< from the guiding metric, which not every window has
    bool counted = false;    ///< changes are counted from its loads
  };
  /// The decision for a window, null if there is none; forgets those of earlier ones.
  const Decision* of(std::int64_t first_step);
  void size_sample(Decision& decision, std::span<const sampling::Target> targets, const SampleRules& rules,
                   std::int64_t affordable);
  std::int64_t next_window(std::int64_t due) const { return (due / tile_ + 1) * tile_; }

  const config::Trace& settings_;
  const std::vector<int>& ranks_;
  const int tile_;
  std::deque<Decision> decisions_;   ///< ascending
  std::int64_t from_ = -1;           ///< of the last decision; -1: none yet
  std::vector<double> probability_;  ///< [n_local]
  std::vector<double> load_;         ///< [ranks] of the last described window; empty: none has ended yet
  sampling::Changes changes_;
  std::int64_t counted_from_ = -1;  ///< first step of the decision from whose loads changes are counted; -1: none yet
  bool counted_guided_ = true;      ///< Decision::guided of that decision
};

}  // namespace effort::engine
