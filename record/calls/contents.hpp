// The contents of files of function calls: streams of entries and returns, and the functions that their ids stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::record::calls {

/// A function, identified by its position in a file of the program.  That is the same on all ranks and in all runs of
/// one build.
struct Function {
  std::uint32_t module = 0;  ///< index in Names::modules
  std::uint64_t offset = 0;  ///< ELF virtual address of its first instruction
};

/// The calls of one thread.
struct Stream {
  std::int64_t rank = -1;      ///< in MPI_COMM_WORLD, -1: unknown
  std::uint64_t process = 0;   ///< id of the process, 0: unknown
  std::uint64_t thread = 0;    ///< of the process, in the order of first calls
  std::uint64_t events = 0;    ///< entries and returns
  std::uint64_t left_out = 0;  ///< calls that occurred but are not in the stream
  std::string label;           ///< such as the name of the file that it was made from
  /// One call in this many has time stamps (effort::calls::StampFinder); 0: none has.
  std::uint32_t stamp_every = 0;
};

/// The functions of the ids, and a list of the streams.
struct Names {
  std::uint32_t width = 2;  ///< bytes of an id in raw streams: 2 or 4
  std::vector<Module> modules;
  std::vector<Function> functions;  ///< of id 1, 2, ...; empty: ids have no names
  std::vector<Stream> streams;
};

/// Takes events of a stream, in several pieces, and the times between those that have a stamp.
/// @param gaps  [stamps among the events, or fewer at the end of the stream] ns since the stamp before; of the first
///              stamp: since the thread's recording began
using TimedSink = std::function<void(std::uint64_t stream, std::span<const std::uint32_t> events,
                                     std::span<const std::uint64_t> gaps)>;

}  // namespace effort::record::calls
