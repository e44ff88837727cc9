// `effort info --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/symbols/symbols.hpp"

namespace effort::tools {

/// All contents of a snapshot except the loads.
/// @param symbols  resolves call paths in regions' names ("resolved" beside each); null: they are left as they are
nlohmann::ordered_json info_json(record::Reader& reader, const record::SeriesReader& series,
                                 Symbols* symbols = nullptr);

/// One window as `info` and `replay` print it.
nlohmann::ordered_json window_json(const record::Window& window);

}  // namespace effort::tools
