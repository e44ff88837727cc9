// The description of a run in a snapshot: everything but the loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analytics/window/report.hpp"
#include "record/strata_log.hpp"

namespace effort::record {

/// The kind of a region; the values are those of the C API and of the file.
enum class Kind : std::uint8_t { compute = 0, comm = 1, wait = 2, io = 3 };

/// "compute", "comm", "wait" or "io".
const char* kind_name(Kind kind);

/// An unknown number.  Quantities that may be absent are never negative, so a negative value means "unknown" (null in
/// JSON).
inline constexpr double absent = -1;

/// A measured quantity.
struct Metric {
  std::string name;  ///< "time", "cpu_time", a PAPI event, an application's name
  std::string unit;  ///< "s", "1", or as defined by the application
};

/// An executable file or library in the call paths of region names.  Call paths are "MODULE+0xHEX" with its base name;
/// HEX is the return address as an ELF virtual address of the file.
struct Module {
  std::string name;      ///< base name
  std::string path;      ///< full path on the machine that ran it
  std::string build_id;  ///< hexadecimal; empty if there is none
};

/// Sums over the steps of ranks.
struct Totals {
  double total = 0;                ///< over the ranks
  double largest = 0;              ///< of one rank
  std::int32_t largest_rank = -1;  ///< the rank of that sum, the first one of equal sums; -1: no rank has been added

  /// Adds other ranks.
  void add(const Totals& others);
};

/// One measured matrix, ranks x steps: a region in a phase, seen by one metric.  The sums are exact (taken before
/// compression), over all steps.
struct Series {
  std::string region;
  Kind kind = Kind::compute;
  std::string phase;           ///< empty: the run has no phases
  std::uint32_t metric = 0;    ///< index into Run::metrics
  double total = 0;            ///< over ranks and steps, in the metric's unit
  double mean_over_ranks = 0;  ///< total / ranks
  double max_over_ranks = 0;   ///< largest sum over steps of one rank
  std::int32_t max_rank = 0;   ///< the rank of that sum
  double imbalance = 0;        ///< max_over_ranks / mean_over_ranks - 1; 0 when the mean is 0
  double nrmse = absent;       ///< error of the stored history relative to the measured values

  /// Sets the totals from those of all ranks.
  void set_totals(const Totals& of_ranks, std::int32_t ranks);
};

/// One analysis window with its outcome.  `rebalance` and `rebalanced` belong to the window whose loads the hint was
/// made from.
struct Window : window::Report {
  bool rebalanced = false;          ///< the host rebalanced
  std::int64_t rebalanced_at = -1;  ///< step, the last one of several; -1: the host did not rebalance
  std::int64_t rebalances = 0;      ///< how often the host rebalanced; 0 also in files that do not have it
  std::string worst_region_name;    ///< name of `worst_region`, an id that is valid only during the run; empty: unknown
  double wait_seconds = 0;          ///< longest wait of a rank for this window's hint

  std::int64_t times_rebalanced() const { return rebalanced && rebalances == 0 ? 1 : rebalances; }
};

/// Cost of a unit of work, fitted during the run.
struct UnitCost {
  std::string name;
  double seconds_per_unit = absent;
  double error = absent;  ///< standard error, seconds per unit
};

/// Cost of a unit of work in one window.
struct WindowCost {
  std::int64_t first = 0;  ///< first step of the window
  std::string unit;
  double seconds_per_unit = absent;
  double error = absent;  ///< standard error, seconds per unit
};

/// Consecutive ranks of equal speed.
struct SpeedRun {
  std::int32_t count = 0;
  double time = 1;  ///< per unit of work, relative to the typical rank's
};

/// Consecutive ranks on one node.
struct NodeRun {
  std::int32_t node = 0;
  std::int32_t count = 0;
};

/// The description of a run: everything in a snapshot but the loads.  A value type that the caller fills.
struct Run {
  std::string version;  ///< of the library that wrote it, "0.1.0"
  std::string name;     ///< of the application
  std::string job;      ///< batch job or process id
  std::int32_t ranks = 1;
  std::int32_t nodes = 1;
  std::vector<NodeRun> placement;   ///< node of every rank, run-length coded: counts sum to `ranks`
  std::int64_t steps = 0;           ///< completed
  std::int32_t window = 10;         ///< steps
  std::int32_t hint_lag = 2;        ///< steps
  std::string load_metric;          ///< name, one of `metrics`
  double wall_seconds = 0;          ///< from init to this snapshot, largest over ranks
  double critical_path = absent;    ///< sum over all steps of the largest rank's load, in the load metric's unit, exact
  double mean_path = absent;        ///< the same of the mean load: the critical path under ideal balance in every step
  std::int64_t merged_steps = 0;    ///< frames merged into a neighbour because a ring was full
  std::int64_t lost_snapshots = 0;  ///< earlier snapshots that could not be written
  double measuring_seconds = absent;    ///< cost of measuring in the busiest thread of the rank with the highest cost
  std::vector<double> own_cpu_seconds;  ///< [nodes] CPU time of the library itself
  std::vector<std::int64_t> own_bytes;  ///< [nodes] memory of the library itself
  std::vector<Metric> metrics;
  std::vector<Module> modules;  ///< modules named by call paths
  std::vector<Series> series;
  std::vector<Window> windows;
  std::vector<Strata> strata;     ///< of the last window, or of the last few, oldest first
  std::vector<StrataMove> moves;  ///< strata of windows before the last of `strata`, oldest first (StrataLog)
  std::vector<UnitCost> unit_costs;
  std::vector<WindowCost> window_costs;  ///< in the order of the windows; none for windows without a fit
  std::vector<SpeedRun> speeds;          ///< of all ranks in the last window; empty: unknown
  /// The load of every step, much more precise than the histories: codec::History::serialize of two rows, the largest
  /// rank's load and the mean load of all ranks.  Empty: unknown.
  std::vector<std::byte> step_loads;
  std::vector<std::string> notes;  ///< problems and differences from what was requested: "12 steps merged", ...

  /// Sum of own_cpu_seconds over the nodes.
  double own_cpu_seconds_total() const;
  /// How often the host rebalanced.
  std::int64_t times_rebalanced() const;
  /// Time of all ranks in COMPUTE regions over all steps: CPU time if that is the load, else wall time.
  double computing_seconds() const;
  /// The library's own CPU time as a share of computing_seconds(); `absent` if nothing was computed.
  double own_cpu_share() const;
  /// Sets `placement`, `ranks` and `nodes` (largest + 1) from the node of every rank.
  void place(std::span<const std::int32_t> node_of_rank);
  /// Global ids of the ranks of a node, ascending: the rows of that node's tiles.  For all_nodes: node by node.
  /// O(ranks).
  std::vector<std::int32_t> ranks_of_node(std::int32_t node) const;
  /// Number of ranks of a node.  O(runs), no allocation.
  std::int64_t count_of_node(std::int32_t node) const;

 private:
  std::vector<std::int32_t> ranks_by_node() const;
};

/// Stands for all nodes if their histories are stored as one.
inline constexpr std::int32_t all_nodes = -1;

/// The compressed history of one series on one node, or on all.
struct Tile {
  std::uint32_t series = 0;        ///< index into Run::series
  std::int64_t first_step = 0;     ///< step of the history's first column; the series is zero before it
  std::vector<std::byte> history;  ///< by codec::History::serialize, rows = the node's ranks; or by
                                   ///< UnitedHistories, rows = Run::ranks_of_node(all_nodes)
};

/// Uncompressed loads of consecutive steps on one node (EXACT=1).
struct ExactBlock {
  std::int64_t first_step = 0;
  std::int32_t steps = 0;
  std::vector<std::uint32_t> series;  ///< indices into Run::series
  std::vector<double> values;         ///< [series][ranks of the node, ascending][steps]
};

/// Traffic from one rank to another in one window, by calls of one region.
struct Flow {
  std::int64_t window = 0;                   ///< index of the analysis window, from 0
  std::int32_t source = 0, destination = 0;  ///< ranks of MPI_COMM_WORLD
  std::int32_t region = 0;                   ///< index into Traffic::regions
  double messages = 0, bytes = 0, seconds = 0;
  /// The messages have 2^(size_class - 1) to 2^size_class - 1 bytes; 0: they are empty; -1: unknown, or only time.
  std::int32_t size_class = -1;
};

/// The sparse communication matrix of the ranks of one node.  Messages and bytes are counted on one side only, so sums
/// over all nodes are those of the run.
struct Traffic {
  std::vector<std::string> regions;
  std::vector<Flow> flows;  ///< ascending by window
};

/// One node's contribution to a snapshot.
struct NodePart {
  std::int32_t node = 0;
  std::vector<Tile> tiles;
  std::vector<ExactBlock> exact;
  Traffic traffic{};
};

/// Limits of the format; a writer that exceeds one gets std::invalid_argument, a file that does is refused.
inline constexpr std::int64_t max_ranks = std::int64_t{1} << 26;
inline constexpr std::int64_t max_steps = std::int64_t{1} << 40;
inline constexpr std::int64_t max_series = std::int64_t{1} << 20;
inline constexpr std::size_t max_moves = 4096;

/// The rank that the others waited for longest.
struct MostAwaited {
  std::int32_t rank = 0;
  double seconds = 0;  ///< that the others waited for it, summed over them
  double share = 0;    ///< of all such waiting, 0 to 1
  std::string region;  ///< of the regions whose largest load is on this rank, the one in which it exceeds the mean rank
                       ///< most; or empty
  bool followed_back = false;  ///< it caused waiting, also for messages, although others may have arrived last
};
/// The rank that the others waited for longest at collectives.  Known only if the run measured it (COMM_WAITS) and a
/// rank waited.  In a run with phases, the result is that of the phase with the most waiting.
std::optional<MostAwaited> most_awaited(const Run& run);
/// The rank that caused the most waiting, at collectives and for messages, with delays followed back to their cause.
/// Without a trace, the result is that of most_awaited().
std::optional<MostAwaited> most_to_blame(const Run& run);

}  // namespace effort::record
