// The data of one run as the report page reads them: a description in JSON, and the compressed histories as they are.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/snapshot/reader.hpp"
#include "runtime/snapshot/series.hpp"
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

/// What the page knows of a run before it decodes histories: "info" as `effort info --json` prints it, and beside it the
/// placement, profiles, coarse pictures, similar regions, and per series the table of its histories.
nlohmann::ordered_json report_json(snapshot::Reader& reader, const snapshot::SeriesReader& series, const RunSummary& summary, std::span<const RankOrder> orders);

/// The histories of all series, [series].  Memory: those of the file once.
std::vector<SeriesBytes> report_bytes(snapshot::Reader& reader);

/// Places in the source, "region" an index into the regions of the first run that knows the name.
nlohmann::ordered_json source_json(const SourceMap& source);

}  // namespace effort::tools
