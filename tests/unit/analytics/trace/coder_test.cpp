#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <stdexcept>

#include "analytics/trace/coder.hpp"
#include "check.hpp"

namespace {

using namespace effort::trace;
using effort::trace::test::difference;
using effort::trace::test::random_events;
using effort::trace::test::regular_steps;

constexpr TimeBound bounds[] = {TimeBound::exact(), TimeBound::usual(), {0, 1}, {500'000, 1}, {250'000, 1u << 30}};

struct Chunk {
  Place place;
  std::vector<Event> events;
  Encoder::Coded coded;
};

/// Windows of several ranks and threads, random ones between regular ones.
std::vector<Chunk> code(Encoder& encoder, std::uint64_t seed, int windows, int ranks, bool with_random) {
  std::mt19937_64 random(seed);
  std::vector<Chunk> chunks;
  for (int w = 0; w < windows; ++w) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Place place{rank, w % 2, 10 * w, std::int64_t{1'000'000'000} * w - 5'000'000'000};
      const bool odd = with_random && random() % 3 == 0;
      chunks.push_back(
          {place, odd ? random_events(random, place, random() % 400) : regular_steps(random, place, ranks, 10), {}});
      chunks.back().coded = encoder.encode(place, chunks.back().events);
    }
  }
  return chunks;
}

}  // namespace

TEST_CASE("all kinds of events come back within the bound") {
  for (const TimeBound bound : bounds) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Encoder encoder(bound);
      Decoder decoder;
      for (const Chunk& c : code(encoder, seed, 6, 4, true)) {
        if (!c.coded.dictionary.empty()) decoder.add(c.coded.dictionary);
        REQUIRE(difference(c.place, c.events, decoder.decode(c.place, c.coded.events), bound) == "");
      }
    }
  }
}

TEST_CASE("each chunk decodes by itself, given the dictionary") {
  Encoder encoder(TimeBound::usual());
  const std::vector<Chunk> chunks = code(encoder, 7, 8, 5, true);
  for (std::size_t i = 0; i < chunks.size(); i += 3) {
    Decoder decoder;
    for (std::size_t j = 0; j <= i; ++j)
      if (!chunks[j].coded.dictionary.empty()) decoder.add(chunks[j].coded.dictionary);
    CHECK(difference(chunks[i].place, chunks[i].events, decoder.decode(chunks[i].place, chunks[i].coded.events),
                     TimeBound::usual()) == "");
  }
}

TEST_CASE("a window that repeats needs no dictionary") {
  Encoder encoder(TimeBound::usual());
  const std::vector<Chunk> chunks = code(encoder, 1, 20, 8, false);
  std::size_t pieces = 0;
  for (const Chunk& c : chunks) pieces += c.coded.dictionary.empty() ? 0 : 1;
  CHECK(pieces == 3);  // the first rank, the last rank, and all ranks between them
}

TEST_CASE("equal programs of different ranks share their sequences, whatever their times") {
  std::mt19937_64 random(3);
  Encoder encoder(TimeBound::exact());
  const Place first{2, 0, 0, 0}, second{5, 3, 70, 123'456};
  CHECK_FALSE(encoder.encode(first, regular_steps(random, first, 100, 4)).dictionary.empty());
  CHECK(encoder.encode(second, regular_steps(random, second, 100, 4)).dictionary.empty());
}

TEST_CASE("an empty chunk and a single event") {
  Encoder encoder(TimeBound::usual());
  Decoder decoder;
  const Place place{0, 0, 0, 50};
  for (const std::size_t n : {0u, 1u}) {
    std::vector<Event> events(n);
    for (Event& e : events) e.time_ns = 50;
    const Encoder::Coded coded = encoder.encode(place, events);
    decoder.add(coded.dictionary);
    CHECK(difference(place, events, decoder.decode(place, coded.events), TimeBound::usual()) == "");
  }
}

TEST_CASE("time that runs backwards is counted and held") {
  Encoder encoder(TimeBound::exact());
  Decoder decoder;
  std::vector<Event> events(4);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].time_ns = std::vector<std::int64_t>{100, 90, 95, 120}[i];
  const Place place{0, 0, 0, 100};
  const Encoder::Coded coded = encoder.encode(place, events);
  CHECK(coded.backwards == 2);
  decoder.add(coded.dictionary);
  const std::vector<Event> decoded = decoder.decode(place, coded.events);
  CHECK(decoded[1].time_ns == 100);
  CHECK(decoded[2].time_ns == 100);
  CHECK(decoded[3].time_ns == 120);
}

TEST_CASE("a lost piece of the dictionary costs only the chunks that need it") {
  Encoder encoder(TimeBound::usual());
  const std::vector<Chunk> chunks = code(encoder, 11, 8, 4, true);
  for (std::size_t lost = 0; lost < chunks.size(); lost += 5) {
    if (chunks[lost].coded.dictionary.empty()) continue;
    Decoder decoder;
    std::size_t decoded = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Chunk& c = chunks[i];
      if (i != lost && !c.coded.dictionary.empty()) decoder.add(c.coded.dictionary);
      try {
        const std::vector<Event> events = decoder.decode(c.place, c.coded.events);
        REQUIRE(difference(c.place, c.events, events, TimeBound::usual()) == "");
        ++decoded;
      } catch (const TraceError&) {
        CHECK(i >= lost);
      }
    }
    CHECK(decoded >= lost);
    CHECK(decoded < chunks.size());
  }
}

TEST_CASE("the dictionary is restarted when it is full") {
  // Each chunk has its own region, so each is a new sequence with a new symbol.
  Encoder encoder(TimeBound::exact());
  Decoder decoder;
  std::size_t most = 0;
  std::vector<Event> events(2);
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    events[0].id = events[1].id = i;
    events[1].kind = Kind::leave;
    const Encoder::Coded coded = encoder.encode({0, 0, 0, 0}, events);
    decoder.add(coded.dictionary);
    if (i % 1000 == 0 || i > 69'990) {
      CHECK(difference({0, 0, 0, 0}, events, decoder.decode({0, 0, 0, 0}, coded.events), TimeBound::exact()) == "");
      most = std::max(most, encoder.held_bytes());
    }
  }
  CHECK(encoder.held_bytes() < most);
}

TEST_CASE("damaged bytes are refused or decode to something") {
  std::mt19937_64 random(5);
  Encoder encoder(TimeBound::usual());
  const std::vector<Chunk> chunks = code(encoder, 13, 2, 3, true);
  for (int trial = 0; trial < 2000; ++trial) {
    Decoder decoder;
    for (const Chunk& c : chunks) {
      std::vector<std::byte> piece = c.coded.dictionary, events = c.coded.events;
      std::vector<std::byte>& hit = !piece.empty() && random() % 2 == 0 ? piece : events;
      if (random() % 3 == 0) {
        hit.resize(random() % (hit.size() + 1));
      } else {
        hit[random() % hit.size()] ^= static_cast<std::byte>(1 + random() % 255);
      }
      try {
        if (!piece.empty()) decoder.add(piece);
        const std::vector<Event> decoded = decoder.decode(c.place, events);
        CHECK(std::is_sorted(decoded.begin(), decoded.end(),
                             [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; }));
      } catch (const TraceError&) {
      }
    }
  }
}

TEST_CASE("wrong arguments are refused") {
  CHECK_THROWS_AS(Encoder({600'000, 100}), std::invalid_argument);
  CHECK_THROWS_AS(Encoder({0, (1u << 30) + 1}), std::invalid_argument);
  Encoder encoder(TimeBound::exact());
  CHECK_THROWS_AS(encoder.encode({-1, 0, 0, 0}, {}), std::invalid_argument);
  CHECK_THROWS_AS(encoder.encode({0, 0, 0, 0}, std::vector<Event>(most_events + 1)), std::invalid_argument);
  std::vector<Event> late(1);
  late[0].time_ns = std::int64_t{1} << 61;
  CHECK_THROWS_AS(encoder.encode({0, 0, 0, 0}, late), std::invalid_argument);
  // The encoder still works.
  late[0].time_ns = 5;
  Decoder decoder;
  const Encoder::Coded coded = encoder.encode({0, 0, 0, 0}, late);
  decoder.add(coded.dictionary);
  CHECK(decoder.decode({0, 0, 0, 0}, coded.events) == late);
  CHECK_THROWS_AS(decoder.add(coded.dictionary), TraceError);
  CHECK_THROWS_AS(decoder.decode({0, 0, 0, 0}, {}), TraceError);
}

TEST_CASE("kinds have names") {
  CHECK(kind_text(Kind::enter) == "enter");
  CHECK(kind_text(Kind::rebalance) == "rebalance");
  CHECK(kind_text(Kind::one_sided) == "one_sided");
  CHECK(kind_text(static_cast<Kind>(200)) == "unknown");
}
