// Damages a snapshot or a trace field by field; every checksum is made for the damaged content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surgery.hpp"

namespace effort::tools::test {

/// Takes five bytes of the recipe for each change: the section, the kind of change, the place (2 bytes), and the value.
/// The sections of `file` must not be compressed.
void apply(std::span<const unsigned char> recipe, record::test::RawFile& file);

/// Takes a file apart and decompresses its sections.
record::test::RawFile decompressed(const std::vector<std::byte>& file);

/// A chunk of a trace file without its frame.
struct TraceChunk {
  std::uint32_t type = 0;
  std::vector<std::byte> payload;
};

/// The same for the chunks of a trace; the changes are of varints, texts, real numbers, bytes and whole chunks.
void apply(std::span<const unsigned char> recipe, std::vector<TraceChunk>& chunks);

}  // namespace effort::tools::test
