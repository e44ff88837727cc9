// Traces made for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/trace/input/read.hpp"

namespace effort::tools::test {

/// Builds the events of a thread.
class Events {
 public:
  explicit Events(std::int64_t start_ns) : now_(start_ns) {}

  Events& at(std::int64_t time_ns) {
    now_ = time_ns;
    return *this;
  }
  Events& wait(std::int64_t ns) {
    now_ += ns;
    return *this;
  }
  Events& enter(std::uint32_t region) { return add(trace::Kind::enter, region); }
  Events& leave(std::uint32_t region) { return add(trace::Kind::leave, region); }
  Events& step(std::uint64_t number) {
    add(trace::Kind::step, 0);
    events.back().bytes = number;
    return *this;
  }
  /// A send, a receive, or the start or end of one.
  Events& message(trace::Kind kind, std::int32_t peer, std::int32_t tag, std::uint64_t bytes, std::uint32_t request = 0,
                  std::uint32_t communicator = 0);
  Events& request(trace::Kind kind, std::uint32_t number) {
    add(kind, 0);
    events.back().request = number;
    return *this;
  }
  Events& collective(std::int32_t root, std::uint64_t sent, std::uint64_t received, std::uint32_t communicator = 0);
  /// One-sided: to and from a rank, or without bytes a synchronisation with it (-1: with several).
  Events& access(std::int32_t target, std::uint64_t sent, std::uint64_t received, std::uint32_t communicator = 0);
  Events& add(trace::Kind kind, std::uint32_t id);

  std::vector<TraceEvent> events;

 private:
  std::int64_t now_;
};

/// A trace of `ranks` ranks with MPI_COMM_WORLD (0) and an intercommunicator (1) between even and odd ranks, and these
/// regions by index.
enum Region : std::uint32_t { region_step, region_solve, region_send, region_receive, region_waitall, region_reduce };
Trace empty_trace(std::int32_t ranks);

/// Adds a window of `steps` steps that lasts [start, end) ns.
TraceWindow& add_window(Trace& trace, std::int64_t ordinal, std::int64_t start_ns, std::int64_t end_ns,
                        std::int64_t steps = 1);

/// Keeps a rank in the last window, with these events.
void keep(Trace& trace, std::int32_t rank, std::uint16_t reasons, double probability, std::int32_t stratum,
          const Events& events, std::int32_t thread = 0);

/// Four ranks, of which 0, 1 and 3 are kept in two of three windows; messages of all kinds, matched and unmatched.
/// With `all`, every message has both its ends, and all regions are balanced.
Trace small_trace(bool all);

/// Writes the trace as effort does: DIRECTORY/node-*.trc, one file per node, reduced by Trace::reduction, if any.  The
/// clock of node 1 runs `offset_ns` behind that of node 0.
void write_files(const Trace& trace, const std::filesystem::path& directory, std::int64_t offset_ns = 0);

/// Whether some note contains the text.
bool mentions(const std::vector<std::string>& notes, const std::string& text);

}  // namespace effort::tools::test
