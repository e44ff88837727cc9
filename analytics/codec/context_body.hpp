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
  /// About the RMS error (in any unit) when so many of the last planes are missing.
  std::function<double(int)> error_without;
};

/// @param data  of every band, the first included, with their trees grown; bands without a value need no memory
template <typename Q>
Bytes write_body(const ContextBody& body, std::vector<BandData<Q>>& data);

}  // namespace effort::codec
