// effort place.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "record/part.hpp"
#include "record/writer.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using namespace effort;

namespace {

/// 16 ranks on four nodes in blocks; a ring that connects rank r with (5 r) % 16's neighbours, so blocks are bad.
std::vector<std::byte> scattered_ring(std::int32_t nodes = 4) {
  record::Run run = run_of(16, 10, {{"solve"}});
  std::vector<std::int32_t> node_of(16);
  for (std::int32_t r = 0; r < 16; ++r) node_of[static_cast<std::size_t>(r)] = r / (16 / nodes);
  run.place(node_of);
  run.own_cpu_seconds.assign(static_cast<std::size_t>(nodes), 0.1);
  run.own_bytes.assign(static_cast<std::size_t>(nodes), 1024);
  std::vector<std::vector<std::byte>> parts;
  for (std::int32_t node = 0; node < nodes; ++node) {
    record::NodePart part;
    part.node = node;
    part.traffic.regions = {"MPI_Isend"};
    for (std::int32_t i = 0; i < 16; ++i) {
      const std::int32_t from = 5 * i % 16, to = 5 * (i + 1) % 16;
      if (node_of[static_cast<std::size_t>(from)] == node) part.traffic.flows.push_back({0, from, to, 0, 10, 1000, 0});
    }
    parts.push_back(record::encode_part(part));
  }
  return record::encode(run, parts);
}

/// The ranks of a file of lists, one line per node.
std::vector<std::vector<int>> lists(const std::string& text) {
  std::vector<std::vector<int>> nodes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    nodes.emplace_back();
    for (std::string number; std::getline(numbers, number, ',');) nodes.back().push_back(std::stoi(number));
  }
  return nodes;
}

std::string topology(const Scratch& scratch, const std::string& text) {
  scratch.write_text("topology.conf", text);
  return "topology.conf";
}

}  // namespace

TEST_CASE("a ring is placed in arcs, and the order is written for each launcher") {
  const Scratch scratch;
  scratch.write("a.effort", scattered_ring());
  const Outcome mpich = scratch.run({"place", "a.effort", "--format", "mpich", "-o", "order", "--json"});
  REQUIRE(mpich.code == 0);
  const auto json = mpich.json();
  CHECK(json["bytes"] == 16000);
  CHECK(json["off_node"] == 4000);  // four arcs
  CHECK(json["link_bytes"] == 8000);
  CHECK(json["off_node_before"].get<double>() > 4000);
  const std::vector<std::vector<int>> nodes = lists(scratch.read_text("order"));
  REQUIRE(nodes.size() == 4);
  std::vector<int> all;
  for (const std::vector<int>& node : nodes) {
    CHECK(node.size() == 4);
    CHECK(std::is_sorted(node.begin(), node.end()));
    all.insert(all.end(), node.begin(), node.end());
  }
  std::sort(all.begin(), all.end());
  for (int r = 0; r < 16; ++r) CHECK(all[static_cast<std::size_t>(r)] == r);

  REQUIRE(scratch.run({"place", "a.effort", "-o", "rankfile"}).code == 0);
  std::string wanted;
  for (int rank = 0; rank < 16; ++rank) {
    for (std::size_t node = 0; node < 4; ++node) {
      const auto at = std::find(nodes[node].begin(), nodes[node].end(), rank);
      if (at != nodes[node].end())
        wanted += "rank " + std::to_string(rank) + "=+n" + std::to_string(node) +
                  " slot=" + std::to_string(at - nodes[node].begin()) + "\n";
    }
  }
  CHECK(scratch.read_text("rankfile") == wanted);

  scratch.write_text("hosts", "c1\nc2\nc3\nc4\n");
  REQUIRE(scratch.run({"place", "a.effort", "--hosts", "hosts", "--format", "slurm", "-o", "slurm"}).code == 0);
  const std::string slurm = scratch.read_text("slurm");
  CHECK(std::count(slurm.begin(), slurm.end(), '\n') == 16);
  CHECK(slurm.starts_with("c"));
}

TEST_CASE("inside a node, ranks that exchange many bytes share its parts") {
  const Scratch scratch;
  scratch.write("a.effort", scattered_ring(2));
  const auto json =
      scratch.run({"place", "a.effort", "--node", "2x2x2", "--format", "mpich", "-o", "order", "--json"}).json();
  CHECK(json["off_node"] == 2000);    // two arcs of eight
  CHECK(json["off_domain"] == 4000);  // each of two arcs of four
  CHECK(json["off_domain_before"].get<double>() > 4000);
  const std::vector<std::vector<int>> nodes = lists(scratch.read_text("order"));
  REQUIRE(nodes.size() == 2);
  const auto place_in_ring = [](int rank) { return 13 * rank % 16; };  // 5 * 13 = 65 = 1 mod 16
  for (const std::vector<int>& node : nodes) {
    REQUIRE(node.size() == 8);
    for (std::size_t i = 0; i < 8; i += 2) {  // pairs of a cache are neighbours
      const int apart = (place_in_ring(node[i]) - place_in_ring(node[i + 1]) + 16) % 16;
      CHECK((apart == 1 || apart == 15));
    }
  }
  const Outcome text = scratch.run({"place", "a.effort", "--node", "2x2x2", "-o", "rankfile"});
  CHECK(text.out.find("In the order of 'rankfile', 25.0 % leave their NUMA domain: 3.9 KiB instead of") !=
        std::string::npos);
  const std::string rankfile = scratch.read_text("rankfile");
  for (std::size_t core = 0; core < 8; ++core)
    CHECK(rankfile.find("rank " + std::to_string(nodes[1][core]) + "=+n1 slot=" + std::to_string(core) + "\n") !=
          std::string::npos);
  // Without it, domains are not mentioned.
  CHECK(scratch.run({"place", "a.effort", "-o", "order", "--json"}).json()["off_domain"].is_null());
  for (const std::string bad : {"x", "2x", "x2", "0x2", "2x-1", "2 x2", "65536x2", "99999999999"})
    CHECK(scratch.run({"place", "a.effort", "--node", bad, "-o", "order"}).code == 2);
  const Outcome small = scratch.run({"place", "a.effort", "--node", "2x3", "-o", "order"});
  CHECK(small.code == 1);
  CHECK(small.err.find("a node has 8 ranks, but only 6 cores") != std::string::npos);
  scratch.write_text("hosts", "a\nb\n");
  CHECK(scratch.run({"place", "a.effort", "--node", "2x4", "--hosts", "hosts", "--format", "slurm", "-o", "s"}).code ==
        2);
}

TEST_CASE("switches are read from Slurm's description, by the names of hosts or in its order") {
  const Scratch scratch;
  scratch.write("a.effort", scattered_ring(8));
  const std::string file =
      topology(scratch,
               "# two switches\nSwitchName=s0 Nodes=n[00-03] LinkSpeed=1\nSwitchName=s1 Nodes=n[04-07]\n\n"
               "SwitchName=top Switches=s[0-1]\n");
  const auto json = scratch.run({"place", "a.effort", "--topology", file, "-o", "order", "--json"}).json();
  CHECK(json["off_node"] == 8000);                           // eight arcs
  CHECK(json["link_bytes"] == 6 * 2 * 1000 + 2 * 4 * 1000);  // two of their ends are between the switches
  scratch.write_text("hosts", "n07\nn00\nn01\nn02\nn03\nn04\nn05\nn06\n");
  CHECK(scratch.run({"place", "a.effort", "--topology", file, "--hosts", "hosts", "-o", "order"}).code == 0);
  CHECK(scratch.read_text("order").find("=n07 slot=") != std::string::npos);
}

TEST_CASE("what cannot be placed is refused with a reason and a remedy") {
  const Scratch scratch;
  scratch.write("a.effort", scattered_ring());
  scratch.write("none.effort", file_of(run_of(4, 10, {{"solve"}})));
  const auto error = [&](const std::vector<std::string>& more, int code) {
    std::vector<std::string> line{"place", "a.effort", "-o", "order"};
    line.insert(line.end(), more.begin(), more.end());
    const Outcome outcome = scratch.run(line);
    CHECK(outcome.code == code);
    CHECK(!std::filesystem::exists(scratch / "order"));
    return outcome.err;
  };
  const Outcome none = scratch.run({"place", "none.effort", "-o", "order"});
  CHECK(none.code == 1);
  CHECK(none.err.find("EFFORT_COMM_MATRIX=1") != std::string::npos);
  CHECK(error({"--format", "slurm"}, 2).find("--hosts") != std::string::npos);
  scratch.write_text("hosts", "a\nb\n");
  CHECK(error({"--hosts", "hosts"}, 1).find("names 2 nodes, but the run has 4") != std::string::npos);
  scratch.write_text("hosts", "a\nb\na\nc\n");
  CHECK(error({"--hosts", "hosts"}, 1).find("names 'a' twice") != std::string::npos);
  CHECK(scratch.run({"place", "a.effort", "-o", "a.effort"}).code == 2);

  const std::vector<std::pair<std::string, std::string>> bad{
      {"SwitchName=s0 Nodes=n[0-3\n", "line 1"},
      {"SwitchName=s0 Nodes=n[3-0]\n", "runs backwards"},
      {"SwitchName=s0 Nodes=n[0-99999999999]\n", "1,048,576"},
      {"SwitchName=s0 Nodes=n[0-18446744073709551615]\n", "1,048,576"},
      {"SwitchName=s0\n", "needs either Nodes or Switches"},
      {"Nodes=n[0-3]\n", "has no SwitchName"},
      {"nonsense\n", "KEY=VALUE is expected"},
      {"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s0 Nodes=m[0-3]\n", "line 2"},
      {"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n0\n", "below a second switch"},
      {"SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n", "not one tree"},
      {"SwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s0\n", "not one tree"},
      {"SwitchName=s0 Switches=s[1-2]\nSwitchName=s1 Nodes=n[0-3]\n", "without saying what is below it"},
      {"SwitchName=s0 Nodes=n[0-7]\n", "describes 8 nodes, but the run has 4"}};
  for (const auto& [text, message] : bad) {
    const std::string said = error({"--topology", topology(scratch, text)}, 1);
    INFO(text << said);
    CHECK(said.find(message) != std::string::npos);
  }
  scratch.write_text("hosts", "n0\nn1\nn2\nm9\n");
  CHECK(error({"--topology", topology(scratch, "SwitchName=s0 Nodes=n[0-7]\n"), "--hosts", "hosts"}, 1)
            .find("does not name node 'm9'") != std::string::npos);
}
