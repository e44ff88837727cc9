// effort check.
#include <catch2/catch_test_macros.hpp>

#include "command.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using effort::record::Kind;
using effort::record::Run;

namespace {

/// Two regions; the imbalance of solve costs `imbalance` x 0.6 of a step.
Run run_with(double imbalance, double critical) {
  Run run = run_of(4, 100, {{"solve", Kind::compute, 6, imbalance}, {"halo", Kind::comm, 4, 0}});
  run.critical_path = critical;
  run.mean_path = 10;
  return run;
}

}  // namespace

TEST_CASE("a check ends with 3 if the balance is worse than allowed") {
  const Scratch scratch;
  scratch.write("run.effort", file_of(run_with(0.1, 11)));
  const auto code = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all = {"check", "run.effort"};
    all.insert(all.end(), options.begin(), options.end());
    return scratch.run(all).code;
  };
  CHECK(code({"--max-imbalance", "0.11"}) == 0);
  CHECK(code({"--max-imbalance", "0.09"}) == 3);
  CHECK(code({"--max-region", "solve:6.1%"}) == 0);
  CHECK(code({"--max-region", "solve:5.9%"}) == 3);
  CHECK(code({"--max-region", "halo:0%", "--max-imbalance", "0.2"}) == 0);
  CHECK(code({"--max-region", "halo:0%", "--max-imbalance", "0.2", "--max-region", "solve:5%"}) == 3);

  const Outcome outcome = scratch.run({"check", "run.effort", "--max-imbalance", "0.05", "--max-region", "solve:7%"});
  CHECK(outcome.code == 3);
  CHECK(outcome.out ==
        "does not hold: imbalance is 10.0 %, at most 5.0 % is allowed\n"
        "holds: the imbalance of 'solve' costs 6.0 %, at most 7.0 % is allowed\n");
  CHECK(outcome.err.empty());
  const auto json = scratch.run({"check", "run.effort", "--max-imbalance", "0.05", "--json"}).json();
  CHECK(json["holds"] == false);
  CHECK(json["checks"][0]["what"] == "imbalance");
  CHECK(json["checks"][0]["limit"] == 0.05);

  // Shares as percentages.
  CHECK(scratch.run({"check", "run.effort", "--max-imbalance", "5%", "--json"}).json() == json);
  CHECK(code({"--max-imbalance", "10.5%"}) == 0);
  for (const char* wrong : {"%", "5 %", "nan", "inf", "-1", "5%%", ""}) {
    CAPTURE(wrong);
    CHECK(code({"--max-imbalance", wrong}) == 2);
  }
}

TEST_CASE("a check against an earlier run") {
  const Scratch scratch;
  scratch.write("old.effort", file_of(run_with(0.1, 11)));
  scratch.write("same.effort", file_of(run_with(0.12, 11.1)));
  scratch.write("worse.effort", file_of(run_with(0.1, 11.5)));
  scratch.write("region.effort", file_of(run_with(0.2, 11)));
  const auto against_old = [&](const char* file) { return scratch.run({"check", file, "--baseline", "old.effort"}); };
  CHECK(against_old("old.effort").code == 0);
  CHECK(against_old("same.effort").code == 0);
  CHECK(against_old("worse.effort").code == 3);
  CHECK(against_old("region.effort").code == 3);
  CHECK(against_old("region.effort").out.find("does not hold: the imbalance of 'solve' costs 12.0 %") !=
        std::string::npos);
  CHECK(scratch.run({"check", "worse.effort", "--baseline", "old.effort", "--tolerance", "0.06"}).code == 0);
}

TEST_CASE("a check that cannot be made says why") {
  const Scratch scratch;
  Run unknown = run_with(0, 0);
  unknown.critical_path = unknown.mean_path = effort::record::absent;
  scratch.write("run.effort", file_of(run_with(0.1, 11)));
  scratch.write("unknown.effort", file_of(unknown));
  CHECK(scratch.run({"check", "run.effort"}).code == 2);
  CHECK(scratch.run({"check", "run.effort", "--max-imbalance", "-1"}).code == 2);
  for (const char* wrong : {"solve", "solve:5", ":5%", "solve:%", "solve:x%", "solve:-1%", "solve:nan%"})
    CHECK(scratch.run({"check", "run.effort", "--max-region", wrong}).code == 2);
  const Outcome region = scratch.run({"check", "run.effort", "--max-region", "nowhere:5%"});
  CHECK(region.code == 1);
  CHECK(region.err.find("has no region called 'nowhere'") != std::string::npos);
  const Outcome imbalance = scratch.run({"check", "unknown.effort", "--max-imbalance", "1"});
  CHECK(imbalance.code == 1);
  CHECK(imbalance.err.find("the imbalance of the run is not known") != std::string::npos);
}
