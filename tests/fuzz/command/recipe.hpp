// Damage done to a snapshot field by field, with every checksum mended.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "surgery.hpp"

namespace effort::tools::test {

/// Takes five bytes of the recipe for each change: which section, what to do, where (2 bytes), with which value.  The
/// sections of `file` must not be compressed.
void apply(std::span<const unsigned char> recipe, record::test::RawFile& file);

/// A file taken apart with its sections decompressed.
record::test::RawFile decompressed(const std::vector<std::byte>& file);

}  // namespace effort::tools::test
