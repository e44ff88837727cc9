// A sparse matrix as the report page reads it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/communication/pair_traffic.hpp"

namespace effort::tools {

/// The cells that fit: if not all do, the largest, each by the largest of its shares of all messages, bytes, seconds
/// and waiting.
///
/// "cells" is their number, "rows" the base64 of varints (unsigned LEB128): for each row with cells its distance from
/// the last one (at first from -1), their number, and the distances of their columns in the same way.  "messages",
/// "bytes", "seconds" and, with `waiting`, "waiting" have their values in the same order: {"distinct", "values"}: a
/// byte each, an index; {"low", "high", "values"}: 16 bits each, 0 for 0, else 1 + 65534 x the position of the
/// logarithm between those of low and high, within 0.05 % for values within a factor of 2^90.  "totals" are sums over
/// all cells, "left_out" over those that did not fit, with their number.
/// @param most_bytes  of the JSON's strings
nlohmann::ordered_json sparse_json(const std::vector<PairTraffic>& cells, bool waiting, std::size_t most_bytes);

}  // namespace effort::tools
