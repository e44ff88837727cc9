// Whether a reader found a sample.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>

#include "check.hpp"
#include "record/trace/reader.hpp"
#include "sample.hpp"

namespace effort::record::trace::test {

inline void check_header(const Header& a, const Header& b) {
  CHECK(a.library == b.library);
  CHECK(a.name == b.name);
  CHECK(a.job == b.job);
  CHECK(a.design == b.design);
  CHECK(a.guide == b.guide);
  CHECK(a.clock == b.clock);
  CHECK(a.started_unix_ns == b.started_unix_ns);
  CHECK(a.n_ranks == b.n_ranks);
  CHECK(a.n_nodes == b.n_nodes);
  CHECK(a.confidence == b.confidence);
  CHECK(a.error == b.error);
  CHECK(a.bound == b.bound);
  CHECK(a.reduction == b.reduction);
  REQUIRE(a.nodes.size() == b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    CHECK(a.nodes[i].node == b.nodes[i].node);
    CHECK(a.nodes[i].ranks == b.nodes[i].ranks);
  }
}

inline void check_names(const Names& a, const Names& b) {
  REQUIRE(a.regions.size() == b.regions.size());
  for (std::size_t i = 0; i < a.regions.size(); ++i) {
    CHECK(a.regions[i].id == b.regions[i].id);
    CHECK(a.regions[i].kind == b.regions[i].kind);
    CHECK(a.regions[i].parent == b.regions[i].parent);
    CHECK(a.regions[i].name == b.regions[i].name);
  }
  REQUIRE(a.phases.size() == b.phases.size());
  CHECK(a.phases.back().id == b.phases.back().id);
  CHECK(a.phases.back().name == b.phases.back().name);
  REQUIRE(a.units.size() == b.units.size());
  CHECK(a.units.back().id == b.units.back().id);
  CHECK(a.units.back().name == b.units.back().name);
  REQUIRE(a.communicators.size() == b.communicators.size());
  for (std::size_t i = 0; i < a.communicators.size(); ++i) {
    CHECK(a.communicators[i].id == b.communicators[i].id);
    CHECK(a.communicators[i].name == b.communicators[i].name);
    CHECK(a.communicators[i].members == b.communicators[i].members);
    CHECK(a.communicators[i].remote == b.communicators[i].remote);
  }
}

inline void check_window(const Window& a, const Window& b) {
  CHECK(a.node == b.node);
  CHECK(a.window == b.window);
  CHECK(a.first_step == b.first_step);
  CHECK(a.last_step == b.last_step);
  CHECK(a.start_ns == b.start_ns);
  CHECK(a.end_ns == b.end_ns);
  CHECK(a.error == b.error);
  CHECK(a.confidence == b.confidence);
  REQUIRE(a.strata.size() == b.strata.size());
  for (std::size_t i = 0; i < a.strata.size(); ++i) {
    CHECK(a.strata[i].population == b.strata[i].population);
    CHECK(a.strata[i].sample == b.strata[i].sample);
  }
  REQUIRE(a.ranks.size() == b.ranks.size());
  for (std::size_t i = 0; i < a.ranks.size(); ++i) {
    CHECK(a.ranks[i].rank == b.ranks[i].rank);
    CHECK(a.ranks[i].reasons == b.ranks[i].reasons);
    CHECK(a.ranks[i].probability == b.ranks[i].probability);
    CHECK(a.ranks[i].stratum == b.ranks[i].stratum);
    CHECK(a.ranks[i].dropped_steps == b.ranks[i].dropped_steps);
    CHECK(a.ranks[i].dropped_events == b.ranks[i].dropped_events);
  }
  REQUIRE(a.region_sums.has_value() == b.region_sums.has_value());
  if (!a.region_sums) return;
  REQUIRE(a.region_sums->size() == b.region_sums->size());
  for (std::size_t i = 0; i < a.region_sums->size(); ++i) {
    CHECK((*a.region_sums)[i].region == (*b.region_sums)[i].region);
    CHECK((*a.region_sums)[i].ns == (*b.region_sums)[i].ns);
    CHECK((*a.region_sums)[i].calls == (*b.region_sums)[i].calls);
  }
}

/// What happened came back, at times that are off by no more than the file says, and a few of the time's own bound.
inline void check_reduced(const effort::trace::Rebuilt& rebuilt, const std::vector<Event>& events) {
  CHECK(rebuilt.segments == 10);
  CHECK(rebuilt.rebuilt == 8);
  CHECK(rebuilt.error90_ns > 0);
  CHECK(rebuilt.largest_error_ns >= rebuilt.error90_ns);
  CHECK_FALSE(rebuilt.corrections.empty());
  REQUIRE(rebuilt.events.size() == events.size());
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    Event same = rebuilt.events[i];
    largest = std::max(largest, std::abs(same.time_ns - events[i].time_ns));
    same.time_ns = events[i].time_ns;
    CHECK(same == events[i]);
  }
  CHECK(largest > 0);
  CHECK(largest <= rebuilt.largest_error_ns);
}

/// The events of chunk i.
inline void check_events(const Reader& reader, std::size_t i, const Sample::Chunk& expected) {
  const EventsInfo& info = reader.chunks()[i];
  CHECK(info.node == expected.chunk.node);
  CHECK(info.window == expected.chunk.window);
  CHECK(info.rank == expected.chunk.rank);
  CHECK(info.thread == expected.chunk.thread);
  CHECK(info.events == expected.events.size());
  const Window* window = reader.window_of(info);
  REQUIRE(window != nullptr);
  const Place place{info.rank, info.thread, window->first_step, window->start_ns};
  CHECK(info.reduced == expected.chunk.reduced);
  if (info.reduced) {
    check_reduced(reader.rebuilt(info), expected.events);
    return;
  }
  CHECK(effort::trace::test::difference(place, expected.events, reader.rebuilt(info).events, reader.header().bound) ==
        "");
}

inline void check_sample(const Reader& reader, const Sample& s) {
  CHECK(reader.problems().empty());
  check_header(reader.header(), s.header);
  check_names(reader.names(), s.names);
  REQUIRE(reader.modules().size() == s.modules.modules.size());
  for (std::size_t i = 0; i < s.modules.modules.size(); ++i) {
    CHECK(reader.modules()[i].name == s.modules.modules[i].name);
    CHECK(reader.modules()[i].build_id == s.modules.modules[i].build_id);
    CHECK(reader.modules()[i].path == s.modules.modules[i].path);
  }
  REQUIRE(reader.windows().size() == s.windows.size());
  for (std::size_t i = 0; i < s.windows.size(); ++i) check_window(reader.windows()[i], s.windows[i]);
  REQUIRE(reader.chunks().size() == s.chunks.size());
  for (std::size_t i = 0; i < s.chunks.size(); ++i) check_events(reader, i, s.chunks[i]);
  REQUIRE(reader.clocks().size() == 1);
  CHECK(reader.clocks()[0].node == s.clock.node);
  CHECK(reader.clocks()[0].time_ns == s.clock.time_ns);
  CHECK(reader.clocks()[0].offset_ns == s.clock.offset_ns);
  CHECK(reader.clocks()[0].bound_ns == s.clock.bound_ns);
  REQUIRE(reader.ends().size() == s.ends.size());
  for (std::size_t i = 0; i < s.ends.size(); ++i) {
    CHECK(reader.ends()[i].node == s.ends[i].node);
    CHECK(reader.ends()[i].steps == s.ends[i].steps);
  }
}

}  // namespace effort::record::trace::test
