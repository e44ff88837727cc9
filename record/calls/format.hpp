// The constants of FORMAT.md.  Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "record/frame.hpp"

namespace effort::record::calls::format {

using record::format::Bytes;
using record::format::Frame;
using record::format::frame_bytes;
using record::format::framed;
using record::format::get_frame;
using record::format::View;

inline constexpr std::array<unsigned char, 8> magic = {0x89, 'E', 'C', 'L', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint16_t major = 1;
inline constexpr std::uint16_t minor = 0;
inline constexpr std::size_t header_bytes = record::format::chunk_file_header_bytes;

inline constexpr std::uint32_t type_block = record::format::four("CALL");
inline constexpr std::uint32_t type_names = record::format::four("NAME");

inline constexpr std::uint32_t type_times = record::format::four("TIME");

inline constexpr std::uint64_t most_stamps = std::uint64_t{1} << 20;  ///< of a part
inline constexpr std::uint64_t most_streams = std::uint64_t{1} << 20;
inline constexpr std::uint64_t most_functions = std::uint64_t{1} << 24;
inline constexpr std::uint64_t most_text = 4096;

}  // namespace effort::record::calls::format
