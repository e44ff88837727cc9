// Writes the body of a context-coded tile: header, table of cuts, coded planes.
#pragma once

#include "analytics/codec/band_data.hpp"
#include "analytics/codec/quantiser.hpp"

#include <functional>
#include <vector>

namespace effort::codec {

struct ContextBody {
  const Layout& layout;
  Trial trial;
  int exponent = 0;       ///< of the matrix
  double nrmse_unit = 1;  ///< scaled, as the trial's errors are
  bool plain = false;     ///< no mixing, no cuts
  /// Approximate RMS error (in any unit), by the number of missing planes.
  std::function<double(int)> error_without;
};

/// @param data  of every band, including the first, with trees filled; empty bands need no memory
template <typename Q>
Bytes write_body(const ContextBody& body, std::vector<BandData<Q>>& data);

}  // namespace effort::codec
