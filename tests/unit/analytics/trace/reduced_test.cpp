// Chunks of which some segments have the time stamps of others.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "analytics/trace/coder.hpp"
#include "analytics/trace/segments.hpp"
#include "check.hpp"

namespace {

using namespace effort::trace;
using effort::trace::test::difference;
using effort::trace::test::regular_steps;

constexpr std::int64_t full = Encoder::in_full;

/// Where the steps of a chunk begin, and its end.
std::vector<std::size_t> steps_of(const std::vector<Event>& events) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (i == 0 || events[i].kind == Kind::step) out.push_back(i);
  out.push_back(events.size());
  return out;
}

struct Chunk {
  Place place;
  std::vector<Event> events;
  std::int64_t end_ns = 0;
  Encoder::Plan plan;
  Encoder::Reduced coded;
};

/// The times of a segment's events since its first one.
std::vector<std::int64_t> offsets_of(const std::vector<Event>& events, std::size_t segment) {
  const std::vector<std::size_t> steps = steps_of(events);
  std::vector<std::int64_t> out;
  for (std::size_t i = steps[segment]; i < steps[segment + 1]; ++i)
    out.push_back(events[i].time_ns - events[steps[segment]].time_ns);
  return out;
}

/// Chunks of a rank.  The representative i is step i of the chunk whose plan has it first.
std::vector<Chunk> code(Encoder& encoder, std::uint64_t seed, int windows, const std::vector<std::int64_t>& first,
                        const std::vector<std::int64_t>& later) {
  std::mt19937_64 random(seed);
  std::vector<Chunk> out;
  std::int64_t next = 0;
  for (int w = 0; w < windows; ++w) {
    Chunk c;
    c.place = {3, 0, 10 * w, std::int64_t{1'000'000'000} * w};
    c.events = regular_steps(random, c.place, 8, static_cast<int>(first.size()));
    c.end_ns = c.events.back().time_ns + 1000;
    c.plan.representatives = w == 0 ? first : later;
    for (const std::int64_t r : c.plan.representatives)
      if (r == next) c.plan.added.push_back(offsets_of(c.events, static_cast<std::size_t>(next++)));
    c.coded = encoder.encode_reduced(c.place, c.events, c.end_ns, c.plan);
    out.push_back(std::move(c));
  }
  return out;
}

void add(Decoder& decoder, const Encoder::Reduced& coded) {
  if (!coded.coded.dictionary.empty()) decoder.add(coded.coded.dictionary);
  if (!coded.representatives.empty()) decoder.add_representatives(coded.representatives);
}

/// Time by region without the regions inside it, in a chunk in which all regions are balanced.
std::map<std::uint32_t, std::int64_t> times_of(const std::vector<Event>& events) {
  std::map<std::uint32_t, std::int64_t> out;
  std::vector<std::uint32_t> open;
  std::int64_t last = 0;
  for (const Event& e : events) {
    if (e.kind != Kind::enter && e.kind != Kind::leave) continue;
    if (!open.empty()) out[open.back()] += e.time_ns - last;
    last = e.time_ns;
    if (e.kind == Kind::enter)
      open.push_back(e.id);
    else
      open.pop_back();
  }
  return out;
}

}  // namespace

TEST_CASE("a rebuilt step has the stamps of its representative after its own begin") {
  Encoder encoder(TimeBound::exact());
  Decoder decoder;
  std::vector<std::int64_t> offsets;
  for (const Chunk& c : code(encoder, 5, 4, {0, 0, full, 0}, {0, full, 0, 0})) {
    add(decoder, c.coded);
    const Rebuilt rebuilt = decoder.decode_reduced(c.place, c.coded.coded.events);
    const std::vector<std::size_t> steps = steps_of(c.events);
    REQUIRE(rebuilt.events.size() == c.events.size());
    CHECK(rebuilt.segments == 4);
    CHECK(rebuilt.rebuilt == 3);
    std::int64_t largest = 0;
    for (std::size_t s = 0; s + 1 < steps.size(); ++s) {
      const std::int64_t begin = c.events[steps[s]].time_ns;
      const std::int64_t limit = steps[s + 1] < c.events.size() ? c.events[steps[s + 1]].time_ns : c.end_ns;
      if (offsets.empty()) offsets = offsets_of(c.events, 0);
      for (std::size_t i = steps[s]; i < steps[s + 1]; ++i) {
        const bool in_full = c.plan.representatives[s] == full;
        const std::int64_t expected = in_full ? c.events[i].time_ns : std::min(begin + offsets[i - steps[s]], limit);
        REQUIRE(rebuilt.events[i].time_ns == expected);
        largest = std::max(largest, std::abs(expected - c.events[i].time_ns));
        Event same = c.events[i];
        same.time_ns = expected;
        REQUIRE(rebuilt.events[i] == same);
      }
    }
    // The largest error is stored in one byte, rounded up.
    CHECK(c.coded.largest_error_ns == largest);
    CHECK(rebuilt.largest_error_ns >= largest);
    CHECK(rebuilt.largest_error_ns <= largest + largest / 4);
    CHECK(c.coded.error90_ns <= c.coded.largest_error_ns);
  }
}

TEST_CASE("the time in each region stays right within 1 %, and in sum over a chunk") {
  for (const TimeBound bound : {TimeBound::exact(), TimeBound::usual()}) {
    Encoder encoder(bound);
    Decoder decoder;
    double shown_is_off = 0;
    for (const Chunk& c : code(encoder, 9, 6, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0})) {
      add(decoder, c.coded);
      const Rebuilt rebuilt = decoder.decode_reduced(c.place, c.coded.coded.events);
      const auto truth = times_of(c.events);
      auto shown = times_of(rebuilt.events);
      for (const auto& [region, ns] : truth)
        shown_is_off =
            std::max(shown_is_off, std::abs(static_cast<double>(shown[region] - ns)) / static_cast<double>(ns));
      for (const auto& correction : rebuilt.corrections) shown[correction.region] += correction.ns;
      for (const auto& [region, ns] : truth)
        CHECK(std::abs(static_cast<double>(shown[region] - ns)) <= 0.01 * static_cast<double>(ns) + 1);
    }
    CHECK(shown_is_off > 0.02);  // without the corrections
  }
}

TEST_CASE("each chunk decodes by itself, given the pieces, and far fewer bytes are needed") {
  Encoder encoder(TimeBound::usual()), other(TimeBound::usual());
  const std::vector<std::int64_t> first(10, 0);
  const std::vector<Chunk> chunks = code(encoder, 2, 20, first, first);
  std::size_t reduced = 0, plain = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Decoder decoder;
    for (std::size_t j = 0; j <= i; ++j) add(decoder, chunks[j].coded);
    CHECK(decoder.decode_reduced(chunks[i].place, chunks[i].coded.coded.events).events.size() ==
          chunks[i].events.size());
    reduced += chunks[i].coded.coded.events.size() + chunks[i].coded.representatives.size();
    plain += other.encode(chunks[i].place, chunks[i].events).events.size();
  }
  CHECK(10 * reduced < 6 * plain);
}

TEST_CASE("segments in full come back within the bound") {
  Encoder encoder(TimeBound::usual());
  Decoder decoder;
  const std::vector<std::int64_t> all(6, full);
  for (const Chunk& c : code(encoder, 4, 3, all, all)) {
    add(decoder, c.coded);
    CHECK(difference(c.place, c.events, decoder.decode_reduced(c.place, c.coded.coded.events).events,
                     TimeBound::usual()) == "");
    CHECK(c.coded.rebuilt == 0);
    CHECK(c.coded.representatives.empty());
  }
}

TEST_CASE("a lost piece of representatives costs what needs it, and one that comes twice is refused") {
  Encoder encoder(TimeBound::usual());
  std::vector<Chunk> chunks = code(encoder, 6, 3, {0, 0, 1}, {0, 2, 1});
  chunks.erase(chunks.begin() + 2, chunks.end());
  Decoder lacking, complete;
  lacking.add(chunks[0].coded.coded.dictionary);
  CHECK_THROWS_AS(lacking.decode_reduced(chunks[0].place, chunks[0].coded.coded.events), TraceError);
  for (const Chunk& c : chunks) add(complete, c.coded);
  CHECK_THROWS_AS(complete.add_representatives(chunks[0].coded.representatives), TraceError);
  CHECK_THROWS_AS(complete.add_representatives(chunks[1].coded.representatives), TraceError);
  CHECK(complete.decode_reduced(chunks[1].place, chunks[1].coded.coded.events).rebuilt == 3);
}

TEST_CASE("a plan that does not fit is refused") {
  std::mt19937_64 random(1);
  const Place place{0, 0, 0, 0};
  const std::vector<Event> two = regular_steps(random, place, 4, 2);
  const std::vector<std::int64_t> good = offsets_of(two, 0);
  std::vector<std::int64_t> longer = good, late = good, backwards = good;
  longer.push_back(longer.back());
  late[0] = 1;
  std::swap(backwards[1], backwards.back());
  REQUIRE(backwards[1] > backwards[2]);
  for (const Encoder::Plan& plan : std::vector<Encoder::Plan>{{{0}, {good}, {}},
                                                              {{0, 0, 0}, {good}, {}},
                                                              {{1, 0}, {good}, {}},
                                                              {{0, 5}, {good}, {}},
                                                              {{-2, 0}, {good}, {}},
                                                              {{0, 0}, {}, {}},
                                                              {{0, 0}, {good, good}, {}},
                                                              {{0, 0}, {longer}, {}},
                                                              {{0, 0}, {late}, {}},
                                                              {{0, 0}, {backwards}, {}}}) {
    Encoder encoder(TimeBound::exact());
    CHECK_THROWS_AS(encoder.encode_reduced(place, two, two.back().time_ns, plan), std::invalid_argument);
  }
  Encoder encoder(TimeBound::exact());
  encoder.encode_reduced(place, two, two.back().time_ns, {{0, 0}, {good}, {0}});
  CHECK_THROWS_AS(encoder.encode_reduced(place, two, two.back().time_ns, {{0, 0}, {}, {}}), std::invalid_argument);
  const std::vector<Event> long_one(most_reduced_events + 1);
  CHECK_THROWS_AS(encoder.encode_reduced(place, long_one, 0, {{full}, {}, {}}), std::invalid_argument);
}

TEST_CASE("a representative that is longer than its segment ends with it") {
  Encoder encoder(TimeBound::exact());
  Decoder decoder;
  std::vector<Event> events(6);
  const std::int64_t times[] = {0, 10, 1000, 2000, 2005, 2010};
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].time_ns = times[i];
    events[i].kind = i % 3 == 0 ? Kind::step : i % 3 == 1 ? Kind::enter : Kind::leave;
    events[i].id = i % 3 == 0 ? 0 : 7;
    events[i].bytes = i == 3 ? 1 : 0;
  }
  const auto coded = encoder.encode_reduced({0, 0, 0, 0}, events, 2020, {{0, 0}, {{0, 10, 1000}}, {}});
  add(decoder, coded);
  const Rebuilt rebuilt = decoder.decode_reduced({0, 0, 0, 0}, coded.coded.events);
  CHECK(rebuilt.events[4].time_ns == 2010);
  CHECK(rebuilt.events[5].time_ns == 2020);
  REQUIRE(rebuilt.corrections.size() == 1);
  CHECK(rebuilt.corrections[0].region == 7);
  CHECK(std::abs(rebuilt.corrections[0].ns + 5) <= 7);  // 995 ns, of which a 128th is the unit
}

TEST_CASE("random bytes instead of a chunk or a piece are refused or decode") {
  Encoder encoder(TimeBound::usual());
  const std::vector<Chunk> chunks = code(encoder, 8, 2, {0, 1, 0, full}, {1, full, 0, 0});
  std::mt19937_64 random(3);
  std::size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> piece = chunks[0].coded.representatives, chunk = chunks[1].coded.coded.events;
    for (auto* bytes : {&piece, &chunk}) {
      if (random() % 3 == 0) continue;
      (*bytes)[random() % std::min<std::size_t>(bytes->size(), 24)] = static_cast<std::byte>(random());
      if (random() % 8 == 0) bytes->resize(random() % bytes->size());
    }
    Decoder decoder;
    for (const Chunk& c : chunks)
      if (!c.coded.coded.dictionary.empty()) decoder.add(c.coded.coded.dictionary);
    try {
      decoder.add_representatives(piece);
      const Rebuilt rebuilt = decoder.decode_reduced(chunks[1].place, chunk);
      for (std::size_t e = 1; e < rebuilt.events.size(); ++e)
        REQUIRE(rebuilt.events[e].time_ns >= rebuilt.events[e - 1].time_ns);
    } catch (const TraceError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 20'000);
}
