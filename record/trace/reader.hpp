// Reads a trace file.  Everything in it is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/event.hpp"
#include "record/trace/contents.hpp"

namespace effort::record::trace {

/// A part of the file that was skipped.
struct Problem {
  std::uint64_t offset = 0;  ///< of its first byte
  std::string text;          ///< one sentence: file, offset, what is wrong and what is lost
};

/// An events chunk of the file.
struct EventsInfo {
  std::int32_t node = 0;
  std::int64_t window = 0;
  std::int32_t rank = 0;
  std::int32_t thread = 0;
  std::uint64_t events = 0;  ///< as the writer counted them
  std::uint64_t offset = 0;  ///< of the chunk in the file
  bool reduced = false;      ///< some of its steps have the time stamps of others
};

/// An open trace file.  Opening reads every chunk once, checks its checksum and keeps all but the events.  A damaged
/// chunk is skipped and listed in problems(), and so is a tail that a killed writer left incomplete.
/// Memory: O(everything but the events), at most a fixed multiple of the file's size, and the members of communicators,
/// at most 2^26 in all.  Threads: rebuilt() from any number of threads at a time.
class Reader {
 public:
  /// Errors: record::FormatError if it is not a trace file, its header is damaged, or a newer version wrote it;
  /// std::system_error if it cannot be read.
  explicit Reader(const std::filesystem::path& path);
  /// Reads from memory; `name` stands for the file in messages.
  Reader(std::vector<std::byte> bytes, std::string name);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  const Header& header() const;
  /// All names of the file; the last one with an id counts.
  const Names& names() const;
  /// In the order of the file.
  const std::vector<Modules::Module>& modules() const;
  const std::vector<Window>& windows() const;
  const std::vector<EventsInfo>& chunks() const;
  const std::vector<Clock>& clocks() const;
  /// Of the nodes whose trace is complete.
  const std::vector<End>& ends() const;
  /// Whether the file's version has such ends.
  bool has_ends() const;
  const std::vector<Problem>& problems() const;

  /// The window of a chunk; nullptr if its description is lost.
  const Window* window_of(const EventsInfo& chunk) const;

  /// Decodes a chunk: its events, and how a reduced one was rebuilt.  Errors: record::FormatError with file and offset
  /// (the events, or what they need, are damaged); std::system_error.  Cost: linear in the events.
  effort::trace::Rebuilt rebuilt(const EventsInfo& chunk) const;

  /// Bytes of the file.
  std::uint64_t size() const;
  /// The file's name in messages.
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::record::trace
