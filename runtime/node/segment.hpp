// The memory that the ranks of one node share: a ring per rank, the hint board, and trace memory per rank.
#pragma once

#include "runtime/node/board.hpp"
#include "runtime/node/offer.hpp"
#include "runtime/node/ring.hpp"
#include "runtime/node/signal.hpp"
#include "runtime/recording/memory.hpp"

#include <sched.h>

#include <cstddef>
#include <memory>

namespace effort::node {

/// The data that a rank reports to its node's leader.
struct RankArea {
  RingControl ring;
  cpu_set_t cpus;                          ///< processing units that the rank may run on
  std::int32_t process;                    ///< process id; 0: unknown
  std::atomic<std::int64_t> merged_steps;  ///< steps that had to share a frame because the ring was full
  std::atomic<std::int64_t> wait_ns;       ///< longest wait for a hint so far, in the current window
  std::atomic<std::int64_t> last_wait_ns;  ///< wait for the last hint
  std::atomic<std::int64_t> measuring_ns;  ///< cost of measuring in the rank's busiest thread
  std::atomic<std::uint32_t> failed;       ///< 1: the rank cannot continue, for the reason below
  char failure[200];
};

/// Start of the segment.  The kernel zeroes it; the leader fills it before any other rank reads it.
struct SegmentHeader {
  std::uint64_t magic;
  Signal work;  ///< ranks to the background thread: something is in a ring
  Signal news;  ///< background thread to ranks: something is on the board
};

/// The capacity of a segment.
struct SegmentShape {
  int n_local = 1;
  BoardShape board;
  std::size_t trace_blocks = 0;  ///< of each rank; 0: nothing is traced
};

/// A node's shared memory, mapped in this process.  Destroying it unmaps.
class Segment {
 public:
  static constexpr std::size_t ring_capacity = std::size_t{1} << 18;

  /// Memory of this process alone.
  static std::unique_ptr<Segment> make_private(const SegmentShape& shape);
  /// Creates memory that the ranks of the node share.  They find it through `offer` during its lifetime.
  /// @throws Error(memory)
  static std::unique_ptr<Segment> create(const SegmentShape& shape, Access access, std::unique_ptr<Offer>& offer);
  /// Maps the memory that another rank created.
  static std::unique_ptr<Segment> attach(const Address& address, const SegmentShape& shape);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  SegmentHeader& header() noexcept { return *reinterpret_cast<SegmentHeader*>(base_); }
  RankArea& rank(int local) noexcept;
  Ring ring(int local) noexcept;
  Board& board() noexcept { return board_; }
  /// The rank's trace memory; false if there is none.
  recording::Memory trace(int local) noexcept;
  int n_local() const noexcept { return shape_.n_local; }
  std::size_t trace_blocks() const noexcept { return shape_.trace_blocks; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  Segment(std::byte* base, std::size_t bytes, const SegmentShape& shape);

  std::byte* base_;
  std::size_t bytes_;
  SegmentShape shape_;
  Board board_;
};

}  // namespace effort::node
