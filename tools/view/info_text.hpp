// `effort info` for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/output/terminal.hpp"
#include "tools/symbols/symbols.hpp"

namespace effort::tools {

struct InfoOptions {
  Terminal terminal;
  bool heat_map = false;       ///< Kokkos must be initialised
  bool all = false;            ///< every region and window instead of one screen
  Symbols* symbols = nullptr;  ///< null: names as they are in the snapshot
};

/// The contents of a snapshot: the run, its load as a picture, balance, regions, windows, strata, unit costs, notes.
std::string info_text(record::Reader& reader, const record::SeriesReader& series, const InfoOptions& options);

/// The heat map of the load with its axes, `lines` lines high: mean load per step, ranks down, steps across, rebalances
/// marked below.  Kokkos must be initialised.  Empty for a run without steps.
std::string load_map_text(record::Reader& reader, const record::SeriesReader& series, const Terminal& terminal,
                          std::size_t lines);

/// Imbalance over the windows as a line of bars, with rebalances and the saving by ideal balance.
std::string balance_text(const record::Run& run, const Terminal& terminal, Symbols* symbols);

/// Names of these regions for a table.
std::vector<std::string> table_names(const std::vector<std::string>& regions, Symbols* symbols, std::size_t width);

/// "1 rank", "2 ranks".
std::string plural(std::int64_t count, const char* noun);

}  // namespace effort::tools
