// Writes a trace file, chunk by chunk.  Complete chunks stay readable if the writer is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/descriptor.hpp"
#include "record/trace/contents.hpp"

namespace effort::record::trace {

/// Encodes a chunk as it is stored in the file.  Nodes that share a file encode their own chunks and send them to the
/// node that writes.  Errors: std::invalid_argument for contents that a reader would refuse.  Threads: any.  Cost:
/// linear.
std::vector<std::byte> encode(const Header& header);
std::vector<std::byte> encode(const Names& names);
std::vector<std::byte> encode(const Modules& modules);
std::vector<std::byte> encode(const Dictionary& dictionary);
std::vector<std::byte> encode(const Representatives& representatives);
std::vector<std::byte> encode(const Window& window);
std::vector<std::byte> encode(const Events& events);
std::vector<std::byte> encode(const Clock& clock);
std::vector<std::byte> encode(const End& end);

/// A name in a file that hides names: a hash of it, the same in every run.  A first word that begins with "MPI_" stays,
/// because readers know MPI's calls by their names.
std::string hidden_name(const std::string& name);

/// The file's name: "node-00000.trc"; `node` is the first of its nodes.
std::filesystem::path file_name(std::int32_t node);

/// An open trace file.  Threads: one at a time.
class Writer {
 public:
  /// Creates the file, for its owner only (mode 0600), and missing directories.  Errors: std::invalid_argument;
  /// std::filesystem::filesystem_error, with std::errc::file_exists if there is such a file: it is never overwritten.
  Writer(const std::filesystem::path& path, const Header& header);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Appends chunks that encode() made, whole and, if the system allows it, in one write.  If that fails, the part
  /// already written is removed again, so the file stays readable and a later call may succeed.  Errors:
  /// std::filesystem::filesystem_error (a full disk; the host has closed the descriptor).  Blocks on the disk.
  void append(std::span<const std::byte> chunks);
  template <typename Chunk>
  void append(const Chunk& chunk) requires requires {
    encode(chunk);
  }
  { append(std::span<const std::byte>(encode(chunk))); }

  /// Bytes of the file.
  std::uint64_t size() const { return size_; }

 private:
  bool begin_unnamed(std::span<const std::byte> start);

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace effort::record::trace
