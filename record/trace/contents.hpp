// The contents of a trace file: events of the kept ranks of one or more nodes, and why and how these were kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/trace/event.hpp"

namespace effort::record::trace {

using effort::trace::Event;
using effort::trace::Kind;
using effort::trace::Place;
using effort::trace::TimeBound;

/// The run and the file, known before the first window.
struct Header {
  std::string library;               ///< version of effort
  std::string name;                  ///< of the application
  std::string job;                   ///< of the batch job or process
  std::string design;                ///< retrospective, subset or global
  std::string guide;                 ///< the metric that the sample is for
  std::string clock;                 ///< what time stamps count, such as "CLOCK_MONOTONIC of node 0"
  std::int64_t started_unix_ns = 0;  ///< wall clock (since 1970) at which the clock of the first node read zero
  std::int32_t n_ranks = 0;          ///< of the run
  std::int32_t n_nodes = 0;          ///< of the run
  double confidence = 0;             ///< requested, 0 to 1
  double error = 0;                  ///< requested, relative, above 0
  TimeBound bound;                   ///< of all time stamps
  struct Node {
    std::int32_t node = 0;
    std::vector<std::int32_t> ranks;  ///< ascending
  };
  std::vector<Node> nodes;  ///< whose events this file holds, ascending
  std::string reduction;    ///< the method by which steps are reduced, such as "avgWave:0.2"; empty: none is
};

/// Names that are new since the last such chunk.  Ids are those of the events, the same on all nodes.
struct Names {
  struct Region {
    std::uint32_t id = 0;
    std::uint8_t kind = 0;     ///< 0 COMPUTE, 1 COMM, 2 WAIT, 3 IO
    std::int64_t parent = -1;  ///< id of the enclosing region of a call path, -1 none
    std::string name;
  };
  struct Phase {
    std::uint32_t id = 0;
    std::string name;
  };
  struct Unit {
    std::uint32_t id = 0;
    std::string name;
  };
  struct Communicator {
    std::uint32_t id = 0;
    std::string name;                   ///< "MPI_COMM_WORLD", or empty
    std::vector<std::int32_t> members;  ///< in MPI_COMM_WORLD, in the order of the communicator's ranks
    std::vector<std::int32_t> remote;   ///< of an intercommunicator: the other group
  };
  std::vector<Region> regions;
  std::vector<Phase> phases;
  std::vector<Unit> units;
  std::vector<Communicator> communicators;
};

/// Programs and libraries that names of regions point into ("MPI_Wait [app+0x1180]"), new since the last such chunk.
struct Modules {
  struct Module {
    std::string name;      ///< base name
    std::string build_id;  ///< hexadecimal; empty if there is none
    std::string path;      ///< on the machine that ran it
  };
  std::vector<Module> modules;
};

/// Why a rank was kept in a window: a set of these.
enum Reason : std::uint16_t {
  reason_sample = 1 << 0,
  reason_medoid = 1 << 1,
  reason_critical = 1 << 2,
  reason_outlier = 1 << 3,
  reason_pin = 1 << 4,
  reason_rebalance = 1 << 5,
  reason_jump = 1 << 6,
  reason_mispredicted = 1 << 7,
  reason_partner = 1 << 8,   ///< on its own: only the messages with kept ranks were kept; never part of an estimate
  reason_snapshot = 1 << 9,  ///< it was still in memory when the host asked for a snapshot
  reason_lost = 1 << 10,     ///< it was still in memory when a rank of the node was lost
};
inline constexpr int n_reasons = 11;
/// "sample", "medoid", ... of the reason 1 << i
const char* reason_text(int i);

/// The part of a window that one node kept.
struct Window {
  std::int32_t node = 0;
  std::int64_t window = 0;  ///< ordinal of the window in the run
  std::int64_t first_step = 0, last_step = 0;
  std::int64_t start_ns = 0, end_ns = 0;  ///< clock of the node; the chunks of the window count from start_ns
  double error = -1;                      ///< relative error reached at the header's confidence, -1 unknown
  double confidence = -1;                 ///< confidence reached at the header's error, -1 unknown
  struct Stratum {
    std::int32_t population = 0;  ///< ranks of the run in the stratum
    std::int32_t sample = 0;      ///< how many of them were drawn
  };
  std::vector<Stratum> strata;  ///< of the run, the same on all nodes
  struct Rank {
    std::int32_t rank = 0;
    std::uint16_t reasons = 0;
    double probability = 0;           ///< of being in the sample, 0 if it could not be drawn
    std::int32_t stratum = -1;        ///< -1 none
    std::int64_t dropped_steps = 0;   ///< of this window for which the ring had no room
    std::int64_t dropped_events = 0;  ///< their events, if they were counted
  };
  std::vector<Rank> ranks;  ///< kept ranks of this node, ascending
  struct RegionSum {
    std::uint32_t region = 0;
    std::int64_t ns = 0;      ///< without the regions inside it, 0 or more
    std::int64_t calls = -1;  ///< that began; -1: unknown, as before format 1.6
  };
  /// Measured on all ranks of the run, whether kept or not, times as the history has them; ascending, without regions
  /// that no rank called.  Only one node of a window stores them.
  std::optional<std::vector<RegionSum>> region_sums;
};

/// The coded events of one thread in one window.  A long window may have several, in the order of time.
struct Events {
  std::int32_t node = 0;
  std::int64_t window = 0;
  std::int32_t rank = 0;
  std::int32_t thread = 0;
  std::uint64_t events = 0;      ///< their number, for readers that only count
  std::vector<std::byte> coded;  ///< effort::trace::Encoder::Coded::events
  bool reduced = false;          ///< the chunk is one of encode_reduced()
};

/// A piece of a node's dictionary.  Write it before the chunk that needs it.
struct Dictionary {
  std::int32_t node = 0;
  std::vector<std::byte> coded;  ///< effort::trace::Encoder::Coded::dictionary
};

/// Representatives of a node.  Write them after the dictionary, before the chunk that needs them.
struct Representatives {
  std::int32_t node = 0;
  std::vector<std::byte> coded;  ///< effort::trace::Encoder::Reduced::representatives
};

/// A node's clock against that of node 0.
struct Clock {
  std::int32_t node = 0;
  std::int64_t time_ns = 0;    ///< of the node's clock
  std::int64_t offset_ns = 0;  ///< node 0's clock minus the node's
  std::int64_t bound_ns = 0;   ///< half the round trip: the offset's largest error
};

/// The run has ended regularly, and the trace of this node is complete.
struct End {
  std::int32_t node = 0;
  std::int64_t steps = 0;  ///< of the run
};

}  // namespace effort::record::trace
