// Waits, measured on all ranks during the run, for the page on communication.
#pragma once

#include <nlohmann/json.hpp>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/symbols/symbols.hpp"

namespace effort::tools {

/// "answer": a sentence; "followed_back": whether waits for messages count as well, and delays are followed back to
/// their cause; "totals": seconds of all ranks, waited and spent without waiting; "ranks": [rank, seconds that others
/// waited for it, that it waited, that it spent without waiting], those that others waited for longest first;
/// "waiters": [rank, seconds that it waited], the longest first; "ranks_count" and "waiters_count" of those with more
/// than zero; "windows": [first step, last step, rank, seconds that others waited for it, for all ranks] of the rank
/// that was waited for most, -1 if the history is not accurate enough to show one; for a large run, several windows are
/// added up; "nrmse": that of the values of ranks and windows, which come from the compressed history.  Null if the run
/// did not measure it (COMM_WAITS). Kokkos must be initialised.  Errors: record::FormatError. Memory: 8 bytes for each
/// rank and window, at most 32 MB.
nlohmann::ordered_json collective_waits_json(record::Reader& reader, const record::SeriesReader& series,
                                             Symbols& symbols);

}  // namespace effort::tools
