// Reduction while the program runs.
#include "analytics/reduction/window_reducer.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>
#include <stdexcept>

#include "analytics/trace/coder.hpp"

namespace {

using namespace effort::reduction;
using effort::trace::Event;
using effort::trace::Kind;
using effort::trace::Place;

constexpr std::int64_t full = WindowReducer::in_full, us = 1000;
/// The usual limits, but steps of three events are compared as well.
constexpr WindowReducer::Limits any_size = {32, std::size_t{4} << 20, 1};

Event event(Kind kind, std::int64_t time_ns, std::uint32_t id = 0) {
  Event e;
  e.kind = kind;
  e.time_ns = time_ns;
  e.id = id;
  return e;
}

/// Steps of 1 ms, each with a call of the given length.
struct Window {
  std::vector<Event> events;
  std::int64_t end_ns = 0;
};
Window window(const std::vector<std::int64_t>& lengths_us, std::uint32_t region = 5) {
  Window out;
  for (const std::int64_t length : lengths_us) {
    out.events.push_back(event(Kind::step, out.end_ns));
    out.events.push_back(event(Kind::enter, out.end_ns + 10 * us, region));
    out.events.push_back(event(Kind::leave, out.end_ns + (10 + length) * us, region));
    out.end_ns += 1000 * us;
  }
  return out;
}

std::vector<std::int64_t> plan(WindowReducer& reducer, const Window& w, std::int32_t rank = 0) {
  return reducer.plan({rank, 0, 0, 0}, w.events, w.end_ns).representatives;
}

}  // namespace

TEST_CASE("methods that need the whole trace are refused") {
  CHECK_THROWS_AS(WindowReducer({Similarity::iter_avg, 0}), std::invalid_argument);
  CHECK_THROWS_AS(WindowReducer({Similarity::bounded, 0.2}), std::invalid_argument);
  std::size_t offered = 0;
  for (std::size_t i = 0; i < n_similarities; ++i) {
    const auto similarity = static_cast<Similarity>(i);
    if (!decides_at_once(similarity)) continue;
    ++offered;
    WindowReducer reducer({similarity, default_threshold(similarity)}, any_size);
    const std::vector<std::int64_t> expected = {full, full, 0, 0};
    CHECK(plan(reducer, window({100, 100, 100, 100})) ==
          (similarity == Similarity::iter_k ? std::vector<std::int64_t>{} : expected));
  }
  CHECK(offered == 8);
}

TEST_CASE("a step becomes a representative when two more resemble it, with iter_k when enough are kept") {
  WindowReducer reducer({Similarity::abs_diff, 1000}, any_size);
  CHECK(plan(reducer, window({100})).empty());
  CHECK(plan(reducer, window({100, 100, 102, 101})) == std::vector<std::int64_t>{full, 0, full, 0});
  CHECK(plan(reducer, window({102, 100, 102})) == std::vector<std::int64_t>{full, 0, 1});
  // Another call, another rank: nothing to compare with.
  CHECK(plan(reducer, window({100}, 6)).empty());
  CHECK(plan(reducer, window({100, 100, 100}), 1) == std::vector<std::int64_t>{full, full, 2});
  CHECK(reducer.classes() == 3);

  WindowReducer last({Similarity::iter_k, 2}, any_size);
  const Window w = window({100, 200, 900, 50});
  const auto p = last.plan({0, 0, 0, 0}, w.events, w.end_ns);
  CHECK(p.representatives == std::vector<std::int64_t>{full, full, 0, 0});
  REQUIRE(p.added.size() == 1);
  CHECK(p.added[0] == std::vector<std::int64_t>{0, 10 * us, 210 * us});  // of the second one
}

TEST_CASE("sizes, tags and amounts of work do not matter, peers do") {
  WindowReducer reducer({Similarity::abs_diff, 1000}, any_size);
  Window w = window({100, 100, 100, 100});
  for (std::size_t s = 0; s < 4; ++s) {
    Event send = event(Kind::send, w.events[4 * s + 1].time_ns);
    send.peer = s == 3 ? 4 : 2;
    send.bytes = 100 * s;
    send.tag = static_cast<std::int32_t>(s);
    w.events.insert(w.events.begin() + static_cast<std::ptrdiff_t>(4 * s + 2), send);
  }
  CHECK(plan(reducer, w) == std::vector<std::int64_t>{full, full, 0, full});
}

TEST_CASE("a class that is full starts anew, and rests if too little was alike") {
  WindowReducer reducer({Similarity::abs_diff, 1}, {4, std::size_t{1} << 20, 1});
  std::int64_t length = 100;
  for (int w = 0; w < 60; ++w) {
    CHECK(plan(reducer, window({length, length + 1, length + 2, length + 3})).empty());
    length += 4;
    CHECK(reducer.held_bytes() < 2000);
  }
  // Steps 1 to 4 are kept, and a rest of 4 follows; 9 to 12 and a rest of 8; 21 and 16; 41 and 32; 77 and 64; 145 and
  // 128.  So 277 is the next one that is kept, 278 resembles it, and 279 too.
  int w = 60;
  std::vector<std::int64_t> found;
  for (; found.empty() && w < 100; ++w) found = plan(reducer, window({500, 500, 500, 500}));
  CHECK(w - 1 == 278 / 4);
  CHECK(found == std::vector<std::int64_t>{full, full, 0, 0});
}

TEST_CASE("memory is bounded, whatever happens") {
  constexpr std::size_t most = 100'000;
  WindowReducer reducer({Similarity::avg_wave, 0.2}, {32, most, 1});
  std::mt19937_64 random(1);
  std::set<std::int64_t> alive;
  for (std::uint32_t w = 0; w < 3000; ++w) {
    const auto a = static_cast<std::int64_t>(random() % 900), b = static_cast<std::int64_t>(random() % 900);
    const Window some = window({a, b, a, b, a, b}, w % 1500);
    const auto p = reducer.plan({static_cast<std::int32_t>(w % 3), 0, 0, 0}, some.events, some.end_ns);
    for (const std::int64_t n : p.representatives)
      if (n != full) alive.insert(n);
    for (const std::int64_t n : p.forgotten) CHECK(alive.erase(n) == 1);
    CHECK(reducer.held_bytes() <= most);
  }
  CHECK(alive.size() < most / 100);
  CHECK(reducer.classes() < most / 500);
}

TEST_CASE("steps have the representatives that they have in the reduction of a whole trace, from the third on") {
  std::mt19937_64 random(7);
  for (const Similarity similarity : {Similarity::rel_diff, Similarity::chebyshev, Similarity::haar_wave}) {
    const Method method{similarity, default_threshold(similarity) / 4};
    WindowReducer reducer(method, {10'000, std::size_t{1} << 24, 1});
    Representatives whole(method);
    std::vector<int> seen;
    std::vector<std::int64_t> number;
    std::int64_t next = 0;
    int rebuilt = 0;
    for (int w = 0; w < 30; ++w) {
      std::vector<std::int64_t> lengths;
      for (int s = 0; s < 10; ++s) lengths.push_back(static_cast<std::int64_t>(50 + random() % 800));
      auto p = plan(reducer, window(lengths));
      p.resize(10, full);
      for (std::size_t s = 0; s < 10; ++s) {
        const double end = static_cast<double>(10 + lengths[s]) * us;
        const std::uint32_t as = whole.add(1, std::vector<double>{10.0 * us, end, 1000.0 * us});
        seen.resize(whole.size(), 0);
        number.resize(whole.size(), full);
        ++seen[as];
        if (p[s] == full) continue;
        ++rebuilt;
        CHECK(seen[as] >= 3);
        if (number[as] == full) number[as] = next++;
        REQUIRE(p[s] == number[as]);
      }
    }
    CHECK(next > 2);
    CHECK(rebuilt > 150);
  }
}

TEST_CASE("short steps, and steps of which few are alike, are stored in full") {
  WindowReducer usual({Similarity::abs_diff, 1000});
  for (int w = 0; w < 5; ++w) CHECK(plan(usual, window({100, 100, 100, 100})).empty());
  CHECK(usual.classes() == 0);

  // Every third step is the same.
  WindowReducer reducer({Similarity::abs_diff, 1000}, any_size);
  std::int64_t other = 200;
  for (int w = 0; w < 10; ++w) {
    CHECK(plan(reducer, window({100, other, other + 2})).empty());
    other += 4;
  }
}
