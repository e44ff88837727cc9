// Lossy coding of rank-by-step matrices whose rows are distributed over nodes, in slabs of steps (UnitedHistories).
//
// The coefficients are those of the transform of the whole matrix.  One node of each group of nodes receives the
// nonzero ones and codes them.  As long as these are few, all nodes form one group, and borders between groups cost
// nothing.
#pragma once

#include "analytics/codec/blocks.hpp"
#include "analytics/codec/codec.hpp"
#include "analytics/codec/distributed_coefficients.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace effort::codec {

/// The rows of a node, row-major; `absent` as in EncodeOptions.
struct NodeRows {
  std::span<const double> values;
  std::size_t rows = 0, cols = 0;
  std::span<const std::uint8_t> absent = {};
};

/// The goal for a slab of steps.
struct SlabGoal {
  Target::Kind kind;      ///< any but max_bytes
  double value;           ///< passes, RMS error in the unit below, or largest error
  double nrmse_unit = 0;  ///< unit of RMS errors; 0: the range of the slab
};

/// Codes slabs of matrices that are distributed over nodes.  All nodes construct one, call add() with their rows of the
/// same matrices in the same order, and finally code the blocks assigned to them.  Kokkos must be initialised.
class SlabCoder {
 public:
  /// Facts about a slab that all nodes know.
  struct Slab {
    std::vector<int> groups;        ///< first node of each group that is a block of its own
    std::vector<std::size_t> rows;  ///< of each block
    std::size_t cols = 0, present = 0;
    Errors errors;          ///< achieved, in the unit of the values
    double nrmse_unit = 1;  ///< unit of RMS errors
  };
  /// A block that this node coded.
  struct Block {
    std::size_t slab, group;
    Bytes bytes;
  };

  explicit SlabCoder(Communicator& nodes) : nodes_(nodes) {}

  /// Collective.  Transforms a slab and finds its quantisation.  A node holds at most a few times its share of the
  /// matrix (or 4096 values) besides nonzero quantised values.
  /// Errors: std::invalid_argument on all nodes if a node's rows contain a NaN or infinity or differ in the number of
  /// columns.
  /// Cost per node: as for encode() of its own rows, and some hundred messages between neighbours.
  const Slab& add(const NodeRows& mine, const SlabGoal& goal);

  /// Not collective: codes the blocks assigned to this node, of all slabs added since the last call.
  std::vector<Block> code();

 private:
  struct Own;
  struct Job {
    std::size_t slab, group;
    Bytes start;  ///< of the tile
    std::unique_ptr<PendingTile> tile;
  };

  void add_constant(const Own& own, Slab& slab);
  void add_raw(const Own& own, Slab& slab);
  std::vector<int> finer_groups(const DistributedCoefficients& coefficients, const Own& own, const Goal& goal) const;
  void add_coded(const Own& own, const SlabGoal& wanted, Slab& slab);
  bool leads(const Slab& slab, std::size_t group) const;
  std::vector<Bytes> collect(const Slab& slab, const Bytes& mine) const;
  Bytes start_of(const Own& own, const Slab& slab, StreamKind kind) const;
  PendingTile pending(const DistributedCoefficients& coefficients, const Own& own, const Slab& slab,
                      const Trial& trial) const;

  Communicator& nodes_;
  std::vector<Slab> slabs_;
  std::vector<Job> jobs_;
};

/// The blocks of all slabs in order, on node 0; empty elsewhere.  Collective.
std::vector<SlabBytes> gather_slabs(Communicator& nodes, const std::vector<SlabCoder::Slab>& slabs,
                                    const std::vector<SlabCoder::Block>& blocks);
/// The errors of all slabs as a whole, the RMS one relative to `unit`.
BlockErrors errors_of(std::span<const SlabCoder::Slab> slabs, double unit);

}  // namespace effort::codec
