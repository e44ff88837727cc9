// The table of REPORT=summary.
#include "runtime/history/report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <set>
#include <sstream>

using namespace effort;

namespace {

record::Run run_of(const std::vector<std::string>& regions) {
  record::Run run;
  run.ranks = 2;
  run.nodes = 1;
  run.load_metric = "cpu_time";
  run.wall_seconds = 1000;
  run.metrics = {{"time", "s"}, {"cpu_time", "s"}};
  run.own_cpu_seconds = {1};
  for (const std::string& name : regions) {
    record::Series s;
    s.region = name;
    s.metric = 1;
    s.total = 10;
    run.series.push_back(s);
    s.kind = record::Kind::wait;
    s.region += " wait";
    run.series.push_back(s);
    s.metric = 0;
    run.series.push_back(s);
  }
  return run;
}

/// The text before the kind in each row.
std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (const auto kind = line.find(" compute "); kind != std::string::npos) out.push_back(line.substr(0, kind));
  return out;
}

}  // namespace

TEST_CASE("names in the summary are cut so that rows stay distinct") {
  const std::string path = "[libsolver.so.1+0x4f2a10 libsolver.so.1+0x1180 application+0x2b6a]";
  std::vector<std::string> regions = {"solve", std::string(60, 'x'), std::string(60, 'x') + "y", std::string(59, 'x')};
  for (const char* call : {"MPI_Bcast [libsolver.so.1+0x11]", "MPI_Allreduce [libsolver.so.1+0x11]"})
    regions.push_back("MPI_Waitall " + path + " > " + call);
  const auto rows = names(engine::summary(run_of(regions), {}));
  REQUIRE(rows.size() == regions.size());
  CHECK(std::set<std::string>(rows.begin(), rows.end()).size() == rows.size());
  for (const auto& row : rows) CHECK(row.size() <= 50);
}

TEST_CASE("the rank that is waited for most is named, with the innermost frames of its region") {
  record::Run run = run_of({"MPI_Wait [app+0x1f app+0x2 libc.so.6+0x3] > MPI_Send [app+0x4 app+0x5]"});
  run.series[0].max_rank = 1;
  run.series[0].max_over_ranks = 6;
  run.series[0].mean_over_ranks = 5;
  run.metrics.push_back({"collective_delay", "s"});
  record::Series delay;
  delay.region = "(step)";
  delay.metric = 2;
  delay.total = 4;
  delay.max_rank = 1;
  delay.max_over_ranks = 3;
  run.series.push_back(delay);
  CHECK(engine::summary(run, {}).find("rank 1 made the others wait 3 s at collectives, 75.0 % of all such waiting; "
                                      "it exceeds the mean rank most in MPI_Wait [app+0x1f] > MPI_Send [app+0x4]\n") !=
        std::string::npos);
}

TEST_CASE("the library's own time is a share of what the ranks computed") {
  CHECK(engine::summary(run_of({"solve", "flux"}), {}).find("(5.000 % of what 2 ranks computed)") != std::string::npos);
}
