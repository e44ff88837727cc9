// The histories of many nodes, coded together at the end of a run.
//
//   effort::codec::UnitedHistories histories(nodes, target);
//   histories.add({&history, rows, 0, steps});   // on every node, series by series
//   auto bytes = histories.finish();             // on node 0: one byte string per series, for HistoryReader
#pragma once

#include "analytics/codec/history.hpp"
#include "analytics/codec/slab_coder.hpp"

namespace effort::codec {

/// One node's part of a series.
struct HistoryShare {
  const History* history = nullptr;  ///< none: all its values are zero
  std::size_t rows = 0;              ///< of this node
  std::size_t before = 0;            ///< steps before the history's first, in which all its values are zero
  std::size_t steps = 0;             ///< total, the same on all nodes: before + history->steps()
};

/// Codes series one by one, in slabs of steps, each one transform over all nodes (SlabCoder).  The rows of node 0 come
/// first.  All nodes call the same functions in the same order.  Kokkos must be initialised.
class UnitedHistories {
 public:
  /// @param target  error bound of every series, relative to its range over all nodes
  /// @throws std::invalid_argument for a bound on the bytes
  UnitedHistories(Communicator& nodes, const Target& target);

  /// Collective.  The histories may be destroyed when it returns.  The bound holds for the chain of codings: the
  /// present errors of a history's tiles are subtracted.  Errors: std::invalid_argument on all nodes if the numbers of
  /// steps differ.  Memory: a slab's rows of this node, at most 2^19 values (or one column), a few times.  Cost: a
  /// decoding and a coding of the node's values.
  void add(const HistoryShare& mine);

  /// Collective.  Returns the series in the order of add() on node 0, and nothing elsewhere.  The same histories and
  /// the same distribution of rows give the same bytes.
  std::vector<std::vector<std::byte>> finish();

 private:
  /// The series of one add().
  struct Series {
    std::size_t rows = 0;            ///< of all nodes
    std::size_t begin = 0, end = 0;  ///< slabs
    double unit = 1;
    double rms = 0, max = 0;  ///< errors before this coding, in the unit of the values
  };

  Series describe(const HistoryShare& mine, std::size_t& largest) const;
  SlabGoal goal_of(const Series& series) const;
  void code();

  Communicator& nodes_;
  Target target_;
  SlabCoder coder_;
  std::vector<Series> series_;
  std::vector<SlabCoder::Slab> slabs_;
  std::vector<SlabCoder::Block> blocks_;  ///< coded on this node
  std::size_t waiting_ = 0;               ///< slabs that are not coded yet
};

}  // namespace effort::codec
