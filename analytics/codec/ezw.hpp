// The coder of Gamblin 2009 as the baseline: embedded zerotrees, run lengths, Huffman codes.
#pragma once

#include "analytics/codec/tile.hpp"

namespace effort::codec {

/// The body of an EZW tile (Gamblin 2009, 3.4.2; Shapiro 1993); empty if the goal cannot be reached.  Thresholds
/// are powers of two, so the error may be up to a whole pass below its bound.
TileCode encode_ezw(const Matrix& matrix, const Goal& goal);

struct EzwHeader {
  int exponent = 0;  ///< the last threshold is 2^exponent
  int passes = 0;
  double nrmse = 0, max_error = 0;
};
EzwHeader read_ezw_header(ByteReader& in);
std::vector<double> decode_ezw(const EzwHeader& header, ByteReader& in, std::size_t rows, std::size_t cols,
                               const TileOptions& options);

}  // namespace effort::codec
