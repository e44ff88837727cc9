// The data that the page shows before it has decoded anything: profiles over the steps, coarse pictures, similar
// regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analytics/cluster_offline/hierarchical.hpp"
#include "record/run.hpp"
#include "record/series.hpp"

namespace effort::tools {

/// Summary of a series.
struct SeriesSummary {
  std::vector<float> spark_mean;  ///< [spark bins] mean over ranks and the bin's steps, per step
  std::vector<float> spark_max;   ///< [spark bins] largest rank, mean over the bin's steps
  std::uint32_t rows = 0, cols = 0;
  std::vector<float> coarse;  ///< [rows][cols] mean over bins of ranks (by id) and of steps
  std::uint32_t screen_rows = 0, screen_cols = 0;
  std::vector<std::byte> screen;  ///< the same at screen resolution, as a history (codec::History) of that many rows
                                  ///< and steps; empty if the series is decoded quickly
  std::vector<float> rank_total;  ///< [ranks] sum over all steps; empty as `screen`, and if there are too many ranks
};

/// Summary of the load: the load metric over all COMPUTE regions together.
struct LoadSummary {
  std::int64_t steps_per_bin = 1;
  std::vector<float> mean, max;          ///< [bins] over ranks, per step
  std::vector<std::int32_t> worst_rank;  ///< [bins] of the largest sum over the bin
  std::vector<float> rank_total;         ///< [ranks] sum over all steps
  double critical_path = 0;              ///< sum over steps of the largest load
  double mean_path = 0;                  ///< sum over steps of the mean load
  bool exact = false;  ///< `mean`, `max` and their sums are as measured (Run::step_loads); else from the histories,
                       ///< in which peaks are too low
  int level =
      0;  ///< of the approximation that worst_rank and rank_total, and all if not exact, were taken from; 0: all values
  std::uint32_t rows = 0, cols = 0;
  std::vector<float>
      picture;  ///< [rows][cols] as SeriesSummary::coarse, at screen resolution; empty if decoding is fast
};

struct RunSummary {
  std::vector<SeriesSummary> series;  ///< as Run::series
  LoadSummary load;
  std::vector<std::uint32_t> shape_series;  ///< the leaves of `shapes`: rows of Run::series
  cluster::Dendrogram shapes;               ///< by distance of shapes: sqrt(2 - 2 r), r the correlation
};

/// Decodes every series once, on all cores.  Grids have at most `most_values` values, so larger runs are summarised
/// from a coarser level; those held at a time take about a gigabyte.  Kokkos must be initialised.  `progress` is called
/// after every series.  Errors: FormatError.
RunSummary summarise(const record::Run& run, const record::SeriesReader& reader, const std::function<void()>& progress,
                     std::size_t most_values = std::size_t{1} << 25);

/// Replaces the loads of the steps from the histories by the measured ones, if the file holds them.
/// Errors: FormatError.
void use_step_loads(LoadSummary& load, const record::Run& run, const record::SeriesReader& reader);

}  // namespace effort::tools
