// Reads snapshot files.  Everything in them is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::record {

/// The bytes are not a snapshot that this version reads: cut, changed, inconsistent, or of a newer format.  what()
/// names file, offset and remedy.
class FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& problem, const std::string& file, std::uint64_t offset, const std::string& remedy);
  /// First byte of the part that was refused.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::uint64_t offset_;
};

/// One entry of a snapshot's table of contents.
struct SectionInfo {
  std::string type;          ///< four characters, see FORMAT.md
  std::uint32_t key = 0;     ///< the node, for types with one section per node
  bool required = false;     ///< a reader that does not know the type must refuse the file
  std::uint64_t offset = 0;  ///< of the section's header in the file
  std::uint64_t stored_bytes = 0;
};

/// A snapshot file or its bytes.  Opening checks header, footer and table of contents.  A section's checksum is
/// verified when the section is read.  Errors of every member: FormatError; std::system_error if the file cannot be
/// read.
/// Memory: O(requested data), and at most a fixed multiple of the file's size.  Threads: one at a time.
class Reader {
 public:
  /// Opens a file; it stays open.
  explicit Reader(const std::filesystem::path& path);
  /// Reads from memory; `name` stands for the file in messages.
  Reader(std::vector<std::byte> bytes, std::string name);
  ~Reader();

  /// Everything but the loads; read at the first call and kept.
  const Run& run();

  /// Reads and checks every section, known or not.
  void verify();

  /// Nodes that contributed compressed histories, ascending; all_nodes alone if those are stored as one.
  std::vector<std::int32_t> nodes() const;
  /// The tiles of one node, or of all_nodes (empty if it has none).  O(their bytes).
  std::vector<Tile> tiles(std::int32_t node);
  /// The exact windows of all nodes, one after the other in file order.  Memory: one window of one node.
  void each_exact(const std::function<void(std::int32_t node, const ExactBlock& block)>& take);

  /// The communication matrix as one node saw it (empty if it was not kept).
  Traffic traffic(std::int32_t node);

  /// The table of contents, in file order.
  const std::vector<SectionInfo>& sections() const noexcept;
  /// File size in bytes.
  std::uint64_t size() const noexcept;
  /// The name of this snapshot in messages.
  const std::string& name() const noexcept;
  /// Major and minor version of the format.
  std::uint16_t format_major() const noexcept;
  std::uint16_t format_minor() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace effort::record
