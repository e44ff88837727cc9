#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "record/cbor.hpp"
#include "record/reader.hpp"
#include "sample_run.hpp"
#include "surgery.hpp"

using namespace effort::record;
using namespace effort::record::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

RawSection unknown_section() {
  RawSection s;
  s.type = "ZZZZ";
  s.payload = {std::byte{1}, std::byte{2}, std::byte{3}};
  s.raw = 3;
  return s;
}

void read_all(const RawFile& file) {
  Reader reader(file.assemble(), "v.effort");
  reader.verify();
}

}  // namespace

TEST_CASE("taking a file apart and putting it together changes nothing") {
  const auto file = sample_file();
  CHECK(RawFile::parse(file).assemble() == file);
}

TEST_CASE("a newer minor version is read, another major version refused") {
  RawFile file = RawFile::parse(sample_file());
  file.minor = 7;
  CHECK_NOTHROW(read_all(file));
  file.major = 2;
  CHECK_THROWS_MATCHES(read_all(file), FormatError,
                       MessageMatches(ContainsSubstring("format version 2.7") && ContainsSubstring("newer effort")));
  file.major = 0;
  CHECK_THROWS_AS(read_all(file), FormatError);
}

TEST_CASE("unknown features are refused") {
  RawFile file = RawFile::parse(sample_file());
  file.features = 1;
  CHECK_THROWS_MATCHES(read_all(file), FormatError, MessageMatches(ContainsSubstring("newer effort")));
}

TEST_CASE("an unknown section is skipped unless it is required") {
  RawFile file = RawFile::parse(sample_file());
  file.sections.insert(file.sections.begin() + 2, unknown_section());
  CHECK_NOTHROW(read_all(file));
  Reader reader(file.assemble(), "v.effort");
  CHECK(reader.tiles(1).size() == 2);
  CHECK(reader.run().windows.size() == 2);
  file.sections.at(2).flags = 1;
  CHECK_THROWS_MATCHES(read_all(file), FormatError, MessageMatches(ContainsSubstring("'ZZZZ'")));
}

TEST_CASE("an unknown section is checked nevertheless") {
  RawFile file = RawFile::parse(sample_file());
  file.sections.push_back(unknown_section());
  auto bytes = file.assemble();
  Reader good(bytes, "v.effort");
  const std::uint64_t offset = good.sections().back().offset;
  bytes[offset] ^= std::byte{1};
  Reader reader(bytes, "v.effort");
  CHECK_THROWS_AS(reader.verify(), FormatError);
}

TEST_CASE("a newer version of a known section is skipped, of a required one refused") {
  RawFile file = RawFile::parse(sample_file());
  file.section("WIND").version = 2;
  Reader reader(file.assemble(), "v.effort");
  reader.verify();
  CHECK(reader.run().windows.empty());
  file.section("STRA").version = 2;
  CHECK(Reader(file.assemble(), "v.effort")
            .run()
            .moves.empty());  // they have no meaning without the strata of the last window
  file.section("RUN ").version = 2;
  CHECK_THROWS_AS(read_all(file), FormatError);
}

TEST_CASE("unknown columns are skipped, and missing optional ones have their default") {
  format::Bytes bytes;
  cbor::Encoder out(bytes);
  out.map(7);
  for (const char* name : {"first", "last"}) {
    out.text(name);
    out.array(1);
    out.integer(4);
  }
  out.text("imbalance");
  out.array(1);
  out.integer(2);  // an integer instead of a real
  for (const char* name : {"rebalance", "rebalanced"}) {
    out.text(name);
    out.array(1);
    out.boolean(true);
  }
  out.text("strata");
  out.array(1);
  out.integer(3);
  out.text("mood of the moon");
  out.array(2);
  out.map(1);
  out.text("x");
  out.bytes(bytes);
  out.real(1e300);
  RawFile file = RawFile::parse(sample_file());
  RawSection& windows = file.section("WIND");
  windows.payload = bytes;
  windows.raw = bytes.size();
  windows.flags = 0;
  Reader reader(file.assemble(), "v.effort");
  REQUIRE(reader.run().windows.size() == 1);
  const Window& window = reader.run().windows[0];
  CHECK(window.imbalance == 2.0);
  CHECK(window.rebalanced);
  CHECK(window.rebalanced_at == -1);
  CHECK(window.times_rebalanced() == 1);
  CHECK(window.samples_unified == -1);
  CHECK(window.gain_per_step == absent);
}
