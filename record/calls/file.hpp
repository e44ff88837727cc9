// Files of coded calls (.calls), made by `effort calls encode`.  FORMAT.md describes every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analytics/calls/block.hpp"
#include "analytics/calls/gaps.hpp"
#include "analytics/calls/stamps.hpp"
#include "record/calls/contents.hpp"

namespace effort::record::calls {

/// Makes the bytes of a file.  Streams come one after the other.  Threads: one at a time.  Memory: that of a
/// BlockEncoder, and the coded bytes.
class FileMaker {
 public:
  FileMaker();
  /// Appends events to a stream, which is the last one or the next new one.
  /// @param every  the same for all events of a stream: Stream::stamp_every
  /// @param gaps  as of a TimedSink
  void append(std::uint64_t stream, std::span<const std::uint32_t> events, std::uint32_t every = 0,
              std::span<const std::uint64_t> gaps = {});
  /// Ends the file.  names.streams has all streams, whose `events` are set here.
  std::vector<std::byte> finish(Names names);

 private:
  void begin(std::uint64_t stream);
  void end_block();
  void end_times();

  effort::calls::BlockEncoder encoder_;
  effort::calls::GapEncoder times_;
  effort::calls::StampFinder stamps_;  ///< of the last stream
  std::uint32_t stamp_every_ = 0;      ///< of it
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> events_;  ///< by stream
  bool in_block_ = false;
};

/// Whether the bytes begin like such a file.
bool is_calls_file(std::span<const std::byte> bytes);

/// The contents of such a file.  Bytes are untrusted.  Errors of every member: FormatError, naming file and offset.
/// Threads: reading from any number at a time.
class CallsFile {
 public:
  /// @param name  of the file, for messages
  CallsFile(std::vector<std::byte> bytes, std::string name);

  const Names& names() const { return names_; }
  /// All events, stream after stream, in pieces.
  /// @param only  the only stream to read, without the time that the others take
  void read(const effort::calls::EventSink& sink, std::optional<std::uint64_t> only = {}) const;
  /// The same with the times of stamps.
  void read_timed(const TimedSink& sink) const;

 private:
  struct Block {
    std::size_t offset, size;
  };
  /// Stamps of one stream.
  struct Times {
    std::uint64_t stream, stamps;
    Block coded;
  };
  class TimesReader;
  void add_times(std::span<const std::byte> payload, std::size_t offset);
  std::vector<std::byte> bytes_;
  std::string name_;
  Names names_;
  std::vector<Block> blocks_;
  std::vector<Times> times_;                ///< in the order of streams
  std::vector<std::uint32_t> stamp_every_;  ///< by stream
};

}  // namespace effort::record::calls
