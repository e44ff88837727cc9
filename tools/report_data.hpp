// The data of one run as the report page reads them: a description in JSON, and the compressed histories as they are.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/report_source.hpp"
#include "tools/report_summary.hpp"

namespace effort::tools {

/// An order of ranks that the host gave, such as its topology.
struct RankOrder {
  std::string name;
  std::vector<std::int32_t> ranks;  ///< [ranks] each once
};

/// The bytes of one series' histories, node after node, as the JSON's table of them says.
using SeriesBytes = std::vector<std::byte>;

/// Standard base64 with padding.
std::string base64(std::span<const std::byte> bytes);

/// Exact values that were stored beside (EXACT=1), as many as may go into a page.
struct ExactValues {
  std::vector<std::vector<double>> series;  ///< [series][ranks x steps], NaN where none were stored; empty: not in the page
  std::size_t left_out = 0;                 ///< series whose values would make the page too large
};

/// Exact values of the dearest series of the load metric first, then of the others, as far as `most_bytes` allow.
ExactValues report_exact(const record::Run& run, const record::SeriesReader& series, std::size_t most_bytes = std::size_t{16} << 20);

/// What the page knows of a run before it decodes histories: "info" as `effort info --json` prints it, and beside it the
/// placement, profiles, coarse pictures, similar regions, and per series the table of its histories.
nlohmann::ordered_json report_json(record::Reader& reader, const record::SeriesReader& series, const RunSummary& summary, const ExactValues& exact, std::span<const RankOrder> orders);

/// The histories of all series, [series].  Memory: those of the file once.
std::vector<SeriesBytes> report_bytes(record::Reader& reader);

/// Places in the source, "region" an index into the regions of the first run that knows the name.
nlohmann::ordered_json source_json(const SourceMap& source);

}  // namespace effort::tools
