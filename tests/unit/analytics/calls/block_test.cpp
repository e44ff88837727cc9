#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "analytics/calls/block.hpp"
#include "analytics/codec/codec.hpp"
#include "streams.hpp"

namespace {

using namespace effort::calls;
using effort::calls::test::any_events;
using effort::calls::test::program;
using effort::calls::test::Stream;

std::vector<std::byte> encode(const std::vector<Stream>& streams) {
  BlockEncoder encoder;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    encoder.begin_run(i);
    REQUIRE(encoder.append(streams[i]) == streams[i].size());
  }
  return encoder.finish();
}

std::vector<Stream> decode(std::span<const std::byte> bytes, std::size_t n) {
  std::vector<Stream> out(n);
  decode_block(bytes, std::uint64_t{1} << 40, [&](std::uint64_t stream, std::span<const std::uint32_t> events) {
    REQUIRE(stream < n);
    out[stream].insert(out[stream].end(), events.begin(), events.end());
  });
  return out;
}

void check_round_trip(const std::vector<Stream>& streams) {
  const std::vector<std::byte> bytes = encode(streams);
  const std::vector<Stream> found = decode(bytes, streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CHECK(std::ranges::equal(found[i], streams[i]));
    Stream alone;
    const auto take = [&](std::uint64_t stream, std::span<const std::uint32_t> events) {
      CHECK(stream == i);
      alone.insert(alone.end(), events.begin(), events.end());
    };
    decode_block(bytes, std::uint64_t{1} << 40, take, i);
    CHECK(std::ranges::equal(alone, streams[i]));
  }
}

}  // namespace

TEST_CASE("streams come back as they were") {
  check_round_trip({});
  check_round_trip({{}});
  check_round_trip({{0}});
  check_round_trip({{7}});
  check_round_trip({{0, 0, 0, 5, 0, 0}, {}, {5, 5, 5}});
  check_round_trip({{4'294'967'295u, 0, 1, 0, 4'294'967'294u, 0}});
  check_round_trip({program(1, 200), program(2, 200)});
}

TEST_CASE("any order of entries and returns comes back") {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    check_round_trip(
        {any_events(seed, 3000, 3, 0.5), any_events(seed, 500, 65535, 0.2), any_events(seed, 900, 40, 0.9)});
}

TEST_CASE("65,535 functions") {
  Stream all;
  for (std::uint32_t id = 65535; id > 0; --id) all.insert(all.end(), {id, 0});
  all.insert(all.end(), all.begin(), all.begin() + 131070);
  check_round_trip({all});
}

TEST_CASE("a recursion of a million calls") {
  Stream deep(1'000'000, 9);
  deep.resize(1'900'000, 0);
  check_round_trip({deep});
}

TEST_CASE("repeated calls cost next to nothing, whatever their number") {
  Stream loop{1};
  for (int i = 0; i < 1'000'000; ++i) loop.insert(loop.end(), {2, 3, 0, 0});
  CHECK(encode({loop}).size() < 40);
  // 20 loops of random length in a step hold about four bytes of information.
  CHECK(encode({program(5, 400)}).size() < 400 * 7);
}

TEST_CASE("ranks that do the same are stored once") {
  const std::size_t one = encode({program(3, 500)}).size();
  const std::vector<Stream> ranks(8, program(3, 500));
  CHECK(encode(ranks).size() < one + 100);
}

TEST_CASE("a full block takes no more, and the next goes on inside the open calls") {
  const Stream events = any_events(11, 6'000'000, 60000, 0.45);
  BlockEncoder encoder;
  Stream found;
  std::size_t blocks = 0;
  for (std::span<const std::uint32_t> rest = events; !rest.empty(); ++blocks) {
    encoder.begin_run(0);
    const std::size_t n = encoder.append(rest);
    REQUIRE(n > 0);
    rest = rest.subspan(n);
    const std::vector<Stream> part = decode(encoder.finish(), 1);
    found.insert(found.end(), part[0].begin(), part[0].end());
  }
  CHECK(blocks > 1);
  CHECK(std::ranges::equal(found, events));
}

TEST_CASE("damaged blocks are refused, or decode to as many events as they announce") {
  const std::vector<std::byte> good = encode({program(4, 30), any_events(1, 400, 50, 0.5)});
  const std::uint64_t announced = program(4, 30).size() + 400;
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bad = good;
    bad[5 + random() % (bad.size() - 5)] ^= static_cast<std::byte>(1 + random() % 255);
    if (i % 3 == 0) bad.resize(5 + random() % (bad.size() - 5));
    std::uint64_t events = 0;
    try {
      const auto count = [&](std::uint64_t, std::span<const std::uint32_t> e) { events += e.size(); };
      const std::uint64_t decoded = decode_block(bad, announced, count);
      CHECK(decoded == events);
    } catch (const effort::codec::CodecError& e) {
      ++refused;
      CHECK(std::string(e.what()).find("(at byte ") != std::string::npos);
    }
    CHECK(events <= announced);
  }
  CHECK(refused > 0);
}

TEST_CASE("a block that announces too many events is refused before it is decoded") {
  Stream loop;
  for (int i = 0; i < 1000; ++i) loop.insert(loop.end(), {2, 0});
  bool called = false;
  CHECK_THROWS_AS(decode_block(encode({loop}), 1999, [&](auto, auto) { called = true; }), effort::codec::CodecError);
  CHECK_FALSE(called);
}

TEST_CASE("an encoder can be used again") {
  BlockEncoder encoder;
  std::vector<std::byte> blocks[2];
  for (std::vector<std::byte>& block : blocks) {
    encoder.begin_run(0);
    encoder.append(program(6, 20));
    block = encoder.finish();
  }
  CHECK(blocks[0] == blocks[1]);
}
