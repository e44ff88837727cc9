// Collects the ranks' byte streams into windows of steps.
#pragma once

#include "runtime/collect/names.hpp"
#include "runtime/measure/frame.hpp"
#include "runtime/node/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace effort::engine {

/// Sender, receiver and region of messages.
struct FlowKey {
  std::int32_t source, destination;
  NodeId region;
  std::int32_t size_class;  ///< measure::Flow::size_class
  auto operator<=>(const FlowKey&) const = default;
};
struct FlowSum {
  double messages = 0, bytes = 0, seconds = 0;
};

/// All measurements of a node's ranks in one window; row-major, steps fastest.
struct WindowBlock {
  std::int64_t first_step = 0;
  int steps = 0;                                     ///< columns of every array
  std::map<NodeSeries, std::vector<double>> series;  ///< [n_local][steps]
  std::vector<double> load, wait, wall;              ///< [n_local][steps] seconds
  std::vector<NodeId> phase;                         ///< [n_local][steps]
  std::map<NodeId, std::vector<double>> work;        ///< by unit: [n_local][steps]
  std::map<NodeId, std::vector<double>> calls;       ///< by region: [steps] of all local ranks, if there is a trace
  std::map<FlowKey, FlowSum> flows;                  ///< messages seen by the MPI adapter, if COMM_MATRIX is on
  /// [n_local][steps] seconds that others waited for the rank, and that it spent in such calls without waiting; empty
  /// unless COMM_WAITS is on.
  std::vector<double> delay, transfer;
  /// [steps] with COMM_WAITS: all ranks of the run met at a collective that none leaves before all have arrived.
  std::vector<bool> synchronized;

  void reset(std::int64_t first, int n_local, int n_steps);
};

/// A rank's arrivals at a communicator's collectives in one step.
struct StepArrivals {
  int local;
  std::int64_t step;
  NodeId phase, communicator;
  measure::ArrivalsHeader header;
  std::vector<std::uint64_t> words;
};

/// The region of metrics that are read once a step.
inline measure::Defined whole_step_region() {
  return {measure::Definition::region, 0, measure::Kind::compute, "(step)", ""};
}

/// The outcome of a rebalance.
struct RebalanceAnswer {
  std::int64_t step;
  /// Seconds, including waiting; negative: unknown.  The minimum over ranks is used.  Rebalancing synchronizes the
  /// ranks, so the last rank to arrive waits least.  The additional time of the other ranks is waiting caused by the
  /// imbalance and not part of the price.  A rank whose callback failed is ignored, because it may have returned at
  /// once.
  double price;
  /// Seconds, excluding waiting, on ranks whose communication is marked.  The maximum over ranks is used, because the
  /// others wait for that rank.
  double computing;
  std::int32_t answer;
  std::int32_t bracketed;       ///< number of ranks that bracketed it
  double before = 0, load = 0;  ///< the step's load before the rebalance began, and in total, on those ranks
  /// Combines this with another rank's outcome for the same step.
  void add(const RebalanceAnswer& other);
  /// The last step of the old distribution.  A host may redistribute its work before or after it computes a step.
  std::int64_t last_old_step() const { return bracketed > 0 && before < 0.5 * load ? step - 1 : step; }
  /// Price of the rebalance for the run (docs/adr/0018); negative: unknown.
  double seconds() const { return std::max(price, computing); }
};

/// Reads the rings of a node's ranks.  It reads every rank's stream exactly as far as the current window needs, so that
/// the data of an analysis does not depend on timing.
class Collector {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  Collector(node::Segment& segment, NameUnion& names, int window);
  /// Looks up the node's id for a name that a local rank has published under its own id.  @return false if there is
  /// none
  bool find(int local, measure::Definition what, std::uint32_t id, NodeId& out) const;

  /// Empties the rings; returns whether they held anything.
  bool drain();
  /// Reads all streams up to a step of the current window, or to their ends.  Returns true if every rank has published
  /// that step or is final.
  bool advance(std::int64_t last_step);
  /// The current window, which is complete up to advance()'s step; after next_window(), the following one.
  WindowBlock& block() { return current_; }
  void next_window();

  /// Number of steps that all ranks have ended, once all are final; -1 before.
  std::int64_t final_steps() const;
  /// Number of steps that each rank has ended so far, and whether it is final.
  std::vector<std::pair<std::int64_t, bool>> steps_of_ranks() const;
  /// The step before which all ranks have asked for the `number`-th explicit snapshot (from 1); `none` while some rank
  /// has not.
  std::int64_t snapshot_step(std::int64_t number, std::string& path) const;
  /// Outcomes since the last call, in order of steps: one per step, with the largest answer of all ranks.
  std::vector<RebalanceAnswer> take_rebalances();
  /// Arrivals of the steps that have been read since the last call.
  std::vector<StepArrivals> take_arrivals() { return std::exchange(arrivals_, {}); }
  /// Last step of the current window.
  std::int64_t window_end() const { return current_.first_step + window_ - 1; }

 private:
  struct Rank {
    std::vector<std::byte> bytes;
    std::size_t read = 0;
    std::int64_t next_step = 0;  ///< first step not read yet
    std::int64_t final_steps = -1;
    std::int64_t bracketed = -1;  ///< step of a bracketed rebalance whose frame is still to come
    std::array<std::vector<NodeId>, n_definition_kinds> ids;  ///< the rank's ids -> the node's
    std::vector<std::pair<std::int64_t, std::string>> snapshots;
    std::vector<StepArrivals> arrivals;  ///< of the step whose frame is still to come
  };

  void read_until(int local, std::int64_t last_step);
  void read_arrivals(int local, std::span<const std::byte> record);
  void read_traffic(int local, std::span<const std::byte> record);
  void read_frame(int local, std::span<const std::byte> record);
  void read_calls(int local, const measure::FrameHeader& h, NodeId region, double calls);
  void divide(int local, const measure::FrameHeader& h, std::vector<double> WindowBlock::*where, double value);
  std::vector<double>& sized(std::vector<double>& array) const;
  NodeId outside();  ///< the region of application metrics that were added outside all regions
  template <typename Visit>
  void for_each_step(int local, const measure::FrameHeader& h, const Visit& visit);
  template <typename Find>
  void divide_to(int local, const measure::FrameHeader& h, double value, const Find& find);

  node::Segment& segment_;
  NameUnion& names_;
  const int window_;
  std::vector<Rank> ranks_;
  WindowBlock current_, next_;
  std::map<std::int64_t, RebalanceAnswer> rebalances_;
  std::vector<StepArrivals> arrivals_;
};

}  // namespace effort::engine
