// The user's settings: sources, allowed values, defaults.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace effort::config {

/// The precision of the history.
struct Precision {
  enum class Kind { passes, nrmse, max_bytes } kind = Kind::passes;
  double value = 5;
};

/// All settings, resolved; docs/configuration.md describes each for users.
struct Settings {
  int window = 0;     ///< steps; 0: auto
  int hint_lag = -1;  ///< at most window; < 0: auto
  double rebalance_threshold = 0.1;
  double rebalance_price = -1;    ///< seconds assumed until one was measured; < 0: unknown
  bool threshold_given = false;   ///< the user has chosen when to rebalance: nothing is tried
  double rebalance_gain = 0;      ///< least share of the coming time that a rebalance must save
  double rebalance_patience = 5;  ///< prices of avoidable loss after which a rebalance is due
  std::vector<std::string> metrics = {"time"};
  std::string load_metric = "time";
  bool metrics_per_region = false;  ///< counters are read at every region boundary, not once a step
  bool multiplex = false;           ///< events may take turns on the hardware's counters
  double max_overhead = 0.02;       ///< share of the wall time that measuring may take; 0: no guard
  bool load_threads_sum = false;
  int strata = 0;  ///< 0: auto
  int strata_level = 0;
  std::int64_t snapshot_every = 0;
  std::string snapshot_dir = ".";
  Precision precision;
  bool exact = false;
  int ranks_per_node = 0;  ///< 0: all that share memory
  std::string pin = "auto";
  std::string report = "off";
  bool strict = false;
  double hint_timeout = 0;  ///< seconds; 0: off
  bool verbose = false;
  bool disable = false;
  // Of the MPI adapter.
  bool pcontrol = false;
  std::vector<std::string> split;  ///< names of MPI calls; empty: all that can block or poll
  std::string step = "auto";       ///< auto, off, or CALL[:N][@WHERE]
  int path_depth = 4;  ///< frames of a call path; 0: all calls share a region, and what is between them another
  bool comm_matrix = false;
  /// Steps of a described window, whose strata, costs and history a person sees.
  int tile_steps() const { return window > 0 ? window : 10; }
  std::vector<std::string> notes;  ///< what of the environment looks like a setting and is none
};

using Pair = std::pair<std::string, std::string>;

/// Checks one key and value without keeping them.
/// @throws Error(config) naming key, value and what is allowed; Error(unsupported) for what this build lacks
void check(const std::string& key, const std::string& value);

/// Defaults, then `given` in order, then the file named by EFFORT_CONFIG, then the environment; the later replaces.
/// @throws Error(config) as above, for the file with its name, line and column; and where one source gives several of
///         PASSES, NRMSE and MAX_BYTES, naming two of them
Settings resolve(const std::vector<Pair>& given);

/// The values that all ranks must share, as text for serialisation, and back.
std::string to_text(const Settings& settings);
/// Applies what to_text wrote.
void apply_text(Settings& settings, const std::string& text);

}  // namespace effort::config
