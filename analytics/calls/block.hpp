// A block: streams of calls, coded together; common parts are stored once.  FORMAT.md describes every byte.
//
//   BlockEncoder encoder;
//   encoder.begin_run(0);                     // following events belong to stream 0
//   encoder.append(events);                   // an entry is its function's id, a return 0
//   if (encoder.full()) ...                   // end the block, and continue in another one
//   const std::vector<std::byte> bytes = encoder.finish();
//
//   decode_block(bytes, [&](std::uint64_t stream, std::span<const std::uint32_t> events) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analytics/calls/tree.hpp"

namespace effort::calls {

/// Codes streams.  Threads: one at a time.  Memory: bounded, a full block has at most about 200 MB.
class BlockEncoder {
 public:
  /// The following events belong to a stream.  A stream may have several runs; a call that is open at the end of a run
  /// may return in a later one, or never.
  void begin_run(std::uint64_t stream);

  /// Events of the current run: a function's id, which is at least 1, or 0 for a return; returns without calls are
  /// allowed.  Appends as many as the block has room for, and returns their number: fewer than given if it is full.
  std::size_t append(std::span<const std::uint32_t> events);

  /// Returns the bytes of everything appended, and restarts.  Cost: about 100 ns for each distinct call.
  std::vector<std::byte> finish();

 private:
  struct Run {
    std::uint64_t stream, events;
    std::vector<TreeBuilder::Open> open;
    std::vector<Item> items;
  };
  std::uint32_t function_of(std::uint32_t id);
  void end_run();

  TreeBuilder builder_;
  std::vector<Run> runs_;
  std::size_t held_ = 0;                  ///< in runs_
  std::vector<std::uint32_t> ids_;        ///< by function
  std::vector<std::uint32_t> functions_;  ///< function + 1 by hash of the id
};

/// Takes events of a stream; a run's events may come in several pieces.
using EventSink = std::function<void(std::uint64_t stream, std::span<const std::uint32_t> events)>;

/// Decodes a block.  Bytes are untrusted.  Errors: codec::CodecError with the offset in the block; whatever the sink
/// throws.  Memory: bounded.  Cost: linear in the events given to the sink, which may be many more than the bytes.
/// @param most_events  the block is refused if it announces more
/// @param only  the only stream that the sink wants; runs behind its last one are not checked
/// @return the number of events of all streams
std::uint64_t decode_block(std::span<const std::byte> bytes, std::uint64_t most_events, const EventSink& sink,
                           std::optional<std::uint64_t> only = {});

}  // namespace effort::calls
