// The user's settings, their sources and their allowed values.
#pragma once

#include "analytics/reduction/methods.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace effort::config {

/// The precision of the history.
struct Precision {
  enum class Kind { passes, nrmse, max_bytes } kind = Kind::passes;
  double value = 5;
};

/// When the ranks whose events are kept are chosen: after a window, or before it (AMPL, Gamblin 2009, section 4.3.2).
enum class TraceDesign : std::uint8_t { retrospective, subset, global };

/// Ranges of ranks, first and last, ascending, that neither overlap nor touch.
using RankRanges = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// Ranks with sampling rules of their own.
struct TraceGroup {
  std::string name;
  RankRanges members, pinned;
  double confidence = -1, error = -1;  ///< < 0: as for the whole run
  std::int64_t sample_size = 0;        ///< > 0: this many ranks, pinned ones included
};

/// The trace settings of one region.
struct TracePolicy {
  std::string region;
  double confidence = -1, error = -1;  ///< of its mean time, if one is given; < 0: as for the whole run
  bool trace = true;                   ///< whether its begins and ends are kept
  bool guides() const { return confidence >= 0 || error >= 0; }
};

/// The settings of traces.
struct Trace {
  bool on = false;
  std::int64_t memory = std::int64_t{8} << 20;  ///< bytes per rank for events that have not been read yet
  std::uint32_t relative_ppm = 10'000;          ///< error of time stamps, relative to the time since the previous event
  std::uint32_t absolute_ns = 100;              ///< lower limit of that error; 0: time stamps are exact
  double confidence = 0.90, error = 0.08;       ///< of the mean load estimated from the sample; relative error
  std::int64_t budget = std::int64_t{1} << 20;  ///< bytes per rank of the run and hour
  std::vector<std::int32_t> pinned;             ///< ranks that are always kept, ascending
  TraceDesign design = TraceDesign::retrospective;
  int update = 4;              ///< windows from one decision to the next, for designs that decide in advance
  std::string guide = "load";  ///< METRIC or METRIC@REGION, whose mean the sample estimates
  bool hash_names = false;
  std::optional<reduction::Method> reduce;  ///< of steps that resemble earlier ones; none: all are stored as they are
  std::vector<TraceGroup> groups;           ///< that share no rank
  std::vector<TracePolicy> policies;
  /// Whether ranks learn in advance that they are in the sample.
  bool decides_in_advance() const { return design != TraceDesign::retrospective; }
};

/// All settings, resolved; docs/configuration.md describes each for users.
struct Settings {
  int window = 0;     ///< steps; 0: auto
  int hint_lag = -1;  ///< at most window; < 0: auto
  double rebalance_threshold = 0.1;
  double rebalance_price = -1;    ///< seconds assumed until a price is measured; < 0: unknown
  bool threshold_given = false;   ///< the user has set the threshold: no trial rebalance is recommended
  double rebalance_gain = 0;      ///< minimum share of the coming time that a rebalance must save
  double rebalance_patience = 5;  ///< a rebalance is due once the avoidable loss exceeds this many prices
  std::vector<std::string> metrics = {"time"};
  std::string load_metric = "time";
  bool metrics_per_region = false;  ///< counters are read at every region boundary, not once a step
  bool multiplex = false;           ///< events may take turns on the hardware's counters
  double max_overhead = 0.02;       ///< share of the computing time that measuring may take; 0: no guard
  bool load_threads_sum = false;
  int strata = 0;  ///< 0: auto
  int strata_level = 0;
  std::int64_t snapshot_every = 0;
  std::string snapshot_dir = ".";
  Precision precision;
  bool exact = false;
  Trace trace;
  int ranks_per_node = 0;  ///< 0: all that share memory
  std::string pin = "auto";
  std::string report = "off";
  bool strict = false;
  double hint_timeout = 0;  ///< seconds; 0: off
  bool verbose = false;
  bool disable = false;
  // Settings of the MPI adapter.
  bool pcontrol = false;
  std::vector<std::string> split;  ///< names of MPI calls; empty: all that can block or poll
  std::string step = "auto";       ///< auto, off, or CALL[:N][@WHERE]
  int path_depth = 4;  ///< frames of a call path; 0: one region for all calls and another for the code between them
  bool comm_matrix = false;
  bool comm_waits = false;
  /// Steps of a described window, whose strata, costs and history are shown to the user.
  int tile_steps() const { return window > 0 ? window : 10; }
  std::vector<std::string> notes;  ///< environment variables that look like settings but are not
};

using Pair = std::pair<std::string, std::string>;

/// Checks one key and value without keeping them.
/// @throws Error(config) naming the key, its value and the allowed values; Error(unsupported) for features that this
///         build lacks
void check(const std::string& key, const std::string& value);

/// Applies the defaults, then `given` in order, then the file named by EFFORT_CONFIG, then the environment.  Later
/// values replace earlier ones.
/// @throws Error(config) as above, for the file with its name, line and column; and naming two settings if one source
///         gives several of PASSES, NRMSE and MAX_BYTES
Settings resolve(const std::vector<Pair>& given);

/// Serialises the values that all ranks must share.
std::string to_text(const Settings& settings);
/// Applies the output of to_text().
void apply_text(Settings& settings, const std::string& text);

}  // namespace effort::config
