// Sends and receives are matched by communicator, sender, receiver, tag and order.
#include "tools/trace/analysis/messages.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>

#include "../traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;
namespace why = effort::record::trace;

namespace {

/// A true message: sizes are unique, so a wrong match shows.
struct Truth {
  std::int64_t send_ns, receive_ns;
  std::uint64_t bytes;
};

/// Every match must be of one size at both ends; returns how many there are.
std::size_t verify(const Trace& trace, const TraceMessages& messages) {
  for (const TraceMessage& m : messages.matched) {
    const TraceEvent& send = trace.threads[m.send.thread].events[m.send.event];
    const TraceEvent& receive = trace.threads[m.receive.thread].events[m.receive.event];
    if (send.bytes != receive.bytes || send.tag != receive.tag || send.id != receive.id) return 0;
    if (send.peer != trace.threads[m.receive.thread].rank || receive.peer != trace.threads[m.send.thread].rank)
      return 0;
    if (m.receive_ns < m.send_ns) return 0;
  }
  return messages.matched.size();
}

/// Messages from rank 0 to rank 1, in windows of 1000 ns, some of which are kept.
Trace stream(const std::vector<Truth>& truth, const std::vector<std::int64_t>& windows) {
  Trace out = empty_trace(2);
  for (const std::int64_t w : windows) {
    add_window(out, w, 1000 * w, 1000 * (w + 1));
    Events sends(0), receives(0);
    std::vector<Truth> by_receive = truth;
    for (const Truth& t : truth)
      if (t.send_ns / 1000 == w) sends.at(t.send_ns).message(Kind::send, 1, 3, t.bytes);
    for (const Truth& t : truth)
      if (t.receive_ns / 1000 == w) receives.at(t.receive_ns).message(Kind::receive, 0, 3, t.bytes);
    keep(out, 0, why::reason_sample, 0.5, 0, sends);
    keep(out, 1, why::reason_partner, 0, 0, receives);
  }
  return out;
}

}  // namespace

TEST_CASE("the messages of a small trace") {
  const Trace trace = small_trace(false);
  const TraceMessages messages = match_messages(trace);
  CHECK(verify(trace, messages) == 6);
  CHECK(messages.unmatched_sends == 2);  // to rank 2, which was not kept
  CHECK(messages.unmatched_receives == 0);
  CHECK(messages.clamped == 0);
  CHECK(match_messages(small_trace(true)).unmatched_sends == 0);
  // Starts and completions are part of the message.
  std::map<Kind, int> marked;
  for (std::size_t t = 0; t < trace.threads.size(); ++t)
    for (std::size_t i = 0; i < trace.threads[t].events.size(); ++i)
      if (messages.of_event[t][i] != TraceMessages::none) ++marked[trace.threads[t].events[i].kind];
  CHECK(marked[Kind::send] == 4);
  CHECK(marked[Kind::send_start] == 2);
  CHECK(marked[Kind::send_done] == 2);
  CHECK(marked[Kind::receive_start] == 6);
  CHECK(marked[Kind::receive_done] == 6);
}

TEST_CASE("the receive posted first gets the message, whichever is complete first") {
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000);
  keep(trace, 0, why::reason_sample, 1, 0,
       Events(10).message(Kind::send, 1, 3, 111).wait(5).message(Kind::send, 1, 3, 222));
  Events receives(1);
  receives.message(Kind::receive_start, -1, -1, 0, 4).wait(1).message(Kind::receive_start, 0, 3, 0, 9);
  receives.at(50).message(Kind::receive_done, 0, 3, 222, 9).at(60).message(Kind::receive_done, 0, 3, 111, 4);
  keep(trace, 1, why::reason_sample, 1, 0, receives);
  CHECK(verify(trace, match_messages(trace)) == 2);
}

TEST_CASE("messages without a known peer and cancelled requests do not count") {
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000);
  Events e(10);
  e.message(Kind::send, -1, 3, 0).message(Kind::receive_start, 0, 1, 0, 0).request(Kind::request_cancelled, 0);
  e.message(Kind::receive_start, 0, 1, 0, 0).message(Kind::receive_done, 1, 1, 8, 0);
  keep(trace, 0, why::reason_sample, 1, 0, e);
  keep(trace, 1, why::reason_sample, 1, 0, Events(12).message(Kind::send, 0, 1, 8));
  const TraceMessages messages = match_messages(trace);
  CHECK(verify(trace, messages) == 1);
  CHECK(messages.unmatched_sends == 0);
  CHECK(messages.unmatched_receives == 0);
  CHECK(messages.of_event[0][1] == TraceMessages::none);
  CHECK(messages.of_event[0][3] == 0);
}

TEST_CASE("tags, communicators and directions are matched separately") {
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000);
  Events a(10), b(5);
  for (const std::uint32_t c : {0u, 1u})
    for (const std::int32_t tag : {1, 2})
      a.wait(1).message(Kind::send, 1, tag, 10 * c + static_cast<std::uint64_t>(tag), 0, c);
  for (const std::int32_t tag : {2, 1})
    for (const std::uint32_t c : {1u, 0u})
      b.wait(20).message(Kind::receive, 0, tag, 10 * c + static_cast<std::uint64_t>(tag), 0, c);
  a.at(500).message(Kind::receive, 1, 1, 77);
  b.at(300).message(Kind::send, 0, 1, 77);
  keep(trace, 0, why::reason_sample, 1, 0, a);
  keep(trace, 1, why::reason_sample, 1, 0, b);
  CHECK(verify(trace, match_messages(trace)) == 5);
}

TEST_CASE("clocks that disagree: clamped and counted") {
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000);
  keep(trace, 0, why::reason_sample, 1, 0, Events(100).message(Kind::send, 1, 3, 5));
  keep(trace, 1, why::reason_sample, 1, 0, Events(70).message(Kind::receive, 0, 3, 5));
  const TraceMessages messages = match_messages(trace);
  CHECK(verify(trace, messages) == 1);
  CHECK(messages.clamped == 1);
  CHECK(messages.largest_clamp_ns == 30);
}

TEST_CASE("windows whose predecessor was not kept: messages that were under way do not shift the others") {
  std::mt19937_64 random(4);
  for (const bool sizes : {true, false}) {
    std::size_t right = 0, wrong = 0, whole = 0;
    for (int round = 0; round < 200; ++round) {
      std::vector<Truth> truth;
      std::int64_t received = 0;
      const std::int64_t flight = 20 + static_cast<std::int64_t>(random() % 200);
      for (std::int64_t send = 5; send < 6000; send += 60 + static_cast<std::int64_t>(random() % 60)) {
        received = std::max(received + 1, send + flight + static_cast<std::int64_t>(random() % 20));
        truth.push_back({send, received, sizes ? 8 * truth.size() : 64});
      }
      const Trace trace = stream(truth, {0, 2, 3, 5});
      const TraceMessages messages = match_messages(trace);
      std::map<std::int64_t, std::int64_t> pairs;
      for (const Truth& t : truth) pairs[t.send_ns] = t.receive_ns;
      const auto kept = [](std::int64_t ns) { return ns / 1000 != 1 && ns / 1000 != 4 && ns / 1000 < 6; };
      for (const TraceMessage& m : messages.matched)
        ++(pairs.at(m.send_ns) == trace.threads[m.receive.thread].events[m.receive.event].time_ns ? right : wrong);
      for (const Truth& t : truth) whole += kept(t.send_ns) && kept(t.receive_ns) ? 1 : 0;
    }
    CAPTURE(sizes, right, wrong, whole);
    CHECK(right >= whole * 95 / 100);
    CHECK(wrong <= whole * 5 / 100);
    if (sizes) CHECK(wrong == 0);
  }
}

TEST_CASE("stored times are inexact: a receive that seems complete before its send still has it") {
  Trace trace = empty_trace(2);
  trace.bound = effort::trace::TimeBound::usual();
  add_window(trace, 0, 0, 1'000'000);
  keep(trace, 0, why::reason_sample, 1, 0, Events(10));
  add_window(trace, 2, 2'000'000, 3'000'000);  // nothing is known about the one before
  Events sends(0), receives(0);
  for (const std::int64_t t : {2'200'000, 2'400'000, 2'600'000, 2'800'000}) {
    // The gaps are 200 us, so each time may be off by 2 us.
    sends.at(t + 1500).message(Kind::send, 1, 3, 64);
    receives.at(t - 1500).message(Kind::receive, 0, 3, 64);
  }
  keep(trace, 0, why::reason_sample, 1, 0, sends);
  keep(trace, 1, why::reason_sample, 1, 0, receives);
  const TraceMessages messages = match_messages(trace);
  CHECK(verify(trace, messages) == 4);
  CHECK(messages.clamped == 0);  // within the error of their times
  CHECK(messages.unmatched_sends == 0);
  trace.bound = effort::trace::TimeBound::exact();  // then they belong to other messages
  CHECK(match_messages(trace).matched.size() == 3);
}

TEST_CASE("a single late message does not shift the others") {
  for (const std::size_t late : {0u, 4u, 9u}) {
    Trace trace = empty_trace(2);
    add_window(trace, 3, 0, 100'000);
    Events sends(0), receives(0);
    for (std::size_t i = 0; i < 10; ++i) {
      const auto t = static_cast<std::int64_t>(10'000 * i + 100 * (i * 7 % 5));
      sends.at(t).message(Kind::send, 1, 3, 64);
      receives.at(t + 300 + static_cast<std::int64_t>(i * 37 % 50) + (i == late ? 9'000 : 0))
          .message(Kind::receive, 0, 3, 64);
    }
    keep(trace, 0, why::reason_sample, 1, 0, sends);
    keep(trace, 1, why::reason_sample, 1, 0, receives);
    CAPTURE(late);
    CHECK(match_messages(trace).matched.size() == 10);
  }
}

TEST_CASE("receives posted in the same ns keep their order") {
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1000);
  keep(trace, 0, why::reason_sample, 1, 0,
       Events(10).message(Kind::send, 1, 3, 111).wait(5).message(Kind::send, 1, 3, 222));
  Events receives(1);
  receives.message(Kind::receive_start, 0, 3, 0, 4).message(Kind::receive_start, 0, 3, 0, 9);
  receives.at(50).message(Kind::receive_done, 0, 3, 222, 9).at(60).message(Kind::receive_done, 0, 3, 111, 4);
  keep(trace, 1, why::reason_sample, 1, 0, receives);
  CHECK(verify(trace, match_messages(trace)) == 2);
}

TEST_CASE("steps that found no room: messages under way before and after them keep both ends") {
  std::mt19937_64 random(9);
  for (const std::int32_t who : {0, 1}) {
    std::size_t right = 0, wrong = 0, whole = 0;
    for (int round = 0; round < 200; ++round) {
      std::vector<Truth> truth;
      std::int64_t received = 0;
      for (std::int64_t send = 5; send < 6000; send += 60 + static_cast<std::int64_t>(random() % 60)) {
        received = std::max(received + 1, send + 20 + static_cast<std::int64_t>(random() % 200));
        truth.push_back({send, received, 8 * truth.size()});
      }
      // One of the two has lost a part of the fourth window.
      const auto lost_until = 3000 + static_cast<std::int64_t>(random() % 900);
      const auto lost = [&](std::int32_t rank, std::int64_t ns) {
        return rank == who && ns >= 3000 && ns < lost_until;
      };
      Trace trace = empty_trace(2);
      for (std::int64_t w = 1; w < 6; ++w) {
        add_window(trace, w, 1000 * w, 1000 * (w + 1));
        Events sends(0), receives(0);
        for (const Truth& t : truth) {
          if (t.send_ns / 1000 == w && !lost(0, t.send_ns)) sends.at(t.send_ns).message(Kind::send, 1, 3, t.bytes);
          if (t.receive_ns / 1000 == w && !lost(1, t.receive_ns))
            receives.at(t.receive_ns).message(Kind::receive, 0, 3, t.bytes);
        }
        keep(trace, 0, why::reason_sample, 0.5, 0, sends);
        keep(trace, 1, why::reason_sample, 0.5, 0, receives);
        if (w == 3) trace.windows.back().find(who)->dropped_steps = 1;
      }
      const TraceMessages messages = match_messages(trace);
      for (const TraceMessage& m : messages.matched)
        ++(trace.threads[m.send.thread].events[m.send.event].bytes ==
                   trace.threads[m.receive.thread].events[m.receive.event].bytes
               ? right
               : wrong);
      const auto kept = [](std::int64_t ns) { return ns >= 1000 && ns < 6000; };
      for (const Truth& t : truth)
        whole += kept(t.send_ns) && kept(t.receive_ns) && !lost(0, t.send_ns) && !lost(1, t.receive_ns) ? 1 : 0;
    }
    CAPTURE(who, right, wrong, whole);
    CHECK(right == whole);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the check detects a wrong match") {
  const Trace trace = small_trace(true);
  TraceMessages messages = match_messages(trace);
  REQUIRE(verify(trace, messages) == 6);
  std::swap(messages.matched[0].receive, messages.matched[1].receive);
  CHECK(verify(trace, messages) == 0);
}
