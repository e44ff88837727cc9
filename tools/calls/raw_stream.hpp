// Raw streams of calls: little-endian ids of 2 or 4 bytes, a function's at its entry, 0 at a return.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace effort::tools {

/// Reads a file piece by piece.  Errors: std::system_error; std::runtime_error if the size is not a multiple of the
/// width, naming file and byte.
void read_raw_calls(const std::filesystem::path& path, unsigned width,
                    const std::function<void(std::span<const std::uint32_t>)>& sink);

/// Events as bytes.  `at`: number of the first one, for messages.  Errors: std::runtime_error if an id is too large
/// for the width.
void raw_calls(std::span<const std::uint32_t> events, unsigned width, std::uint64_t at, std::vector<std::byte>& out);

}  // namespace effort::tools
