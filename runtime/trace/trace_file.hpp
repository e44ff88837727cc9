// The trace file of a node, or of several nodes that share one.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "record/trace/writer.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace effort::engine {

/// To limit the number of files of a run, consecutive nodes share one, which the first of them writes.  The others pass
/// their chunks on from node to node.  A node with a file of its own writes at once, and pays nothing for the sharing.
/// Used by the engine's thread only.
class TraceFile {
 public:
  static constexpr int most_files = 256;  ///< of a run

  explicit TraceFile(Communicator& nodes, int most = most_files)
      : nodes_(nodes), group_((nodes.size() + most - 1) / most) {}

  /// Creates the file in the directory, if this node writes one.
  /// @param header  describes this node only
  /// Collective.  @throws std::exception if it cannot be created; appended chunks are then lost
  void open(const std::filesystem::path& directory, record::trace::Header header);
  /// Appends a chunk.  @throws std::exception if it cannot be written
  template <typename Chunk>
  void append(const Chunk& chunk) {
    append(record::trace::encode(chunk));
  }
  /// Passes on the chunks that other nodes have appended since the last call.  Collective; blocks on messages and on
  /// the disk.
  /// @throws CommunicatorError, others if something cannot be written
  void flush();
  /// Ends writing, for this node and for others.
  void close() { writer_.reset(); }

  /// Whether this node itself writes the file that holds its chunks.
  bool writes() const { return nodes_.rank() % group_ == 0; }
  /// Whether appended chunks of this node may still reach a file.
  bool good() const { return writes() ? writer_ != nullptr : opened_; }
  /// Bytes of the file that this node writes.
  std::uint64_t size() const { return writer_ ? writer_->size() : 0; }
  /// Bytes that this node has appended.
  std::uint64_t appended() const { return appended_; }

 private:
  void append(const std::vector<std::byte>& chunk);

  Communicator& nodes_;
  const int group_;  ///< nodes of a file
  bool opened_ = false;
  std::uint64_t appended_ = 0;
  std::unique_ptr<record::trace::Writer> writer_;
  std::vector<std::byte> pending_;  ///< of a node without a file of its own
};

}  // namespace effort::engine
