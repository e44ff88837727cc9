// Whatever happens to the bytes of a snapshot: a refusal with the offset, never a wrong answer.
#include <catch2/catch_test_macros.hpp>

#include <random>
#include <string>

#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"
#include "surgery.hpp"

using namespace effort::record;
using namespace effort::record::test;

namespace {

/// The offset a reader complains about, -1 when it reads everything without complaint.
std::int64_t refused_at(std::vector<std::byte> bytes) {
  try {
    Reader reader(std::move(bytes), "damaged.effort");
    reader.verify();
  } catch (const FormatError& e) {
    const std::string message = e.what();
    CHECK(message.find("'damaged.effort', byte " + std::to_string(e.offset()) + ")") != std::string::npos);
    return static_cast<std::int64_t>(e.offset());
  }
  return -1;
}

}  // namespace

TEST_CASE("every flipped byte is refused at or before it") {
  const auto file = sample_file();
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (unsigned mask : {0x01u, 0x80u, 0xffu}) {
      auto bad = file;
      bad[i] ^= static_cast<std::byte>(mask);
      const std::int64_t offset = refused_at(bad);
      INFO("byte " << i << " mask " << mask);
      REQUIRE(offset >= 0);
      // A section is known by its first byte; what is damaged lies behind it, but for the start of the checked range
      // of the header (8) and the end mark.
      REQUIRE(offset <= static_cast<std::int64_t>(i));
    }
  }
}

TEST_CASE("a flipped byte within a section is reported at that section") {
  const auto file = sample_file();
  Reader reader(file, "good");
  for (const SectionInfo& section : reader.sections()) {
    auto bad = file;
    bad[section.offset + section.stored_bytes / 2] ^= std::byte{4};
    CHECK(refused_at(bad) == static_cast<std::int64_t>(section.offset));
  }
}

TEST_CASE("every cut file is refused") {
  const auto file = sample_file();
  for (std::size_t length = 0; length < file.size(); ++length) {
    INFO("length " << length);
    REQUIRE(refused_at({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)}) >= 0);
  }
}

TEST_CASE("bytes added or taken out are refused") {
  const auto file = sample_file();
  for (std::size_t i = 0; i <= file.size(); i += 7) {
    auto longer = file;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(i), std::byte{0});
    INFO("byte " << i);
    REQUIRE(refused_at(longer) >= 0);
    if (i == file.size()) continue;
    auto shorter = file;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE(refused_at(shorter) >= 0);
  }
}

TEST_CASE("an undamaged section of a damaged file can still be read") {
  auto file = sample_file();
  Reader good(file, "good");
  std::uint64_t tiles_of_node_1 = 0;
  for (const SectionInfo& s : good.sections()) {
    if (s.type == "TILE" && s.key == 1) tiles_of_node_1 = s.offset;
  }
  file[tiles_of_node_1] ^= std::byte{1};
  Reader reader(file, "half");
  CHECK(reader.run().name == "advect");
  CHECK(reader.tiles(0).size() == 3);
  CHECK_THROWS_AS(reader.tiles(1), FormatError);
  CHECK_THROWS_AS(reader.verify(), FormatError);
}

TEST_CASE("sections with right checksums and wrong content are refused with their offset") {
  RawFile file = RawFile::parse(sample_file());
  const auto replace = [&](const std::string& type, std::vector<std::byte> payload, std::uint64_t raw) {
    RawSection& s = file.section(type);
    s.payload = std::move(payload);
    s.raw = raw;
    s.flags &= 1;
  };
  const auto text = [](const std::string& s) {
    std::vector<std::byte> out;
    for (char c : s) out.push_back(static_cast<std::byte>(c));
    return out;
  };
  SECTION("no CBOR") { replace("RUN ", text("hello"), 5); }
  SECTION("an endless nest of arrays") { replace("WIND", std::vector<std::byte>(100000, std::byte{0x81}), 100000); }
  SECTION("an endless nest in a column nobody knows") {
    std::vector<std::byte> bytes = text("\xa1\x61z");
    bytes.insert(bytes.end(), 100000, std::byte{0x81});
    replace("WIND", bytes, bytes.size());
  }
  SECTION("a table of 2^62 rows") {
    std::vector<std::byte> bytes = text("\xa1\x65" "first");
    bytes.push_back(std::byte{0x9b});
    bytes.push_back(std::byte{0x40});
    bytes.insert(bytes.end(), 7, std::byte{0});
    replace("WIND", bytes, bytes.size());
  }
  SECTION("a size that is not the raw size") { file.section("STRA").raw += 1; }
  SECTION("a raw size of 2^40") { file.section("RUN ").raw = std::uint64_t{1} << 40; }
  SECTION("tiles of a node that is not there") { file.sections.at(6).key = 9; }
  SECTION("histories of all nodes beside those of one") { file.section("TILE").type = "SHAR"; }
  SECTION("one series twice on a node") { replace("TILE", text(std::string("\2\0\0\0\0\0\0", 7)), 7); }
  SECTION("a tile of a series that is not there") { replace("TILE", text(std::string("\1\3\0\0", 4)), 4); }
  SECTION("a tile longer than its section") { replace("TILE", text(std::string("\1\0\0\5a", 5)), 5); }
  SECTION("bytes behind the last tile") { replace("TILE", text(std::string("\0a", 2)), 2); }
  SECTION("a rank that moved behind the last one") { replace("MOVE", text(std::string("\1\0\11\3\1\4\2\0", 8)), 8); }
  SECTION("a rank that moved from a stratum that is not there") { replace("MOVE", text(std::string("\1\0\11\3\1\0\1\3", 8)), 8); }
  SECTION("more windows with strata than bytes") { replace("MOVE", text(std::string("\5\0\11\3\0", 5)), 5); }
  SECTION("bytes behind the last move") { replace("MOVE", text(std::string("\0a", 2)), 2); }
  SECTION("an exact block beyond the last step") { replace("EXAC", text(std::string("\x17\2\0", 3)), 3); }
  SECTION("an exact block that is too short") { replace("EXAC", text(std::string("\0\1\1\0aaaaaaaa", 12)), 12); }
  SECTION("two descriptions of the run") { file.sections.push_back(file.sections.at(0)); }
  SECTION("none") { file.sections.erase(file.sections.begin()); }
  SECTION("nodes out of order") { std::swap(file.sections.at(5), file.sections.at(6)); }
  CHECK(refused_at(file.assemble()) >= 24);
}

TEST_CASE("random bytes in random places with right checksums are refused or read, nothing else") {
  std::mt19937 random(7);
  const RawFile good = RawFile::parse(sample_file());
  for (int trial = 0; trial < 3000; ++trial) {
    RawFile file = good;
    RawSection& s = file.sections.at(random() % file.sections.size());
    s.payload.at(random() % s.payload.size()) = static_cast<std::byte>(random());
    CHECK_NOTHROW(refused_at(file.assemble()));
  }
}
