// Files of chunks: a header, then payloads, each after a frame with its type, length and checksum.  A truncated or
// damaged file can therefore be read up to that point.  Traces and files of calls are such files.  Internal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "record/format.hpp"

namespace effort::record::format {

inline constexpr std::size_t chunk_file_header_bytes = 24;
inline constexpr std::size_t frame_bytes = 20;
inline constexpr std::uint32_t most_payload = 1u << 30;

/// The header of a file: its kind, version and features, and their checksum.
Bytes chunk_file_header(const std::array<unsigned char, 8>& magic, std::uint16_t major, std::uint16_t minor,
                        std::uint32_t features);

struct Frame {
  std::uint32_t type = 0;
  std::uint32_t length = 0;  ///< of the payload
  std::uint64_t hash = 0;    ///< of the payload
};

/// The payload after its frame.  Errors: std::invalid_argument for more than most_payload bytes.
Bytes framed(std::uint32_t type, View payload);
/// The frame at the beginning of `bytes`; nothing if they are fewer than frame_bytes or its own checksum is wrong.
std::optional<Frame> get_frame(View bytes);

}  // namespace effort::record::format
