// Encodes and decodes the sections with a node's loads.  Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "record/format.hpp"
#include "record/run.hpp"

namespace effort::record {

format::Bytes encode_tiles(const std::vector<Tile>& tiles);
/// Errors: std::runtime_error.
std::vector<Tile> decode_tiles(format::View raw, const Run& run);

format::Bytes encode_exact(const ExactBlock& block);
/// Errors: std::runtime_error.
ExactBlock decode_exact(format::View raw, const Run& run, std::int32_t node);

format::Bytes encode_traffic(const Traffic& traffic);
/// Errors: std::runtime_error.
Traffic decode_traffic(format::View raw, const Run& run);

}  // namespace effort::record
