// Calls with time stamps: where the time went, however the program ends.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"

namespace {

using effort::tools::test::Outcome;
using effort::tools::test::Scratch;

nlohmann::json of_function(const nlohmann::json& info, const std::string& name) {
  for (const nlohmann::json& f : info["functions"])
    if (f["name"] == name) return f;
  return {};
}

constexpr const char* recorded = "functions_host-job.functions";

/// Runs the host with time stamps for one call in `every`.
Outcome run(const Scratch& scratch, const char* mode, int every) {
  return scratch.run_program(TEST_HOST, {mode},
                             "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_OVERHEAD=0 PMI_JOBID=job EFFORT_SNAPSHOT_DIR=. "
                             "LD_PRELOAD=" TEST_LIBRARY " EFFORT_FUNCTIONS_STAMPS=" +
                                 std::to_string(every));
}

}  // namespace

TEST_CASE("functions: time stamps tell where the time went, also in the coded file") {
  const Scratch scratch;
  const Outcome host = run(scratch, "timed", 1);
  REQUIRE(host.code == 0);
  const double outside = 1e-9 * std::stod(host.out);
  const nlohmann::json info = scratch.run({"calls", "info", recorded, "--json"}).json();
  CHECK(info["streams"][0]["stamp_every"] == 1);
  const nlohmann::json spin = of_function(info, "spin"), spins = of_function(info, "spins"),
                       leaf = of_function(info, "leaf"), timed = of_function(info, "timed");
  CHECK(spin["timed_calls"] == 3);
  CHECK(leaf["timed_calls"] == 3000);
  CHECK(spin["own_seconds"] >= 0.03);
  CHECK(spin["own_seconds"] == spin["inclusive_seconds"]);
  CHECK(spins["inclusive_seconds"] > spin["own_seconds"].get<double>() + leaf["own_seconds"].get<double>());
  CHECK(spins["inclusive_seconds"] <= outside);
  CHECK(timed["inclusive_seconds"] >= outside);
  double own = 0;
  for (const nlohmann::json& f : info["functions"]) own += f["own_seconds"].get<double>();
  double outer = 0;  // these have no caller
  for (const char* name : {"main", "before_main", "after_exit"})
    outer += of_function(info, name)["inclusive_seconds"].get<double>();
  CHECK(std::abs(own - outer) < 1e-9);

  REQUIRE(scratch.run({"calls", "encode", recorded, "-o", "x.calls"}).code == 0);
  CHECK(scratch.run({"calls", "info", "x.calls", "--json"}).json()["functions"] == info["functions"]);
  REQUIRE(scratch.run({"calls", "info", "x.calls", "--folded-time", "folded"}).code == 0);
  std::istringstream lines(scratch.read_text("folded"));
  double microseconds = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("main;timed;spins;spin ")) microseconds = std::stod(line.substr(line.rfind(' ')));
  CHECK(std::abs(microseconds - 1e6 * spin["own_seconds"].get<double>()) <= 0.5);
}

TEST_CASE("functions: some calls with time stamps stand for all, however the program ends") {
  for (const char* mode : {"kill", "crash", "exit", "jumps", "threads", "fork", "signals", "recursion", "closed"}) {
    INFO(mode);
    const Scratch scratch;
    run(scratch, mode, 3);
    const nlohmann::json info = scratch.run({"calls", "info", recorded, "--json"}).json();
    std::uint64_t calls = 0, timed = 0;
    for (const nlohmann::json& f : info["functions"]) {
      calls += f["calls"].get<std::uint64_t>();
      timed += f["timed_calls"].get<std::uint64_t>();
    }
    // Distances are 1 to 5, so each is within this range, for each stream.
    CHECK(timed >= calls / 5);
    CHECK(timed <= calls);
    for (const nlohmann::json& s : info["streams"]) CHECK(s["stamp_every"] == 3);
  }
}

TEST_CASE("functions: without room for more time stamps, calls are still recorded") {
  const Scratch scratch;
  REQUIRE(run(scratch, "limited", 1).code == 0);
  const nlohmann::json info = scratch.run({"calls", "info", recorded, "--json"}).json();
  const nlohmann::json leaf = of_function(info, "leaf");
  CHECK(leaf["timed_calls"].get<std::uint64_t>() > 1000);
  CHECK(leaf["timed_calls"] < leaf["calls"]);
}
