// Lossy coding of rank-by-step matrices whose rows are spread over nodes, as one.
//
//   auto bytes = effort::codec::encode(nodes, my_rows, n_my_rows, cols, effort::codec::Target::nrmse(0.01));  // on
//   node 0
//
// The coefficients are those of the transform in one place.  What is not zero of them travels to one node of each group
// of nodes, which codes it; as long as that is little, all nodes are one group and the border between them costs
// nothing.
#pragma once

#include "analytics/codec/blocks.hpp"
#include "analytics/codec/codec.hpp"
#include "analytics/codec/spread_coefficients.hpp"
#include "analytics/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace effort::codec {

/// The rows that a node brings, row-major; absent as for EncodeOptions.
struct NodeRows {
  std::span<const double> values;
  std::size_t rows = 0, cols = 0;
  std::span<const std::uint8_t> absent = {};
};

/// What a slab of steps shall reach.
struct SlabGoal {
  Target::Kind kind;
  double value;           ///< passes, RMS error in the unit below, largest error, or bytes
  double nrmse_unit = 0;  ///< what RMS errors are relative to; 0: the range of the slab
};

/// Codes slabs of matrices that are spread over nodes.  All nodes construct one, call add() with their rows of the same
/// matrices in the same order, and in the end code what fell to them.  Kokkos must be initialised.
class SlabCoder {
 public:
  /// What all nodes know of a slab.
  struct Slab {
    std::vector<int> groups;        ///< first node of each group that is a block of its own
    std::vector<std::size_t> rows;  ///< of each block
    std::size_t cols = 0, present = 0;
    Errors errors;          ///< achieved, in the unit of the values
    double nrmse_unit = 1;  ///< what RMS errors are relative to
  };
  /// A block that this node coded.
  struct Block {
    std::size_t slab, group;
    Bytes bytes;
  };

  explicit SlabCoder(Communicator& nodes) : nodes_(nodes) {}

  /// Collective.  Transforms a slab and finds its quantisation.  No node ever holds more of the matrix than a few times
  /// its share, or 4096 values, besides what is not zero after quantisation.
  /// Errors: on all nodes std::invalid_argument where a node's rows hold a NaN or infinity or have another number of
  /// columns, or a bound on the bytes is too small.
  /// Cost per node: as for encode() of its own rows, and some hundred messages between neighbours.
  const Slab& add(const NodeRows& mine, const SlabGoal& goal);

  /// Not collective: codes the blocks that are this node's to code, of all slabs added since the last call.
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
  std::vector<int> finer_groups(const SpreadCoefficients& coefficients, const Own& own, const Goal& goal) const;
  void add_coded(const Own& own, const SlabGoal& wanted, Slab& slab);
  bool leads(const Slab& slab, std::size_t group) const;
  std::vector<Bytes> collect(const Slab& slab, const Bytes& mine) const;
  Bytes start_of(const Own& own, const Slab& slab, StreamKind kind) const;
  std::optional<Trial> step_for_bytes(SpreadCoefficients& coefficients, const Own& own, Slab& slab, double bound) const;
  PendingTile pending(const SpreadCoefficients& coefficients, const Own& own, const Slab& slab,
                      const Trial& trial) const;

  Communicator& nodes_;
  std::vector<Slab> slabs_;
  std::vector<Job> jobs_;
};

/// On node 0 the blocks of all slabs, put in their places; nothing elsewhere.  Collective.
std::vector<SlabBytes> gather_slabs(Communicator& nodes, const std::vector<SlabCoder::Slab>& slabs,
                                    const std::vector<SlabCoder::Block>& blocks);
/// The errors of all slabs as a whole, the RMS one relative to `unit`.
BlockErrors errors_of(std::span<const SlabCoder::Slab> slabs, double unit);

/// Encodes a matrix whose rows are spread over nodes: rank 0's first.  Collective; any number of rows per node, 0
/// included.  Errors as for encode() in one place, on all nodes.
/// @return the stream, on node 0; empty elsewhere.  The same input and the same split of it give the same bytes.
std::vector<std::byte> encode(Communicator& nodes, const NodeRows& mine, const Target& target);

}  // namespace effort::codec
