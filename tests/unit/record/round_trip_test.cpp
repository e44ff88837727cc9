#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include "record/reader.hpp"
#include "record/writer.hpp"
#include "sample_run.hpp"

using namespace effort::record;
using namespace effort::record::test;

namespace {

void check_series(const Series& a, const Series& b) {
  CHECK(a.region == b.region);
  CHECK(a.kind == b.kind);
  CHECK(a.phase == b.phase);
  CHECK(a.metric == b.metric);
  CHECK(a.total == b.total);
  CHECK(a.mean_over_ranks == b.mean_over_ranks);
  CHECK(a.max_over_ranks == b.max_over_ranks);
  CHECK(a.max_rank == b.max_rank);
  CHECK(a.imbalance == b.imbalance);
  CHECK(a.nrmse == b.nrmse);
}

void check_window(const Window& a, const Window& b) {
  CHECK(a.first == b.first);
  CHECK(a.last == b.last);
  CHECK(a.rebalance == b.rebalance);
  CHECK(a.rebalanced == b.rebalanced);
  CHECK(a.rebalanced_at == b.rebalanced_at);
  CHECK(a.rebalances == b.rebalances);
  CHECK(a.strata == b.strata);
  CHECK(a.advice == b.advice);
#define EFFORT_NUMBER(name, unknown, unit, meaning) CHECK(a.name == b.name);
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  CHECK(a.worst_rank == b.worst_rank);
  CHECK(a.worst_region_name == b.worst_region_name);
  CHECK(a.wait_seconds == b.wait_seconds);
  CHECK(a.samples_unified == b.samples_unified);
  CHECK(a.samples_stratified == b.samples_stratified);
}

void check_head(const Run& a, const Run& b) {
  CHECK(a.version == b.version);
  CHECK(a.name == b.name);
  CHECK(a.job == b.job);
  CHECK(a.ranks == b.ranks);
  CHECK(a.nodes == b.nodes);
  CHECK(a.steps == b.steps);
  CHECK(a.window == b.window);
  CHECK(a.hint_lag == b.hint_lag);
  CHECK(a.load_metric == b.load_metric);
  CHECK(a.wall_seconds == b.wall_seconds);
  CHECK(a.critical_path == b.critical_path);
  CHECK(a.mean_path == b.mean_path);
  CHECK(a.step_loads == b.step_loads);
  CHECK(a.merged_steps == b.merged_steps);
  CHECK(a.lost_snapshots == b.lost_snapshots);
  CHECK(a.own_cpu_seconds == b.own_cpu_seconds);
  CHECK(a.own_bytes == b.own_bytes);
  REQUIRE(a.modules.size() == b.modules.size());
  for (std::size_t i = 0; i < a.modules.size(); ++i) {
    CHECK(a.modules[i].name == b.modules[i].name);
    CHECK(a.modules[i].path == b.modules[i].path);
    CHECK(a.modules[i].build_id == b.modules[i].build_id);
  }
  CHECK(a.notes == b.notes);
}

std::vector<ExactBlock> exact_of(Reader& reader, std::int32_t wanted) {
  std::vector<ExactBlock> out;
  reader.each_exact([&](std::int32_t node, const ExactBlock& block) {
    if (node == wanted) out.push_back(block);
  });
  return out;
}

}  // namespace

TEST_CASE("every field of a run is read back") {
  const Run expected = sample_run();
  Reader reader(sample_file(), "sample");
  reader.verify();
  const Run& run = reader.run();
  check_head(run, expected);
  REQUIRE(run.metrics.size() == expected.metrics.size());
  for (std::size_t i = 0; i < run.metrics.size(); ++i) {
    CHECK(run.metrics[i].name == expected.metrics[i].name);
    CHECK(run.metrics[i].unit == expected.metrics[i].unit);
  }
  REQUIRE(run.series.size() == expected.series.size());
  for (std::size_t i = 0; i < run.series.size(); ++i) check_series(run.series[i], expected.series[i]);
  REQUIRE(run.windows.size() == expected.windows.size());
  for (std::size_t i = 0; i < run.windows.size(); ++i) check_window(run.windows[i], expected.windows[i]);
  REQUIRE(run.strata.size() == 1);
  CHECK(run.strata[0].first == expected.strata[0].first);
  CHECK(run.strata[0].last == expected.strata[0].last);
  CHECK(run.strata[0].label == expected.strata[0].label);
  CHECK(run.strata[0].medoid_rank == expected.strata[0].medoid_rank);
  CHECK(run.strata[0].region == expected.strata[0].region);
  CHECK(run.strata[0].region_load == expected.strata[0].region_load);
  CHECK(run.moves == sample_run().moves);
  REQUIRE(run.window_costs.size() == 2);
  CHECK(run.window_costs[1].first == 10);
  CHECK(run.window_costs[0].unit == "cells");
  CHECK(run.window_costs[0].seconds_per_unit == 1.25e-8);
  CHECK(run.window_costs[0].error == absent);
  CHECK(run.window_costs[1].error == 2e-10);
  REQUIRE(run.speeds.size() == 2);
  CHECK(run.speeds[1].count == 3);
  CHECK(run.speeds[1].time == 1.3);
  REQUIRE(run.unit_costs.size() == 2);
  CHECK(run.unit_costs[0].name == "cells");
  CHECK(run.unit_costs[0].seconds_per_unit == 1.5e-8);
  CHECK(run.unit_costs[0].error == 2e-10);
  CHECK(run.unit_costs[1].seconds_per_unit == absent);
}

TEST_CASE("the loads are read back by node") {
  Reader reader(sample_file(), "sample");
  const std::vector<NodePart> expected = sample_parts();
  CHECK(reader.nodes() == std::vector<std::int32_t>{0, 1});
  for (const NodePart& part : expected) {
    const std::vector<Tile> tiles = reader.tiles(part.node);
    REQUIRE(tiles.size() == part.tiles.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      CHECK(tiles[i].series == part.tiles[i].series);
      CHECK(tiles[i].first_step == part.tiles[i].first_step);
      CHECK(tiles[i].history == part.tiles[i].history);
    }
    const Traffic traffic = reader.traffic(part.node);
    CHECK(traffic.regions == part.traffic.regions);
    REQUIRE(traffic.flows.size() == part.traffic.flows.size());
    for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
      const Flow &got = traffic.flows[i], &want = part.traffic.flows[i];
      CHECK(got.window == want.window);
      CHECK(got.source == want.source);
      CHECK(got.destination == want.destination);
      CHECK(got.region == want.region);
      CHECK(got.messages == want.messages);
      CHECK(got.bytes == want.bytes);
      CHECK(got.seconds == want.seconds);
    }
    const std::vector<ExactBlock> exact = exact_of(reader, part.node);
    REQUIRE(exact.size() == part.exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      CHECK(exact[i].first_step == part.exact[i].first_step);
      CHECK(exact[i].steps == part.exact[i].steps);
      CHECK(exact[i].series == part.exact[i].series);
      CHECK(exact[i].values == part.exact[i].values);
    }
  }
  CHECK(reader.tiles(7).empty());
}

TEST_CASE("the joint history of all nodes replaces those of the nodes") {
  const Run run = sample_run();
  const std::vector<NodePart> nodes = sample_parts();
  const std::vector<std::vector<std::byte>> parts = {encode_united(nodes[0].tiles),
                                                     encode_part({0, {}, nodes[0].exact})};
  Reader reader(encode(run, parts), "shared");
  reader.verify();
  CHECK(reader.nodes() == std::vector<std::int32_t>{all_nodes});
  const std::vector<Tile> tiles = reader.tiles(all_nodes);
  REQUIRE(tiles.size() == nodes[0].tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) CHECK(tiles[i].history == nodes[0].tiles[i].history);
  CHECK(reader.tiles(0).empty());
  CHECK(exact_of(reader, 0).size() == nodes[0].exact.size());
  for (const SectionInfo& s : reader.sections()) CHECK(s.required == (s.type == "RUN " || s.type == "SHAR"));
  CHECK(run.ranks_of_node(all_nodes) == std::vector<std::int32_t>{0, 1, 4, 2, 3});
  const std::vector<std::vector<std::byte>> both = {encode_united(nodes[0].tiles), encode_part(nodes[1])},
                                            twice = {parts[0], parts[0]};
  CHECK_THROWS_AS(encode(run, both), std::invalid_argument);
  CHECK_THROWS_AS(encode(run, twice), std::invalid_argument);
  CHECK(Reader(sample_file(), "sample").tiles(all_nodes).empty());
}

TEST_CASE("placement maps ranks to nodes and back") {
  const Run run = sample_run();
  CHECK(run.nodes == 2);
  CHECK(run.ranks_of_node(0) == std::vector<std::int32_t>{0, 1, 4});
  CHECK(run.ranks_of_node(1) == std::vector<std::int32_t>{2, 3});
  CHECK(run.count_of_node(0) == 3);
  CHECK(run.placement.size() == 3);
}

TEST_CASE("the bytes do not depend on the order of the parts") {
  std::vector<std::vector<std::byte>> parts;
  for (const NodePart& part : sample_parts()) parts.push_back(encode_part(part));
  const auto one = encode(sample_run(), parts);
  std::reverse(parts.begin(), parts.end());
  CHECK(encode(sample_run(), parts) == one);
  std::vector<std::byte> joined = parts[0];
  joined.insert(joined.end(), parts[1].begin(), parts[1].end());
  CHECK(encode(sample_run(), std::vector<std::vector<std::byte>>{joined}) == one);
}

TEST_CASE("exact windows may be encoded one by one during the run") {
  NodePart whole = sample_parts()[0];
  std::vector<std::byte> piecewise = encode_part({0, whole.tiles, {}});
  for (const ExactBlock& block : whole.exact) {
    const auto bytes = encode_part({0, {}, {block}});
    piecewise.insert(piecewise.end(), bytes.begin(), bytes.end());
  }
  CHECK(piecewise == encode_part(whole));
}

TEST_CASE("a run without steps, windows or loads is also a valid snapshot") {
  Run run;
  run.place(std::vector<std::int32_t>{0});
  run.own_cpu_seconds = {0};
  run.own_bytes = {0};
  Reader reader(encode(run, {}), "empty");
  reader.verify();
  CHECK(reader.run().ranks == 1);
  CHECK(reader.nodes().empty());
  CHECK(reader.size() < 800);
}

TEST_CASE("many strata need wider labels") {
  for (int strata : {1, 256, 257, 70000}) {
    Run run;
    run.place(std::vector<std::int32_t>(70000, 0));
    run.own_cpu_seconds = {0};
    run.own_bytes = {0};
    Strata s;
    for (std::int32_t i = 0; i < strata; ++i) s.medoid_rank.push_back(i);
    for (std::int32_t rank = 0; rank < 70000; ++rank) s.label.push_back(rank % strata);
    run.strata = {s};
    Reader reader(encode(run, {}), "labels");
    CHECK(reader.run().strata.at(0).label == s.label);
  }
}

TEST_CASE("a writer refuses inconsistent runs") {
  const std::vector<NodePart> parts = sample_parts();
  SECTION("placement") {
    Run run = sample_run();
    run.ranks = 6;
    CHECK_THROWS_AS(encode(run, {}), std::invalid_argument);
  }
  SECTION("a metric that does not exist") {
    Run run = sample_run();
    run.series[1].metric = 2;
    CHECK_THROWS_AS(encode(run, {}), std::invalid_argument);
  }
  SECTION("strata for a wrong number of ranks") {
    Run run = sample_run();
    run.strata[0].label.pop_back();
    CHECK_THROWS_AS(encode(run, {}), std::invalid_argument);
  }
  SECTION("two parts with tiles of one node") {
    const auto part = encode_part(parts[0]);
    CHECK_THROWS_AS(encode(sample_run(), std::vector<std::vector<std::byte>>{part, part}), std::invalid_argument);
  }
  SECTION("a part of a node that does not exist") {
    CHECK_THROWS_AS(encode(sample_run(), std::vector<std::vector<std::byte>>{encode_part({2, parts[1].tiles, {}})}),
                    std::invalid_argument);
  }
  SECTION("a truncated part") {
    auto part = encode_part(parts[0]);
    part.pop_back();
    CHECK_THROWS_AS(encode(sample_run(), std::vector<std::vector<std::byte>>{part}), std::invalid_argument);
  }
  SECTION("one series twice") {
    CHECK_THROWS_AS(encode_part({0, {parts[0].tiles[0], parts[0].tiles[0]}, {}}), std::invalid_argument);
  }
  SECTION("an exact block of odd size") {
    CHECK_THROWS_AS(encode_part({0, {}, {{0, 2, {0, 1}, {1, 2, 3}}}}), std::invalid_argument);
  }
}
