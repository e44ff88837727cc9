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
/// The last few windows are kept uncoded.  Later, when there is time (work()), they are coded as one tile.  Tiles of
/// about equal length are merged four at a time; if the merged tile would itself be merged at once, all these merges
/// are done in one pass.  A value is thus recoded O(log steps) times.  Tiles that will be recoded are coded 256 times
/// finer than the target, and their errors are subtracted from the target in the last coding, so the bound holds for
/// the chain of codings.  A history of constant or zero values costs a few bytes.  One thread at a time may use an
/// instance; different instances are independent.  Movable, not copyable.
class History {
 public:
  /// @param rows    local ranks, >= 1
  /// @param target  bound of every serialisation; errors are relative to the range of all values appended so far;
  ///                passes: of every tile; max_bytes (at least 96): of the whole serialisation
  /// @param max_tile_values  tiles beyond half of this are closed: coded to the target and never recoded.  This bounds
  ///                the memory of merges and of tiles that are not closed (not with max_bytes, which recodes all)
  /// @param united  the history will be coded together with those of other nodes (UnitedHistories), for which closed
  ///                tiles keep 64 times the target's precision
  History(std::size_t rows, const Target& target, std::size_t max_tile_values = std::size_t{1} << 18,
          bool united = false);
  ~History();
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;

  /// Appends `steps` steps of all rows: `block` is row-major [rows][steps], finite.  steps may be 0 and may differ
  /// between calls.  `absent`: empty, or one entry per value, nonzero for absent values (a rank missing for some
  /// steps).  An absent value is not read, reads back as NaN and does not enter ranges and errors.  Errors:
  /// std::invalid_argument (wrong size, NaN or infinity with row and step); the history is then unchanged.  Cost: a
  /// copy.  The coding is left to work(), unless a whole tile is already waiting.
  void append(std::span<const double> block, std::size_t steps, std::span<const std::uint8_t> absent = {});

  /// Does a piece of the pending coding, at most one coding of half to twice max_tile_values; false if nothing was
  /// pending.  Serialised bytes do not depend on calls of work(), because serialising does the rest.
  /// Cost in all: one coding of every value, plus O(log steps) recodings.
  bool work();

  std::size_t rows() const;
  std::size_t steps() const;
  double min() const;  ///< over all present values so far (0 while there are none)
  double max() const;
  bool empty() const;  ///< whether no value is present
  /// Bytes of compressed tiles held in memory.
  std::size_t held_bytes() const;

  /// A self-contained byte string of everything appended so far, within the target, for HistoryReader.  Codings made
  /// for it are kept until tiles merge or the range doubles, so a call costs little more than a copy and the coding of
  /// the last windows (max_bytes: a decoding and coding of everything).
  std::vector<std::byte> serialize() const;
  /// The same with all tiles that are not closed merged: the smallest form, for the end of a run.  Cost: one decoding
  /// and coding of everything not closed.
  std::vector<std::byte> serialize_final() const;

 private:
  friend class HistoryColumns;
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a history in the order of steps, in pieces of any width.  Keeps a reference to the history, which must not
/// change.  Memory: a tile.
class HistoryColumns {
 public:
  explicit HistoryColumns(const History& history);
  /// Writes the next `steps` steps, with NaN for absent values, into rows of `stride` values that start at `to`.
  /// Errors: std::invalid_argument if fewer are left.
  void read(std::size_t steps, double* to, std::size_t stride);
  /// Errors of the values read against those appended, over all steps, in the unit of the values.
  double rms_error() const { return rms_; }
  double max_error() const { return max_; }

 private:
  void load();
  const History::State& state_;
  double rms_ = 0, max_ = 0;
  std::size_t next_ = 0;  ///< tile; the number of tiles stands for the uncoded windows
  std::vector<double> values_;
  std::size_t steps_ = 0, taken_ = 0;  ///< in values_; those already read
};

/// Reads a serialised history.  Keeps a reference to the bytes, which must outlive it.  Errors: CodecError, from
/// the constructor for the header, from read() for the rest.
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
  /// tile].  Memory: one tile (for a history of many nodes, all blocks of the same steps).  More than `max_values`
  /// values in it: CodecError.
  void read_tiles(const std::function<void(std::size_t first_step, const Decoded& tile)>& take,
                  std::size_t max_values = std::size_t{1} << 28) const;

 private:
  MemorySource bytes_;
  BlockIndex index_;
};

}  // namespace effort::codec
