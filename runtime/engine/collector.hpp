// From the ranks' byte streams to windows of steps.
#pragma once

#include "runtime/engine/names.hpp"
#include "runtime/measure/frame.hpp"
#include "runtime/node/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace effort::engine {

/// A region in a phase, seen by one metric; ids of the node (later of the run).
struct SeriesKey {
  std::uint32_t region, phase, metric;
  auto operator<=>(const SeriesKey&) const = default;
};

/// Who sent to whom, in calls of which region (the node's id).
struct FlowKey {
  std::int32_t source, destination;
  std::uint32_t region;
  auto operator<=>(const FlowKey&) const = default;
};
struct FlowSum {
  double messages = 0, bytes = 0, seconds = 0;
};

/// All that the ranks of a node measured in one window; row-major, steps fastest.
struct WindowBlock {
  std::int64_t first_step = 0;
  int steps = 0;                                      ///< columns of every array
  std::map<SeriesKey, std::vector<double>> series;    ///< [n_local][steps]
  std::vector<double> load, wait, wall;               ///< [n_local][steps] seconds
  std::map<std::uint32_t, std::vector<double>> work;  ///< by unit: [n_local][steps]
  std::map<FlowKey, FlowSum> flows;                   ///< what the MPI adapter saw, where COMM_MATRIX asks for it

  void reset(std::int64_t first, int n_local, int n_steps);
};

/// What a rebalance came to.
struct RebalanceAnswer {
  std::int64_t step;
  /// Seconds, waiting included; of several ranks the smallest.  Rebalancers synchronise: the rank that came last waited
  /// least, and what the others took longer was waiting for it, which is the imbalance and not the price of mending it.
  /// A rank whose callback failed has no say: it may have returned at once.  Negative: unknown.
  double price;
  /// Of ranks whose communication is marked, waiting excluded; the largest: the others wait for that rank.
  double computing;
  std::int32_t answer;
  std::int32_t bracketed;       ///< ranks that bracketed it
  double before = 0, load = 0;  ///< what they had run up of the step's load by then, and its load in all
  /// Joins what another rank says of the same step.
  void add(const RebalanceAnswer& other);
  /// The last step of the old distribution: a host may divide its work anew before it computes a step or after.
  std::int64_t last_old_step() const { return bracketed > 0 && before < 0.5 * load ? step - 1 : step; }
  /// What it cost the run (docs/adr/0018); negative: unknown.
  double seconds() const { return std::max(price, computing); }
};

/// Reads the rings of a node's ranks.  Every rank's stream is read just as far as the window at hand needs: what is
/// known when a window is analysed does not depend on timing.
class Collector {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  Collector(node::Segment& segment, NameUnion& names, int window);

  /// Empties the rings; returns whether anything came.
  bool drain();
  /// Reads all streams up to a step of the window under way, or to their ends.  Returns true when all ranks have
  /// published that step, or are final.
  bool advance(std::int64_t last_step);
  /// The window under way, of which all steps up to advance()'s are complete; after next_window(), the one after it.
  WindowBlock& block() { return current_; }
  void next_window();

  /// Steps that all ranks have ended, once all are final; -1 before.
  std::int64_t final_steps() const;
  /// Steps that each rank has ended so far, and whether it is final.
  std::vector<std::pair<std::int64_t, bool>> steps_of_ranks() const;
  /// The step before which all ranks have asked for the `number`-th explicit snapshot (from 1); none before that.
  std::int64_t snapshot_step(std::int64_t number, std::string& path) const;
  /// Answers that came since the last call, in order of steps; one per step, the largest answer of all ranks.
  std::vector<RebalanceAnswer> take_rebalances();
  /// Step up to which the window under way goes.
  std::int64_t window_end() const { return current_.first_step + window_ - 1; }

 private:
  struct Rank {
    std::vector<std::byte> bytes;
    std::size_t read = 0;
    std::int64_t next_step = 0;  ///< first step not read yet
    std::int64_t final_steps = -1;
    std::int64_t bracketed = -1;  ///< step of a bracketed rebalance whose frame is still to come
    std::array<std::vector<std::uint32_t>, n_definition_kinds> ids;  ///< the rank's ids -> the node's
    std::vector<std::pair<std::int64_t, std::string>> snapshots;
  };

  void read_until(int local, std::int64_t last_step);
  void read_traffic(int local, std::span<const std::byte> record);
  void read_frame(int local, std::span<const std::byte> record);
  void spread(int local, const measure::FrameHeader& h, std::vector<double> WindowBlock::*where, double value);
  std::vector<double>& sized(std::vector<double>& array) const;
  std::uint32_t whole_step();  ///< the region of what is read once a step
  std::uint32_t outside();     ///< the region of application metrics that were given in none
  template <typename Find>
  void spread_to(int local, const measure::FrameHeader& h, double value, const Find& find);

  node::Segment& segment_;
  NameUnion& names_;
  const int window_;
  std::vector<Rank> ranks_;
  WindowBlock current_, next_;
  std::map<std::int64_t, RebalanceAnswer> rebalances_;
};

}  // namespace effort::engine
