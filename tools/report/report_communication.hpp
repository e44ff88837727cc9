// Communication as the report page shows it: the findings of `effort comm`, cut to what fits into a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "record/reader.hpp"
#include "tools/communication/pairs_output.hpp"
#include "tools/communication/patterns_output.hpp"
#include "tools/communication/record.hpp"
#include "tools/communication/waits_output.hpp"

namespace effort::tools {

/// "answer": sentences; "matrix": see sparse_json; "windows": "block" (ranks that count as one), "ranges" (first and
/// last window, and their steps if known) and "frames" (a matrix each), if there are several windows; "pairs", the
/// first by time: [a, b, messages, bytes, time_ns, calls_ns], and "pair_count"; "dendrogram": see dendrogram_json. Null
/// if the snapshot has no matrix.
/// @param most_bytes  of matrices and dendrogram
/// Errors: record::FormatError.
nlohmann::ordered_json snapshot_communication(record::Reader& reader, std::size_t most_bytes);

/// As above without "windows", and "waits" (waits_json with the first entries of each list and their number in
/// "NAME_count"), "limits", "pair_details", and what patterns_page_json gives.  Times are ns since `origin_ns`.
/// @param most_bytes  of the matrix, the dendrogram and the messages of pairs
/// Cost: that of all `effort comm`; memory: the trace is freed as it is analysed.
nlohmann::ordered_json trace_communication(CommunicationTrace trace, std::int64_t origin_ns, std::size_t most_bytes);

/// "method", "merges" (base64 of 32-bit pairs, numbered as SciPy does) and "distances" (base64 of 32-bit floats); null
/// if they would take more than `most_bytes`.
nlohmann::ordered_json dendrogram_json(const PairFindings& findings, std::size_t most_bytes);

/// Messages of the pairs with the most time, as many as fit: pair_json with "messages" packed (varints: start since
/// that of the message before, duration + 1 or 0, bytes, 2 if it is an outlier + 1 if `a` sent it), "messages_count",
/// "left_out" of it, and "course": the share of time under way in equal intervals.  If not all messages of a pair fit,
/// its outliers come first, then every n-th of the others.
nlohmann::ordered_json pair_details_json(const CommunicationTrace& trace,
                                         const std::shared_ptr<const communication::CallTree>& tree,
                                         const std::vector<communication::Flow>& flows, const PairFindings& pairs,
                                         std::int64_t origin_ns, std::size_t most_bytes);

/// "patterns", "phases" (of the first levels), "slow" and sentences.
nlohmann::ordered_json patterns_page_json(const PatternFindings& findings, std::int64_t origin_ns);

}  // namespace effort::tools
