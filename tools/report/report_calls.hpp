// Function calls as the report page shows them: the findings of `effort calls`, cut to what fits into a page.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effort::tools {

/// Whether a path names function calls: a file of `effort calls encode`, a recording, or a directory of recordings.
bool names_calls(const std::string& path);

/// "texts": the names of functions, to which all other members refer by index.  "sources", one for each input:
/// "file", "calls", "depth", "notes", "hot" (functions that dropped out), "streams" ([rank, thread, calls, depth, left
/// out, stray returns, open calls], "stream_count" in all), "functions", "contexts" (packed: distance to the caller's
/// context, 0 for none, and function; "context_count" in all), "edges" (packed: caller, callee; "edge_count" in all)
/// and "views": the first one of all ranks, then one for each group of ranks whose calls are equal: "ranks" (list of
/// [first, last]), "calls", "contexts", "functions" and "edges" (packed calls of each), and "loops" ([function, body,
/// runs, iterations, least, most], "loop_count" in all).  The calls of a context are 2n, or 2n + 1 and the calls below
/// it that are in no context of the page.  If calls have time stamps: "times" of the first view (packed like the calls:
/// microseconds without the calls below), and "rank_times" ([rank, its view, seconds in all, packed]) of as many
/// ranks as fit, those that differ most from the mean first.  "pairs": "a", "b" (source and view), "streams" that were
/// compared, and "differ": call_pair_json of those that differ.  "ranks_left_out", "pairs_left_out", "problem". Packed:
/// base64 of varints (unsigned LEB128).
/// @param most_bytes  of the page, about; the contexts with the most calls come first
/// Errors: those of CallInput.
/// Cost: each input is read twice; memory: of its different calls.
nlohmann::ordered_json calls_for_page(const std::vector<std::string>& inputs,
                                      const std::vector<std::filesystem::path>& search, std::size_t most_bytes);

}  // namespace effort::tools
