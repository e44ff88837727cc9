// A damaged snapshot is refused with the offset of the damage, and never gives a wrong answer.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "record/metadata.hpp"
#include "record/part.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"
#include "surgery.hpp"

using namespace effort::record;
using namespace effort::record::test;

namespace {

/// The offset at which a reader refuses the file, or -1 if it reads everything.
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

/// sample_file() with another description of the run, which the writer itself would refuse.
std::vector<std::byte> file_with(const Run& run) {
  RawFile file = RawFile::parse(sample_file());
  const auto replace = [&](const char* type, std::vector<std::byte> payload) {
    RawSection& section = file.section(type);
    section.flags &= 1;
    section.raw = payload.size();
    section.payload = std::move(payload);
  };
  replace("RUN ", encode_run(run));
  replace("WIND", encode_windows(run));
  replace("STRA", encode_strata(run));
  replace("MOVE", encode_moves(run));
  return file.assemble();
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
      // A section is identified by its first byte, and the damage lies after it, except at the start of the checked
      // range of the header (8) and in the end mark.
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

TEST_CASE("every truncated file is refused") {
  const auto file = sample_file();
  for (std::size_t length = 0; length < file.size(); ++length) {
    INFO("length " << length);
    REQUIRE(refused_at({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)}) >= 0);
  }
}

TEST_CASE("files with bytes added or removed are refused") {
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

TEST_CASE("sections with correct checksums and wrong contents are refused with their offset") {
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
  SECTION("endlessly nested arrays") { replace("WIND", std::vector<std::byte>(100000, std::byte{0x81}), 100000); }
  SECTION("endlessly nested arrays in an unknown column") {
    std::vector<std::byte> bytes = text("\xa1\x61z");
    bytes.insert(bytes.end(), 100000, std::byte{0x81});
    replace("WIND", bytes, bytes.size());
  }
  SECTION("a table of 2^62 rows") {
    std::vector<std::byte> bytes = text(
        "\xa1\x65"
        "first");
    bytes.push_back(std::byte{0x9b});
    bytes.push_back(std::byte{0x40});
    bytes.insert(bytes.end(), 7, std::byte{0});
    replace("WIND", bytes, bytes.size());
  }
  SECTION("a size that is not the raw size") { file.section("STRA").raw += 1; }
  SECTION("a raw size of 2^40") { file.section("RUN ").raw = std::uint64_t{1} << 40; }
  SECTION("tiles of a node that does not exist") { file.sections.at(6).key = 9; }
  SECTION("a joint history of all nodes beside that of one node") { file.section("TILE").type = "SHAR"; }
  SECTION("one series twice on a node") { replace("TILE", text(std::string("\2\0\0\0\0\0\0", 7)), 7); }
  SECTION("a tile of a series that does not exist") { replace("TILE", text(std::string("\1\3\0\0", 4)), 4); }
  SECTION("a tile longer than its section") { replace("TILE", text(std::string("\1\0\0\5a", 5)), 5); }
  SECTION("bytes after the last tile") { replace("TILE", text(std::string("\0a", 2)), 2); }
  SECTION("a move of a rank after the last one") { replace("MOVE", text(std::string("\1\0\11\3\1\4\2\0", 8)), 8); }
  SECTION("a move from a stratum that does not exist") {
    replace("MOVE", text(std::string("\1\0\11\3\1\0\1\3", 8)), 8);
  }
  SECTION("more windows with strata than bytes") { replace("MOVE", text(std::string("\5\0\11\3\0", 5)), 5); }
  SECTION("bytes after the last move") { replace("MOVE", text(std::string("\0a", 2)), 2); }
  SECTION("an exact block after the last step") { replace("EXAC", text(std::string("\x17\2\0", 3)), 3); }
  SECTION("an exact block that is too short") { replace("EXAC", text(std::string("\0\1\1\0aaaaaaaa", 12)), 12); }
  const auto replace_traffic = [&](const Flow& flow) {
    const std::vector<std::byte> bytes = encode_traffic({{"MPI_Send"}, {flow}});
    replace("COMM", bytes, bytes.size());
  };
  SECTION("traffic between ranks that do not exist") { replace_traffic({0, 2, 5, 0, 1, 8, 0}); }
  SECTION("traffic in a window after the last possible step") { replace_traffic({max_steps + 1, 0, 1, 0, 1, 8, 0}); }
  SECTION("two tables of windows") { file.sections.push_back(file.section("WIND")); }
  SECTION("two sets of strata") { file.sections.push_back(file.section("STRA")); }
  SECTION("two loads of the steps") { file.sections.push_back(file.section("PATH")); }
  SECTION("two descriptions of the run") { file.sections.push_back(file.sections.at(0)); }
  SECTION("none") { file.sections.erase(file.sections.begin()); }
  SECTION("nodes out of order") { std::swap(file.sections.at(5), file.sections.at(6)); }
  CHECK(refused_at(file.assemble()) >= 24);
}

TEST_CASE("an inconsistent run is refused even if every checksum is correct") {
  using Change = std::pair<const char*, void (*)(Run&)>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Change> changes = {
      {"a label that extends into a window with fewer strata",
       [](Run& r) {
         r.moves = {{0, 9, 1, {}}};
       }},
      {"a label that extends into a window without strata",
       [](Run& r) {
         r.strata[0].label.assign(5, 0), r.moves = {{0, 9, 0, {}}};
       }},
      {"more windows with strata than are ever kept",
       [](Run& r) {
         r.moves.assign(max_moves + 1, {0, 9, 2, {}});
       }},
      {"moves out of order",
       [](Run& r) {
         r.moves = {{5, 9, 2, {}}, {0, 4, 2, {}}};
       }},
      {"more strata than ranks",
       [](Run& r) {
         r.moves = {{0, 9, 6, {}}};
       }},
      {"a label without a stratum", [](Run& r) { r.strata[0].label[4] = 2; }},
      {"a medoid that is not a rank", [](Run& r) { r.strata[0].medoid_rank[0] = 5; }},
      {"strata of a window that ends before it begins", [](Run& r) { r.strata[0].last = 9; }},
      {"strata with loads that are NaN", [](Run& r) { r.strata[0].region_load[1] = nan; }},
      {"a window that ends before it begins", [](Run& r) { r.windows[0].last = -1; }},
      {"a window at the largest step number", [](Run& r) { r.windows[1].last = INT64_MAX; }},
      {"windows out of order", [](Run& r) { std::swap(r.windows[0], r.windows[1]); }},
      {"a window with a negative number of strata", [](Run& r) { r.windows[0].strata = -1; }},
      {"a negative number of rebalances", [](Run& r) { r.windows[0].rebalances = -1; }},
      {"more rebalances than steps, in two windows together",
       [](Run& r) { r.windows[0].rebalances = r.windows[1].rebalances = max_steps; }},
      {"a worst rank that does not exist", [](Run& r) { r.windows[0].worst_rank = 5; }},
      {"an imbalance that is NaN", [](Run& r) { r.series[0].imbalance = nan; }},
      {"an infinite total", [](Run& r) { r.series[0].total = 1 / 0.; }},
      {"one series twice", [](Run& r) { r.series[1] = r.series[0]; }},
      {"a metric that does not exist", [](Run& r) { r.series[0].metric = 2; }},
      {"a largest rank that does not exist", [](Run& r) { r.series[0].max_rank = 5; }},
      {"more steps than there are", [](Run& r) { r.steps = max_steps + 1; }},
      {"a negative number of merged steps", [](Run& r) { r.merged_steps = -1; }},
      {"speeds of too few ranks", [](Run& r) { r.speeds.pop_back(); }},
      {"more ranks than the placement has", [](Run& r) { r.ranks = 6; }}};
  REQUIRE(refused_at(file_with(sample_run())) == -1);
  for (const auto& [what, change] : changes) {
    Run run = sample_run();
    change(run);
    INFO(what);
    CHECK(refused_at(file_with(run)) >= 24);
  }
}

TEST_CASE("an estimate that is NaN is read as unknown") {
  Run run = sample_run();
  run.windows[0].gain_per_step = std::numeric_limits<double>::quiet_NaN();
  run.unit_costs[0].error = std::numeric_limits<double>::infinity();
  run.mean_path = -std::numeric_limits<double>::infinity();
  Reader reader(file_with(run), "estimates");
  CHECK(reader.run().windows[0].gain_per_step == absent);
  CHECK(reader.run().unit_costs[0].error == absent);
  CHECK(reader.run().mean_path == absent);
}

TEST_CASE("random bytes in random places with correct checksums are either refused or read") {
  std::mt19937 random(7);
  const RawFile good = RawFile::parse(sample_file());
  for (int trial = 0; trial < 3000; ++trial) {
    RawFile file = good;
    RawSection& s = file.sections.at(random() % file.sections.size());
    s.payload.at(random() % s.payload.size()) = static_cast<std::byte>(random());
    CHECK_NOTHROW(refused_at(file.assemble()));
  }
}
