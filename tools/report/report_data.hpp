// The data of one run as the report page reads them: a description in JSON, and the compressed histories as they are.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/report/report_source.hpp"
#include "tools/report/report_summary.hpp"

namespace effort::tools {

/// An order of ranks given by the user, such as that of the topology.
struct RankOrder {
  std::string name;
  std::vector<std::int32_t> ranks;  ///< [ranks] each once
};

/// The bytes of one series' histories, node after node, as listed in the JSON's table.
using SeriesBytes = std::vector<std::byte>;

/// Standard base64 with padding.
std::string base64(std::span<const std::byte> bytes);

/// Exact values (EXACT=1), as many as fit into a page.
struct ExactValues {
  std::vector<std::vector<double>> series;  ///< [series][ranks x steps], NaN if not stored; empty: not in the page
  std::size_t left_out = 0;                 ///< series whose values would make the page too large
};

/// Exact values of the most expensive series of the load metric first, then of the others, up to `most_bytes`.
ExactValues report_exact(const record::Run& run, const record::SeriesReader& series,
                         std::size_t most_bytes = std::size_t{16} << 20);

/// The page's data of a run before it decodes histories: "info" as printed by `effort info --json`, the placement,
/// profiles, coarse pictures, similar regions, and for each series the table of its histories.
nlohmann::ordered_json report_json(record::Reader& reader, const record::SeriesReader& series,
                                   const RunSummary& summary, const ExactValues& exact,
                                   std::span<const RankOrder> orders);

/// The histories of all series, [series].  Memory: those of the file once.
std::vector<SeriesBytes> report_bytes(record::Reader& reader);

/// Places in the source, "region" an index into the regions of the first run that knows the name.
nlohmann::ordered_json source_json(const SourceMap& source);

}  // namespace effort::tools
