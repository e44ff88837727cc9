// A snapshot as the commands show it: series grouped into regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/run.hpp"
#include "record/series.hpp"

namespace effort::tools {

/// A region in a phase, with its series by metric.
struct RegionRow {
  std::string name;
  record::Kind kind = record::Kind::compute;
  std::string phase;
  std::vector<std::int64_t> series;  ///< [metrics] row of Run::series, -1: not measured
};

/// The regions in the order in which the series name them first.
std::vector<RegionRow> regions_of(const record::Run& run);

/// Largest nrmse of any series (see SeriesReader::nrmse); negative where there is no history.
double largest_nrmse(const record::Run& run, const record::SeriesReader& series);

/// Row of the load metric in Run::metrics; the first where the name is none of them.
std::size_t load_metric_of(const record::Run& run);

/// What ideal balance in every step would save: the run's largest loads less its mean loads.
struct IdealSaving {
  double share = 0;
  /// Of the run's time; else of the critical path, where the load is not elapsed time or that is not known.
  bool of_time = false;
};
/// From the exact sums of the run; none where the file does not hold them or there was no load.  O(1).
std::optional<IdealSaving> ideal_saving(const record::Run& run);

/// The names of the advice bits, "stale, trend".
std::vector<std::string> advice_names(std::uint32_t bits);

}  // namespace effort::tools
