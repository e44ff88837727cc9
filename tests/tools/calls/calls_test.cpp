// effort calls, as a user runs it.
#include <catch2/catch_test_macros.hpp>

#include <cstring>

#include "command.hpp"
#include "streams.hpp"

namespace {

using effort::calls::test::program;
using effort::calls::test::Stream;
using effort::tools::test::Outcome;
using effort::tools::test::Scratch;

std::vector<std::byte> raw(const Stream& events, unsigned width) {
  std::vector<std::byte> out(events.size() * width);
  for (std::size_t i = 0; i < events.size(); ++i) std::memcpy(&out[i * width], &events[i], width);
  return out;
}

}  // namespace

TEST_CASE("calls: encode and decode give the same bytes, for both widths") {
  const Scratch scratch;
  for (const unsigned width : {2u, 4u}) {
    Stream events = program(1, 300);
    if (width == 4) events.insert(events.end(), {70'000, 0});
    scratch.write("in", raw(events, width));
    const Outcome encoded =
        scratch.run({"calls", "encode", "in", "--width", std::to_string(width), "-o", "x.calls", "--json"});
    REQUIRE(encoded.code == 0);
    CHECK(encoded.json()["events"] == events.size());
    CHECK(encoded.json()["bytes"] == std::filesystem::file_size(scratch / "x.calls"));
    CHECK(encoded.json()["seconds"].is_number());
    const Outcome decoded = scratch.run({"calls", "decode", "x.calls", "out", "--json"});
    REQUIRE(decoded.code == 0);
    CHECK(decoded.json()["events"] == events.size());
    CHECK(decoded.json()["bytes"] == events.size() * width);
    CHECK(scratch.read_text("out") == scratch.read_text("in"));
  }
}

TEST_CASE("calls: several streams, of which one can be decoded") {
  const Scratch scratch;
  scratch.write("a", raw(program(1, 20), 2));
  scratch.write("b", raw(program(2, 20), 2));
  scratch.write("empty", std::vector<std::byte>{});
  REQUIRE(scratch.run({"calls", "encode", "a", "empty", "b", "-o", "x.calls"}).code == 0);
  REQUIRE(scratch.run({"calls", "decode", "x.calls", "all"}).code == 0);
  CHECK(scratch.read_text("all") == scratch.read_text("a") + scratch.read_text("b"));
  REQUIRE(scratch.run({"calls", "decode", "x.calls", "two", "--stream", "2"}).code == 0);
  CHECK(scratch.read_text("two") == scratch.read_text("b"));
  const Outcome wrong = scratch.run({"calls", "decode", "x.calls", "two", "--stream", "3"});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("has streams 0 to 2") != std::string::npos);
}

TEST_CASE("calls: bad input is refused with a sentence that names file and byte") {
  const Scratch scratch;
  scratch.write("odd", std::vector<std::byte>(7));
  const Outcome odd = scratch.run({"calls", "encode", "odd", "-o", "x.calls"});
  CHECK(odd.code == 1);
  CHECK(odd.err.find("(file 'odd', byte 6)") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(scratch / "x.calls"));
  CHECK(scratch.run({"calls", "encode", "odd", "--width", "3", "-o", "x.calls"}).code == 2);
  CHECK(scratch.run({"calls", "encode", "missing", "-o", "x.calls"}).code == 1);
  const Outcome foreign = scratch.run({"calls", "decode", "odd", "out"});
  CHECK(foreign.code == 1);
  CHECK(foreign.err.find("(file 'odd', byte 0)") != std::string::npos);
  scratch.write("wide", raw({70'000, 0}, 4));
  REQUIRE(scratch.run({"calls", "encode", "wide", "--width", "4", "-o", "x.calls"}).code == 0);
  const Outcome narrow = scratch.run({"calls", "decode", "x.calls", "out", "--width", "2"});
  CHECK(narrow.code == 1);
  CHECK(narrow.err.find("event 0 has the id 70000") != std::string::npos);
  CHECK(scratch.run({"calls", "encode", "wide", "--width", "4", "-o", "wide"}).code == 2);
}
