// What the formats of `effort export` share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/snapshot/series.hpp"
#include "tools/snapshot_view.hpp"

namespace effort::tools {

/// What is to be exported.
struct Selection {
  snapshot::Reader& reader;
  const snapshot::SeriesReader& series;
  std::vector<RegionRow> regions;    ///< those asked for
  std::vector<std::size_t> metrics;  ///< rows of Run::metrics asked for
  int level = 0;
  bool exact = false;                ///< the values stored beside instead of the histories

  /// One region's loads; zeros where it was not measured by that metric.
  snapshot::Grid grid(const RegionRow& region, std::size_t metric) const;
};

/// One line per region, rank and step: metric,region,kind,phase,rank,step,value.
void export_csv(const Selection& selection, const std::filesystem::path& path);
/// DIR/METRIC.npy, shape regions x ranks x steps, and DIR/axes.json.
void export_npy(const Selection& selection, const std::filesystem::path& directory);

}  // namespace effort::tools
