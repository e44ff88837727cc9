// The load of a run, small enough to look at.
#pragma once

#include <cstdint>
#include <vector>

#include "record/series.hpp"

namespace effort::tools {

/// Mean load per step in cells of neighbouring ranks and steps, in the load metric's unit: the sum over all COMPUTE
/// regions (over all regions if there is none).
struct LoadPicture {
  std::vector<std::int32_t> first_rank;  ///< [rows]
  std::vector<std::int64_t> first_step;  ///< [columns]
  std::vector<double> values;            ///< [rows][columns]
  int level = 0;                         ///< of the approximations it is made from; 0: all values
  std::size_t rows() const { return first_rank.size(); }
  std::size_t cols() const { return first_step.size(); }
};

/// At most `rows` x `cols` cells, made from the coarsest approximations that still resolve them, or from coarser ones
/// if the histories are so long that this would take seconds.  Unmeasured values do not count; a cell without any other
/// is 0. Empty for a run without steps. Kokkos must be initialised.  Errors: as of SeriesReader.
LoadPicture load_picture(record::Reader& reader, const record::SeriesReader& series, std::size_t rows,
                         std::size_t cols);

}  // namespace effort::tools
