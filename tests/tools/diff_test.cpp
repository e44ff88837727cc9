// effort diff.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <map>

#include "command.hpp"
#include "golden_run.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using effort::record::Kind;
using effort::record::Run;
using effort::record::test::golden_file;

namespace {

std::map<std::string, nlohmann::json> by_name(const nlohmann::json& diff) {
  std::map<std::string, nlohmann::json> out;
  for (const auto& region : diff["regions"]) out[region["name"].get<std::string>()] = region;
  return out;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

TEST_CASE("diff compares times per step, for any numbers of ranks and steps") {
  const Scratch scratch;
  // The same work on half the ranks takes twice the time per rank and step; there are twice as many steps.
  scratch.write(
      "a.effort",
      file_of(run_of(8, 100,
                     {{"solve", Kind::compute, 4, 0.5}, {"halo", Kind::comm, 1, 0}, {"old", Kind::compute, 1, 0}})));
  scratch.write(
      "b.effort",
      file_of(run_of(4, 200,
                     {{"solve", Kind::compute, 16, 0.1}, {"halo", Kind::comm, 2.0002, 0}, {"new", Kind::io, 3, 0}})));
  const Outcome outcome = scratch.run({"diff", "a.effort", "b.effort", "--json"});
  REQUIRE(outcome.code == 0);
  const auto json = outcome.json();
  CHECK(json["metric"] == "time");
  CHECK(json["a"]["ranks"] == 8);
  CHECK(json["b"]["ranks"] == 4);
  CHECK(json["a"]["seconds_per_step"] == 0.1);
  auto regions = by_name(json);
  REQUIRE(regions.size() == 4);
  const auto& solve = regions["solve"];
  CHECK(solve["verdict"] == "worse");
  CHECK(near(solve["a"]["mean_per_step"], 0.04));
  CHECK(near(solve["b"]["mean_per_step"], 0.08));
  CHECK(near(solve["a"]["total_per_step"], solve["b"]["total_per_step"]));
  CHECK(near(solve["a"]["max_per_step"], 0.06));
  CHECK(near(solve["b"]["max_per_step"], 0.088));
  CHECK(near(solve["change_per_step"], 0.028));
  CHECK(near(solve["change"], 0.088 / 0.06 - 1));
  CHECK(regions["halo"]["verdict"] == "same");
  CHECK(regions["old"]["verdict"] == "only_a");
  CHECK(regions["old"]["b"].is_null());
  CHECK(regions["new"]["verdict"] == "only_b");
  // Largest change first.
  double last = 1e300;
  for (const auto& region : json["regions"]) {
    const double change = std::abs(region["change_per_step"].get<double>());
    CHECK(change <= last);
    last = change;
  }
}

TEST_CASE("diff: exchanging the runs exchanges better and worse") {
  const Scratch scratch;
  scratch.write(
      "a.effort",
      file_of(
          run_of(8, 100, {{"one", Kind::compute, 4, 0.5}, {"two", Kind::compute, 2, 0}, {"three", Kind::wait, 1, 1}})));
  scratch.write(
      "b.effort",
      file_of(run_of(16, 100,
                     {{"one", Kind::compute, 2, 0.25}, {"two", Kind::compute, 3, 0}, {"four", Kind::wait, 1, 1}})));
  auto forth = by_name(scratch.run({"diff", "a.effort", "b.effort", "--json"}).json()),
       back = by_name(scratch.run({"diff", "b.effort", "a.effort", "--json"}).json());
  const std::map<std::string, std::string> opposite = {
      {"better", "worse"}, {"worse", "better"}, {"same", "same"}, {"only_a", "only_b"}, {"only_b", "only_a"}};
  REQUIRE(forth.size() == back.size());
  for (const auto& [name, region] : forth) {
    CHECK(back[name]["verdict"] == opposite.at(region["verdict"].get<std::string>()));
    CHECK(near(back[name]["change_per_step"], -region["change_per_step"].get<double>()));
    CHECK(back[name]["a"] == region["b"]);
  }
  CHECK(forth["one"]["verdict"] == "better");
}

TEST_CASE("diff: a run equals itself, also in the text output") {
  const Scratch scratch;
  scratch.write("a.effort", golden_file(false));
  const auto json = scratch.run({"diff", "a.effort", "a.effort", "--json"}).json();
  CHECK(json["metric"] == "cpu_time");
  for (const auto& region : json["regions"]) CHECK(region["verdict"] == "same");
  const Outcome text = scratch.run({"diff", "a.effort", "a.effort"});
  CHECK(text.code == 0);
  CHECK(text.out.find("8 regions within 2.0 %") != std::string::npos);
  CHECK(text.out.find("Worse") == std::string::npos);
}

TEST_CASE("diff: the text names the changes, and the scaling if the numbers of ranks differ") {
  const Scratch scratch;
  scratch.write("a.effort", file_of(run_of(8, 100, {{"solve", Kind::compute, 4, 0.5}, {"old", Kind::compute, 1, 0}})));
  Run b = run_of(16, 100, {{"solve", Kind::compute, 2, 0.5}, {"new", Kind::compute, 1, 0}});
  b.wall_seconds = 6.25;
  scratch.write("b.effort", file_of(b));
  const Outcome text = scratch.run({"diff", "a.effort", "b.effort"});
  REQUIRE(text.code == 0);
  for (const char* part : {"8 ranks on 1 node", "16 ranks on 1 node", "Better", "solve", "-50.0 %", "Only in A", "old",
                           "Only in B", "new", "1.60 x", "scaling efficiency", "80.0 %"}) {
    INFO(part << " in\n" << text.out);
    CHECK(text.out.find(part) != std::string::npos);
  }
}

TEST_CASE("diff refuses runs that share no metric") {
  const Scratch scratch;
  Run other = run_of(4, 10, {{"solve"}});
  other.metrics = {{"cells", "1"}};
  other.load_metric = "cells";
  scratch.write("a.effort", file_of(run_of(4, 10, {{"solve"}})));
  scratch.write("b.effort", file_of(other));
  const Outcome outcome = scratch.run({"diff", "a.effort", "b.effort"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("no metric of time") != std::string::npos);
  CHECK(scratch.run({"diff", "a.effort", "a.effort", "--metric", "nix"}).err.find("give --metric one of: time") !=
        std::string::npos);
  CHECK(scratch.run({"diff", "a.effort", "missing.effort"}).code == 1);
  CHECK(scratch.run({"diff", "a.effort"}).code == 2);
}
