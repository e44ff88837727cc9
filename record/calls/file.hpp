// Files of coded calls (.calls), made by `effort calls encode`.  FORMAT.md describes every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analytics/calls/block.hpp"
#include "record/calls/contents.hpp"

namespace effort::record::calls {

/// Makes the bytes of a file.  Streams come one after the other.  Threads: one at a time.  Memory: that of a
/// BlockEncoder, and the coded bytes.
class FileMaker {
 public:
  FileMaker();
  /// Appends events to a stream, which is the last one or the next new one.
  void append(std::uint64_t stream, std::span<const std::uint32_t> events);
  /// Ends the file.  names.streams has all streams, whose `events` are set here.
  std::vector<std::byte> finish(Names names);

 private:
  void begin(std::uint64_t stream);
  void end_block();

  effort::calls::BlockEncoder encoder_;
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
  void read(const effort::calls::EventSink& sink) const;

 private:
  struct Block {
    std::size_t offset, size;
  };
  std::vector<std::byte> bytes_;
  std::string name_;
  Names names_;
  std::vector<Block> blocks_;
};

}  // namespace effort::record::calls
