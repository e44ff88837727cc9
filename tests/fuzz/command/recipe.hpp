// Damages a snapshot field by field and corrects every checksum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "surgery.hpp"

namespace effort::tools::test {

/// Takes five bytes of the recipe for each change: the section, the kind of change, the place (2 bytes), and the value.
/// The sections of `file` must not be compressed.
void apply(std::span<const unsigned char> recipe, record::test::RawFile& file);

/// Takes a file apart and decompresses its sections.
record::test::RawFile decompressed(const std::vector<std::byte>& file);

}  // namespace effort::tools::test
