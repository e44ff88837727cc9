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

/// The regions in the order of their first series.
std::vector<RegionRow> regions_of(const record::Run& run);

/// Largest nrmse of any series (see SeriesReader::nrmse); negative if there is no history.
double largest_nrmse(const record::Run& run, const record::SeriesReader& series);

/// Row of the load metric in Run::metrics; the first if none has its name.
std::size_t load_metric_of(const record::Run& run);

/// Mean over the windows with a known value, weighted by their steps; negative if there is none.
double mean_over_windows(const record::Run& run, double record::Window::*value);

/// The excess of the critical path over the mean of all ranks, as a share: of single steps if the run has their sums,
/// because successive imbalances can cancel within a window; else the mean over the windows.  Negative: not known.
double mean_imbalance(const record::Run& run);

/// The saving by ideal balance in every step: the run's largest loads minus its mean loads.
struct IdealSaving {
  double share = 0;
  /// Share of the run's time; or of the critical path, if the load is not elapsed time or that is not known.
  bool of_time = false;
};
/// From the exact sums of the run; none if the file does not hold them or there was no load.  O(1).
std::optional<IdealSaving> ideal_saving(const record::Run& run);

/// The names of the advice bits, "stale, trend".
std::vector<std::string> advice_names(std::uint32_t bits);

}  // namespace effort::tools
