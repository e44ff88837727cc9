// Codes the bit planes of all bands: zero-block trees, significance, signs and refinement, each decision with a
// probability learned in its context.  One description serves both directions: Io is RangeEncoder or RangeDecoder.
#pragma once

#include "analytics/codec/band_data.hpp"
#include "analytics/codec/bands.hpp"
#include "analytics/codec/bit_model.hpp"
#include "analytics/codec/range_coder.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace effort::codec {

/// The learned state, shared by all bands of one stream.
class Contexts {
 public:
  static constexpr int class_count = 6, activity_count = 12, parent_count = 4, band_count = 128;

  std::array<BitModel, class_count * parent_count * activity_count> activity;
  std::array<BitModel, class_count * 5 * 5 * 4> pattern;
  std::array<BitModel, band_count * 6> band_activity;
  std::array<BitModel, parent_count * parent_count * activity_count> parents;
  std::array<BitModel, 4 * 4 * 6 * 2> leaf;
  std::array<Mixer, activity_count> activity_mixers;

  std::array<BitModel, class_count * 9> sign;
  std::array<BitModel, 9 * 9> sign_parents;
  std::array<BitModel, band_count * 3> sign_band;
  std::array<Mixer, 1> sign_mixers;

  std::array<BitModel, 3 * 6> refine;
  std::array<BitModel, band_count * 3> refine_band;
  std::array<BitModel, 3 * parent_count> refine_parent;
  std::array<Mixer, 3> refine_mixers;

  std::array<BitModel, 5 * 6 * 3 * 3> node;
  std::array<BitModel, band_count * 4> node_band;
  std::array<BitModel, 8 * 9> node_pattern;
  std::array<BitModel, 6 * 5 * 5> root;
  std::array<BitModel, band_count> root_band;
  std::array<BitModel, 8 * 3> root_run;
  std::array<Mixer, 6> node_mixers;
};

/// Codes plane after plane.  The bands' data contain the magnitudes (encoder) or receive them (decoder).
template <typename Io, typename Q>
class PlaneCoder {
 public:
  /// @param plain  without mixing: several times faster, several per cent larger
  PlaneCoder(Io& io, const Layout& layout, std::vector<BandData<Q>>& data, bool plain);

  /// Plane `p` (0 = finest) of every band.
  void code_plane(int p);

 private:
  void code_band(std::size_t b);
  bool code_root(std::size_t b);
  void code_tree_level(std::size_t b, std::size_t k);
  void code_block_row(std::size_t b, std::size_t leaf_row);
  struct MixedModels;
  void code_row_mixed(std::size_t b, std::size_t row, const MixedModels& models);
  void code_row_fast(std::size_t b, std::size_t row);
  void sort_positions(const std::uint8_t* level);
  template <typename Registers, typename Get, typename Put>
  void code_raw_run(Registers& io, std::size_t count, const Get& get, const Put& put);
  bool decide(bool bit, BitModel& model);
  template <std::size_t N>
  bool decide_mixed(bool bit, const std::array<BitModel*, N>& models, Mixer& mixer);

  /// Neighbouring leaves with coefficients of this plane; fresh: they became significant in it.
  struct Segment {
    std::size_t begin, end;
    bool fresh;
  };

  Io& io_;
  const Layout& layout_;
  std::vector<BandData<Q>>& data_;
  Contexts contexts_;
  std::vector<int> class_;
  std::vector<Segment> segments_;
  std::vector<std::uint8_t> total_, column_, classes_;  ///< context of every column, from its neighbours
  std::vector<std::uint32_t> open_, known_;             ///< columns not yet significant, and the others
  std::size_t open_count_ = 0, known_count_ = 0;
  int plane_ = 0;
  /// Decisions left with mixing.  Mixing costs time, and pays only while little has been learned.
  std::int64_t mixed_left_ = mixed_decisions;
  static constexpr std::int64_t mixed_decisions = 1 << 16;
};

extern template class PlaneCoder<RangeEncoder, std::uint32_t>;
extern template class PlaneCoder<RangeDecoder, std::uint32_t>;
extern template class PlaneCoder<RangeEncoder, std::uint64_t>;
extern template class PlaneCoder<RangeDecoder, std::uint64_t>;

}  // namespace effort::codec
