// The information of a snapshot about waits.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/communication/snapshot_traffic.hpp"

namespace effort::tools {

/// Waits, measured with COMM_WAITS, and the time that pairs spent in MPI calls for each other.
struct SnapshotWaits {
  SnapshotTraffic traffic;  ///< without flows if the snapshot has no matrix
  /// [ranks] seconds at collectives that a rank waited, and that others waited for it; or empty
  std::vector<double> waited, delay;
  /// [ranks] seconds that a rank waited for late senders, and that others waited because of it anywhere; empty unless
  /// late senders were followed (COMM_WAITS and TRACE)
  std::vector<double> late_sender, caused;
  std::optional<record::MostAwaited> most;
  std::string most_region;  ///< its region for sentences
  double nrmse = 0;         ///< of the lists, which are from the compressed history
};

/// The largest nrmse of the histories of waits; 0 if there are none.
double waits_nrmse(const record::Run& run, const record::SeriesReader& series);

/// Kokkos must be initialised.  Errors: record::FormatError.
SnapshotWaits snapshot_waits(record::Reader& reader);

/// The keys of waits_json that need the times of single calls are null, and so are others that the snapshot lacks.
nlohmann::ordered_json snapshot_waits_json(const SnapshotWaits& waits);
std::string snapshot_waits_text(const SnapshotWaits& waits, bool all);

}  // namespace effort::tools
