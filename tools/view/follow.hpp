// The snapshots of a running job.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::tools {

/// A snapshot file by its name: NAME-JOB-STEP.effort, NAME-JOB-STEP.2.effort.
struct SnapshotFile {
  std::filesystem::path path;
  std::string run;  ///< NAME-JOB
  std::string job;
  std::int64_t step = 0;
  std::filesystem::file_time_type written;
  bool operator==(const SnapshotFile&) const = default;
};

/// The snapshots of one run in a directory, oldest first: of the requested job, else of the run that wrote last.  Other
/// files are ignored.  Errors: std::filesystem::filesystem_error if the directory cannot be read.
std::vector<SnapshotFile> snapshots_in(const std::filesystem::path& directory, const std::string& job);

/// A region's recent load.
struct RegionPace {
  std::string name;
  record::Kind kind = record::Kind::compute;
  std::string phase;
  double lately = 0;      ///< load metric per rank and step since the snapshot before
  double on_average = 0;  ///< the same over the whole run
  double imbalance = 0;   ///< largest / mean - 1 of the ranks' sums over the whole run
  std::int32_t max_rank = 0;
};

/// The changes between two snapshots of a run.
struct Pace {
  std::int64_t since = 0;                    ///< first step that counts as recent
  double steps_per_second = record::absent;  ///< since then
  std::vector<RegionPace> regions;           ///< the largest recent load first
};

/// @param before  an earlier snapshot of the same run; null: all steps count as recent
Pace pace_of(const record::Run& now, const record::Run* before);

}  // namespace effort::tools
