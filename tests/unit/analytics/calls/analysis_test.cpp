#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "analytics/calls/context_tree.hpp"
#include "analytics/calls/difference.hpp"
#include "analytics/calls/gaps.hpp"
#include "analytics/calls/loops.hpp"
#include "streams.hpp"

namespace {

using namespace effort::calls;
using Events = effort::calls::test::Stream;
using effort::calls::test::any_events;
using effort::calls::test::program;
using Kind = FirstDifference::Event::Kind;

StreamLists add(TreeBuilder& builder, const Events& events) {
  builder.next_stream();
  for (const std::uint32_t event : events) event == 0 ? builder.leave() : builder.enter(event);
  return StreamLists(builder);
}

/// The first difference as a plain comparison finds it.
std::optional<std::size_t> plain_difference(const Events& a, const Events& b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() && y == b.end()) return std::nullopt;
  return static_cast<std::size_t>(x - a.begin());
}

std::vector<std::uint32_t> open_after(const Events& events, std::size_t n) {
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i < n; ++i) {
    if (events[i] != 0)
      open.push_back(events[i]);
    else if (!open.empty())
      open.pop_back();
  }
  return open;
}

void check_difference(const Events& a, const Events& b) {
  TreeBuilder builder;
  const StreamLists x = add(builder, a), y = add(builder, b);
  const auto found = first_difference(builder.tree(), x, y);
  const auto expected = plain_difference(a, b);
  REQUIRE(found.has_value() == expected.has_value());
  if (!found) return;
  CHECK(found->event == *expected);
  CHECK(found->stack == open_after(a, *expected));
  const auto is = [&](const FirstDifference::Event& event, const Events& events) {
    if (*expected == events.size()) return event.kind == Kind::end;
    if (events[*expected] == 0) return event.kind == Kind::leave;
    return event.kind == Kind::entry && event.function == events[*expected];
  };
  CHECK(is(found->a, a));
  CHECK(is(found->b, b));
}

}  // namespace

TEST_CASE("the first difference is that of an event-by-event comparison") {
  check_difference({}, {});
  check_difference({}, {1});
  check_difference({1, 2, 0, 0}, {1, 2, 0, 0});
  check_difference({1, 2, 0, 3, 0, 0}, {1, 2, 0, 4, 0, 0});
  check_difference({1, 2, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 2, 0, 0});
  check_difference({1, 2, 3}, {1, 2, 3, 0, 0, 0});  // one hangs
  check_difference({0, 0, 1}, {0, 0, 0});
  const Events one = program(1, 40);
  check_difference(one, program(2, 40));
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    Events other = one;
    other.resize(random() % (one.size() + 1));
    if (i % 3 != 0 && !other.empty()) other[random() % other.size()] = static_cast<std::uint32_t>(random() % 4);
    check_difference(one, other);
    check_difference(any_events(static_cast<std::uint64_t>(i), 300, 2, 0.5),
                     any_events(static_cast<std::uint64_t>(i + i % 2), 300, 2, 0.5));
  }
}

TEST_CASE("loops are found, whether they have one call in an iteration or several") {
  Events events{1};
  for (int run = 0; run < 2; ++run) {
    events.push_back(2);
    for (int i = 0; i < 10 + 5 * run; ++i) events.insert(events.end(), {3, 0, 4, 5, 0, 5, 0, 0});
    events.push_back(0);
  }
  events.push_back(0);
  TreeBuilder builder;
  const StreamLists lists[] = {add(builder, events)};
  const std::vector<Loop> loops = loops_of(builder.tree(), lists);
  const auto loop = [&](std::uint32_t function, const std::vector<std::uint32_t>& body) {
    return std::ranges::find_if(loops, [&](const Loop& l) { return l.function == function && l.body == body; });
  };
  const auto outer = loop(2, {3, 4}), inner = loop(4, {5}), first = loop(1, {2});
  REQUIRE(outer != loops.end());
  CHECK(outer->runs == 2);
  CHECK(outer->iterations == 25);
  CHECK(outer->least == 10);
  CHECK(outer->most == 15);
  REQUIRE(inner != loops.end());
  CHECK(inner->runs == 25);
  CHECK(inner->iterations == 50);
  REQUIRE(first != loops.end());
  CHECK(first->iterations == 2);
  CHECK(loops.size() == 3);
}

TEST_CASE("streams are compared by the iterations of their loops, and behind them") {
  const auto events = [](int outer, int inner, std::uint32_t last) {
    Events e{1};
    for (int i = 0; i < outer; ++i) {
      e.insert(e.end(), {2, 0, 3});
      for (int k = 0; k < inner; ++k) e.insert(e.end(), {4, 0});
      e.push_back(0);
    }
    e.insert(e.end(), {last, 0, 0});
    return e;
  };
  const auto compared = [](const Events& a, const Events& b) {
    TreeBuilder builder;
    const StreamLists x = add(builder, a), y = add(builder, b);
    return compare(builder.tree(), x, y, 10);
  };
  const Comparison loops = compared(events(5, 3, 6), events(7, 3, 6));
  REQUIRE(loops.loops.size() == 1);
  CHECK(loops.loops[0].stack == Events{1});
  CHECK(loops.loops[0].body == Events{2, 3});
  CHECK(loops.loops[0].a == 5);
  CHECK(loops.loops[0].b == 7);
  CHECK(loops.calls.empty());
  const Comparison inside = compared(events(5, 3, 6), events(5, 9, 6));
  REQUIRE(inside.loops.size() == 1);
  CHECK(inside.loops[0].stack == Events{1, 3});
  CHECK(inside.loops[0].body == Events{4});
  CHECK(inside.loops[0].b == 9);
  const Comparison calls = compared(events(5, 3, 6), events(6, 3, 8));
  CHECK(calls.loops.size() == 1);
  REQUIRE(calls.calls.size() == 1);
  CHECK(calls.calls[0].a == 6);
  CHECK(calls.calls[0].b == 8);
  const Comparison once = compared(events(1, 3, 6), events(4, 3, 6));
  REQUIRE(once.loops.size() == 1);
  CHECK(once.loops[0].a == 1);
  CHECK(once.loops[0].b == 4);
  CHECK(compared(events(5, 3, 6), events(5, 3, 6)).loops.empty());
}

TEST_CASE("calls are counted by stack, and streams have totals") {
  ContextTree tree;
  tree.begin_stream();
  tree.add(Events{1, 2, 0, 2, 0, 3, 2});
  const ContextTree::Totals first = tree.totals();
  CHECK(first.calls == 5);
  CHECK(first.depth == 3);
  CHECK(first.open == Events{1, 3, 2});
  CHECK(first.stray_returns == 0);
  tree.begin_stream();
  tree.add(Events{0, 1, 2});
  tree.add(Events{0, 0, 0});
  const ContextTree::Totals second = tree.totals();
  CHECK(second.calls == 2);
  CHECK(second.stray_returns == 2);
  CHECK(second.open.empty());
  REQUIRE(tree.nodes().size() == 5);
  std::uint64_t calls_of_2 = 0;
  for (const ContextTree::Node& node : tree.nodes()) calls_of_2 += node.function == 2 ? node.calls : 0;
  CHECK(calls_of_2 == 4);
  CHECK(tree.nodes()[2].calls == 3);  // 1 > 2, in both streams
}

TEST_CASE("calls with time stamps are timed by stack") {
  ContextTree tree;
  tree.begin_stream(1);
  // 1 { 2 {} 3 { 2 {} } } 1 { and the end
  const Events events{1, 2, 0, 3, 2, 0, 0, 0, 1};
  const std::vector<std::uint64_t> gaps{5, 10, 20, 1, 2, 40, 3, 4, 100};
  tree.add(std::span(events).first(4), std::span(gaps).first(4));
  tree.add(std::span(events).subspan(4), std::span(gaps).subspan(4));
  tree.end_stream();
  const std::vector<ContextTree::Node>& nodes = tree.nodes();  // root, 1, 1>2, 1>3, 1>3>2
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[1].timed_ns == 10 + 20 + 1 + 2 + 40 + 3 + 4);  // and the open call, up to the last stamp: 0
  CHECK(nodes[1].timed_calls == 2);
  CHECK(nodes[2].timed_ns == 20);
  CHECK(nodes[3].timed_ns == 2 + 40 + 3);
  CHECK(nodes[4].timed_ns == 40);
}

TEST_CASE("of a stream whose last stamps are missing, the calls before are timed") {
  ContextTree tree;
  tree.begin_stream(1);
  const Events events{1, 2, 0, 2, 0, 0};
  const std::vector<std::uint64_t> gaps{1, 2, 3, 4};
  tree.add(events, gaps);
  tree.end_stream();
  CHECK(tree.nodes()[1].timed_calls == 0);
  CHECK(tree.nodes()[2].calls == 2);
  CHECK(tree.nodes()[2].timed_calls == 1);
  CHECK(tree.nodes()[2].timed_ns == 3);
}

TEST_CASE("one call in so many has stamps, at random distances, and its return has one too") {
  for (const std::uint32_t every : {2u, 10u, 1000u}) {
    StampFinder finder(every);
    const int calls = 400'000;
    int stamped = 0, of_even = 0;
    for (int i = 0; i < calls; ++i) {
      const bool entry = finder.next(1 + static_cast<std::uint32_t>(i) % 2);
      const std::uint32_t context = finder.context();
      CHECK(finder.next(0) == entry);
      CHECK(finder.context() == context + 1);
      stamped += entry;
      of_even += entry && i % 2 == 0;
    }
    // Six standard deviations.  Distances are uniform from 1 to 2n - 1, so their variance is n (n - 1) / 3.
    const double expected = calls / static_cast<double>(every);
    const double deviation = std::sqrt(expected * (every - 1.0) / (3.0 * every));
    CHECK(std::abs(stamped - expected) < 6 * deviation + 1);
    CHECK(std::abs(of_even - stamped / 2.0) < 6 * std::sqrt(stamped / 4.0));
  }
  StampFinder never, always(1);
  for (int i = 0; i < 10; ++i) {
    CHECK(!never.next(1));
    CHECK(always.next(1));
  }
  CHECK(!never.next(0));
  CHECK(!StampFinder(1).next(0));  // a return without a call
}

TEST_CASE("times between stamps come back, and repeated ones take little room") {
  std::mt19937_64 random(7);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> gaps;
  for (int i = 0; i < 100'000; ++i)
    gaps.push_back({static_cast<std::uint32_t>(i % 7), 20u * (1 + i % 7) + random() % 4});
  const std::size_t regular = gaps.size();
  for (int bits = 0; bits < 64; ++bits)
    for (const std::uint64_t gap : {(std::uint64_t{1} << bits) - 1, std::uint64_t{1} << bits >> 1})
      gaps.push_back({0xFFFF'FFFFu - static_cast<std::uint32_t>(bits), gap});
  GapEncoder encoder;
  for (int round = 0; round < 2; ++round) {  // it starts anew
    for (const auto& [context, gap] : gaps) encoder.put(context, gap);
    CHECK(encoder.count() == gaps.size());
    const std::vector<std::byte> bytes = encoder.finish();
    CHECK(bytes.size() < regular * 5 / 16 + 2000);  // two bits of noise, and less than a half for the rest
    GapDecoder decoder(bytes);
    bool equal = true;
    for (const auto& [context, gap] : gaps) equal = equal && decoder.next(context) == gap;
    CHECK(equal);
    CHECK(!decoder.overran());
  }
  GapDecoder empty({});
  for (int i = 0; i < 100'000 && !empty.overran(); ++i) empty.next(static_cast<std::uint32_t>(random()));
}
