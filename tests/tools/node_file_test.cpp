// effort place with the topology of a node, which hwloc has written.
#include <hwloc.h>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "record/part.hpp"
#include "record/writer.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using namespace effort;

namespace {

/// A topology as `lstopo FILE.xml` writes it.
void write_topology(const Scratch& scratch, const std::string& name, const char* synthetic) {
  hwloc_topology_t topology;
  REQUIRE(hwloc_topology_init(&topology) == 0);
  REQUIRE(hwloc_topology_set_synthetic(topology, synthetic) == 0);
  REQUIRE(hwloc_topology_load(topology) == 0);
  REQUIRE(hwloc_topology_export_xml(topology, (scratch / name).c_str(), 0) == 0);
  hwloc_topology_destroy(topology);
}

/// Sixteen ranks on one node; each exchanges 1000 bytes with the rank eight places further on.
std::vector<std::byte> opposite_pairs() {
  record::Run run = run_of(16, 10, {{"solve"}});
  run.place(std::vector<std::int32_t>(16, 0));
  run.own_cpu_seconds = {0.1};
  run.own_bytes = {1024};
  record::NodePart part;
  part.traffic.regions = {"MPI_Isend"};
  for (std::int32_t from = 0; from < 8; ++from) part.traffic.flows.push_back({0, from, from + 8, 0, 10, 1000, 0});
  const std::vector<std::vector<std::byte>> parts{record::encode_part(part)};
  return record::encode(run, parts);
}

}  // namespace

TEST_CASE("the shape of a node is read from hwloc's file") {
  const Scratch scratch;
  scratch.write("a.effort", opposite_pairs());
  const auto levels = [&](const char* synthetic) {
    write_topology(scratch, "node.xml", synthetic);
    const Outcome outcome = scratch.run({"place", "a.effort", "--topology", "node.xml", "-o", "order", "--json"});
    INFO(synthetic << ": " << outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json()["node"].get<std::vector<int>>();
  };
  using Levels = std::vector<int>;
  CHECK(levels("pack:2 numa:1 l3:2 core:4 pu:2") == Levels{2, 2, 4});
  CHECK(levels("pack:2 numa:4 l3:2 l2:4 l1:1 core:1 pu:1") == Levels{2, 4, 2, 4});
  CHECK(levels("pack:1 numa:1 l3:1 l2:8 l1:1 core:2 pu:1") == Levels{1, 8, 2});
  CHECK(levels("core:16 pu:1") == Levels{1, 16});
}

TEST_CASE("ranks are ordered by the file as by the same shape, below switches, too") {
  const Scratch scratch;
  scratch.write("a.effort", opposite_pairs());
  write_topology(scratch, "node.xml", "pack:2 numa:1 l3:2 core:4 pu:2");
  scratch.write_text("switches", "SwitchName=s0 Nodes=n0\n");
  const auto place = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"place", "a.effort", "--format", "mpich", "-o", "order", "--json"};
    line.insert(line.end(), more.begin(), more.end());
    const Outcome outcome = scratch.run(line);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.json()["off_domain_before"] == 8000);
    CHECK(outcome.json()["off_domain"] == 0);
    return scratch.read_text("order");
  };
  const std::string by_shape = place({"--node", "2x2x4"});
  CHECK(place({"--topology", "node.xml"}) == by_shape);
  CHECK(place({"--node", "node.xml"}) == by_shape);
  CHECK(place({"--topology", "switches", "--topology", "node.xml"}) == by_shape);
  CHECK(place({"--topology", "node.xml", "--topology", "switches"}) == by_shape);
  CHECK(scratch.run({"place", "a.effort", "--topology", "node.xml", "-o", "order"})
            .out.find("100.0 % left their NUMA domain") != std::string::npos);
}

TEST_CASE("files that describe no node are refused with a reason and a remedy") {
  const Scratch scratch;
  scratch.write("a.effort", opposite_pairs());
  write_topology(scratch, "node.xml", "pack:2 numa:1 l3:2 core:4 pu:2");
  write_topology(scratch, "small.xml", "numa:2 core:4 pu:1");
  scratch.write_text("other.xml", "<html>no node</html>\n");
  scratch.write_text("torn.xml", scratch.read_text("node.xml").substr(0, 700));
  const auto error = [&](const std::vector<std::string>& more, int code) {
    std::vector<std::string> line{"place", "a.effort", "-o", "order"};
    line.insert(line.end(), more.begin(), more.end());
    const Outcome outcome = scratch.run(line);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK(!std::filesystem::exists(scratch / "order"));
    return outcome.err;
  };
  CHECK(error({"--topology", "other.xml"}, 1).find("lstopo") != std::string::npos);
  CHECK(error({"--topology", "torn.xml"}, 1).find("lstopo") != std::string::npos);
  CHECK(error({"--topology", "small.xml"}, 1).find("16 ranks, but only 8 cores") != std::string::npos);
  CHECK(error({"--topology", "node.xml", "--topology", "small.xml"}, 2).find("exclude each other") !=
        std::string::npos);
  CHECK(error({"--topology", "node.xml", "--node", "2x8"}, 2).find("exclude") != std::string::npos);
  scratch.write_text("hosts", "n0\n");
  CHECK(error({"--topology", "node.xml", "--format", "slurm", "--hosts", "hosts"}, 2).find("slurm") !=
        std::string::npos);
}
