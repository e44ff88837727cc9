// The constants of FORMAT.md, and payloads read as contents.  Internal.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "record/frame.hpp"
#include "record/trace/contents.hpp"

namespace effort::record::trace::format {

using record::format::Bytes;
using record::format::Frame;
using record::format::frame_bytes;
using record::format::framed;
using record::format::get_frame;
using record::format::View;

inline constexpr std::array<unsigned char, 8> magic = {0x89, 'E', 'T', 'R', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint16_t major = 1;
inline constexpr std::uint16_t minor = 7;
/// The file may have chunks REPR and SEGS, without which sampled ranks would seem to have no events.
inline constexpr std::uint32_t feature_reduced = 1;
/// Sequences and time stamps are coded as the coder's version 2 does.
inline constexpr std::uint32_t feature_coding_2 = 2;
inline constexpr std::uint32_t known_features = feature_reduced | feature_coding_2;
inline constexpr std::size_t header_bytes = record::format::chunk_file_header_bytes;

/// @param features  besides the coder's version
inline Bytes file_start(std::uint32_t features = 0) {
  return record::format::chunk_file_header(magic, major, minor, features | feature_coding_2);
}

inline constexpr std::uint32_t type_header = record::format::four("HEAD");
inline constexpr std::uint32_t type_names = record::format::four("NAME");
inline constexpr std::uint32_t type_modules = record::format::four("MODS");
inline constexpr std::uint32_t type_dictionary = record::format::four("DICT");
inline constexpr std::uint32_t type_window = record::format::four("WIND");
inline constexpr std::uint32_t type_events = record::format::four("EVNT");
inline constexpr std::uint32_t type_representatives = record::format::four("REPR");
inline constexpr std::uint32_t type_reduced = record::format::four("SEGS");
inline constexpr std::uint32_t type_clock = record::format::four("CLCK");
inline constexpr std::uint32_t type_end = record::format::four("DONE");
/// Since this version, a file has a chunk DONE for each of its nodes whose trace is complete.
inline constexpr std::uint16_t minor_with_end = 7;

/// A payload's contents.  Errors: std::runtime_error that describes the problem.
Header parse_header(View payload);
Names parse_names(View payload);
Modules parse_modules(View payload);
Dictionary parse_dictionary(View payload);
Representatives parse_representatives(View payload);
Window parse_window(View payload);
/// Parses reduced chunks, too.
/// @param with_coded  whether to copy the coded events
Events parse_events(View payload, bool with_coded);
Clock parse_clock(View payload);
End parse_end(View payload);

inline constexpr std::int64_t most_steps = std::int64_t{1} << 40;
inline constexpr std::int32_t most_ranks = 1 << 26;

/// 18 years.  Times in a file count from about its start, so a larger time is taken as damaged.
inline constexpr std::int64_t most_time_ns = std::int64_t{1} << 59;
/// 2116, of wall clocks.
inline constexpr std::int64_t most_unix_ns = std::int64_t{1} << 62;
constexpr bool is_time(std::int64_t ns) { return ns >= -most_time_ns && ns <= most_time_ns; }

}  // namespace effort::record::trace::format
