// Changes to snapshot files that keep every checksum correct, as a broken or newer writer could have written them.
// Written from FORMAT.md alone, without the library's own helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::record::test {

struct RawSection {
  std::string type;
  std::uint32_t key = 0;
  std::uint16_t flags = 0;
  std::uint16_t version = 1;
  std::uint64_t raw = 0;
  std::vector<std::byte> payload;
};

/// A file taken apart; `assemble` puts it together with new checksums.
struct RawFile {
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
  std::uint32_t features = 0;
  std::vector<RawSection> sections;

  static RawFile parse(const std::vector<std::byte>& file);
  std::vector<std::byte> assemble() const;
  RawSection& section(const std::string& type);
};

}  // namespace effort::record::test
