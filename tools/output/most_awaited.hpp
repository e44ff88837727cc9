// The rank that the others waited for most, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "record/run.hpp"

namespace effort::tools {

/// "Rank 3 made the others wait 4.4 s at collectives, 96.2 % of all such waiting; it exceeds the mean rank most in
/// `force`."
/// @param region  most.region for people: Symbols::short_name
std::string most_awaited_text(const record::MostAwaited& most, const std::string& region);

/// `rank`, `seconds`, `share`, `region` (as in the list of regions), `name` (`region` above) and `followed_back`.
nlohmann::ordered_json most_awaited_json(const record::MostAwaited& most, const std::string& region);

}  // namespace effort::tools
