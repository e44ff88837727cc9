// The sampling of ranks, as a property of an OTF2 archive.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Everything of a trace that OTF2 has no records for: run, design, windows with probabilities, and which spans of
/// threads belong to which window.
nlohmann::ordered_json sampling_json(const Trace& trace);

/// The inverse, into a trace whose threads and spans are read.  Errors: std::runtime_error if it does not fit them.
void sampling_from_json(const nlohmann::json& from, Trace& trace);

}  // namespace effort::tools
