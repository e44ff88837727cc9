// Recordings (.rec): the files in which libeffort_functions keeps the calls of a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "record/calls/contents.hpp"

namespace effort::record::calls {

/// Whether the bytes begin like a recording.
bool is_recording(std::span<const std::byte> bytes);

/// Of two copies of a recording, the second made after the first: what the first has, without what a process that was
/// running wrote in the meantime.  A copy takes time, so it may have a chunk that was not full yet, and the chunks
/// after it, which were written later.
std::vector<std::byte> settled(std::vector<std::byte> first, std::span<const std::byte> second);

/// A recording, of a process that runs, has ended or was killed.  Bytes are untrusted.  Errors of every member:
/// FormatError, naming file and offset.  Threads: reading from any number at a time.
class RecordingFile {
 public:
  /// @param name  of the file, for messages
  RecordingFile(std::vector<std::byte> bytes, std::string name);

  /// Modules, functions, and a stream for each thread, in the order of their first calls; `events` is unknown (0).  Id
  /// 65535 stands for all functions beyond the number that ids can distinguish.
  const Names& names() const { return names_; }
  /// Chunks that the process took and the file does not have: it was cut short, or could not grow.
  std::uint64_t missing_chunks() const;
  std::size_t bytes() const { return bytes_.size(); }
  /// When the process began to record, ns since 1970.
  std::uint64_t started_unix_ns() const;
  /// Flags of functions (recording::FunctionFlags), by index.
  const std::vector<std::uint32_t>& flags() const { return flags_; }

  /// The events of a stream, in pieces.
  void read(std::size_t stream, const std::function<void(std::span<const std::uint32_t>)>& sink) const;
  /// The same with the times of stamps.
  void read_timed(std::size_t stream, const TimedSink& sink) const;

 private:
  struct Thread {
    std::uint32_t number;
    std::vector<std::size_t> chunks, stamps;  ///< offsets, in order
  };
  [[noreturn]] void refuse(const std::string& problem, std::size_t offset) const;
  void find_chunks();
  void read_modules(std::uint32_t n, const std::vector<std::size_t>& chunks);
  void read_functions(std::uint32_t n, const std::vector<std::size_t>& chunks);

  std::vector<std::byte> bytes_;
  std::string name_;
  Names names_;
  std::vector<std::uint32_t> flags_;
  std::vector<Thread> threads_;
};

}  // namespace effort::record::calls
