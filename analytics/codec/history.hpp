// The growing compressed history of one series (region and metric) on one node.
#pragma once

#include "analytics/codec/blocks.hpp"
#include "analytics/codec/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace effort::codec {

/// A rank-by-step matrix that grows by windows of steps and is kept compressed.
///
/// The last few windows are kept as they are; then they are coded as one tile (when there is time for it: work()), and
/// tiles of about equal length are merged four at a time (and where the result would be merged at once, with what it
/// would be merged with), so that a value is recoded O(log steps) times.  Tiles under way are coded 256 times finer
/// than the target asks, and what their error adds is subtracted from the target at the end: the bound holds for the
/// whole chain of codings.  A history of constant or zero values costs a few bytes.
/// One thread at a time may use an instance; different instances are independent.  Movable, not copyable.
class History {
 public:
  /// @param rows    local ranks, >= 1
  /// @param target  bound of every serialisation; errors are relative to the range of all values appended so far;
  ///                passes: of every tile; max_bytes (at least 96): of the whole serialisation
  /// @param max_tile_values  tiles beyond half of this are closed: they are coded to the target and never recoded,
  /// which
  ///                bounds the memory of merges and of tiles under way (not with max_bytes, which recodes everything)
  /// @param shared  the history is going to be coded as one with those of other nodes (SharedHistories): closed tiles
  ///                keep 64 times the target's precision for it
  History(std::size_t rows, const Target& target, std::size_t max_tile_values = std::size_t{1} << 18,
          bool shared = false);
  ~History();
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;

  /// Appends `steps` steps of all rows: `block` is row-major [rows][steps], finite.  steps may be 0 and may differ
  /// between calls.  `absent`: empty, or one entry per value; not 0 marks a value that does not exist (a rank that is
  /// missing for some steps): it is not read, reads back as NaN and takes no part in ranges and errors.
  /// Errors: std::invalid_argument (wrong size, NaN or infinity with row and step), after which the history is as
  /// before.  Cost: a copy; the coding is left to work(), unless a whole tile waits for it already.
  void append(std::span<const double> block, std::size_t steps, std::span<const std::uint8_t> absent = {});

  /// Does a piece of the coding that is due, at most one coding of half of max_tile_values to twice that; false where
  /// nothing was.  What is serialised does not depend on when it is called, or whether: serialising does what is left.
  /// Cost in all: one coding of every value, plus O(log steps) recodings.
  bool work();
  bool has_work() const;

  std::size_t rows() const;
  std::size_t steps() const;
  double min() const;  ///< over all present values so far (0 while there are none)
  double max() const;
  bool empty() const;  ///< whether no value is present
  /// Bytes of compressed tiles held in memory.
  std::size_t held_bytes() const;

  /// A self-contained byte string of everything appended so far, within the target, for HistoryReader.  What is coded
  /// for it is kept for later calls until tiles merge or the range doubles, so that a call costs little more than a
  /// copy and the coding of the last windows (max_bytes: a decoding and coding of everything).
  std::vector<std::byte> serialize() const;
  /// The same with all tiles that are not closed merged: the smallest form, for the end of a run.  Cost: one decoding
  /// and coding of everything not closed.
  std::vector<std::byte> serialize_final() const;

 private:
  friend class HistoryColumns;
  struct State;
  std::unique_ptr<State> state_;
};

/// What a history holds, read in the order of steps in pieces of any width.  Keeps a reference to the history, which
/// must not change.  Memory: a tile.
class HistoryColumns {
 public:
  explicit HistoryColumns(const History& history);
  /// Puts the next `steps` steps, NaN where a value is absent, into rows of `stride` values from `to` on.
  /// Errors: std::invalid_argument where fewer are left.
  void read(std::size_t steps, double* to, std::size_t stride);
  /// How far what is read is from what was appended, over all steps, in its unit.
  double rms_error() const { return rms_; }
  double max_error() const { return max_; }

 private:
  void load();
  const History::State& state_;
  double rms_ = 0, max_ = 0;
  std::size_t next_ = 0;  ///< tile; behind the last is what is not coded yet
  std::vector<double> values_;
  std::size_t steps_ = 0, taken_ = 0;  ///< of values_
};

/// Reads a serialised history.  Keeps a reference to the bytes, which must outlive it.  Errors: CodecError, from
/// the constructor for what its header tells, from read() for the rest.
class HistoryReader {
 public:
  explicit HistoryReader(std::span<const std::byte> bytes);

  std::size_t rows() const { return index_.rows; }
  std::size_t steps() const { return index_.cols; }
  double nrmse() const { return index_.errors.nrmse; }          ///< achieved over the whole history, rounded up
  double max_error() const { return index_.errors.max_error; }  ///< achieved largest absolute error, rounded up
  std::size_t tiles() const { return index_.blocks.size(); }

  /// All values, row-major [rows][steps] (of the 2^level times coarser approximation: both rounded up; the tiles'
  /// approximations are joined and resampled to that grid).  More than `max_values` results: CodecError.
  Decoded read(int level = 0, std::size_t max_values = std::size_t{1} << 28) const;

  /// All values in turn, in the order of steps: `take` gets a tile's first step and its values [rows][steps of the
  /// tile]. Memory: one tile (of a history of many nodes, what is stored of the same steps).  More than `max_values`
  /// values in it: CodecError.
  void read_tiles(const std::function<void(std::size_t first_step, const Decoded& tile)>& take,
                  std::size_t max_values = std::size_t{1} << 28) const;

 private:
  MemorySource bytes_;
  BlockIndex index_;
};

}  // namespace effort::codec
