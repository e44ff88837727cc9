// What all ranks did in each region, from the file of one node.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "../../command.hpp"
#include "../traces.hpp"
#include "tools/trace/input/read.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
namespace fs = std::filesystem;

TEST_CASE("sums of regions are read from the file of node 0, and are unknown if it is missing") {
  const Scratch scratch;
  Trace trace = small_trace(false);
  trace.windows[0].region_seconds = {{region_solve, 5e-6}, {region_waitall, 1e-6}};
  trace.windows[0].region_calls = {{region_solve, 70}, {region_waitall, 2}};
  trace.windows[1].region_seconds.emplace();
  write_files(trace, scratch / "times.trace");
  const Trace got = read_trace((scratch / "times.trace").string());
  REQUIRE(got.windows[0].region_seconds.has_value());
  CHECK(got.windows[0].region_seconds->size() == 2);
  CHECK(std::abs(got.windows[0].region_seconds->at(region_solve) - 5e-6) < 1e-12);
  REQUIRE(got.windows[0].region_calls.has_value());
  CHECK(got.windows[0].region_calls->at(region_solve) == 70);
  REQUIRE(got.windows[1].region_seconds.has_value());
  const auto json = scratch.run({"trace", "info", "times.trace", "--json"}).json();
  CHECK(json["measured_windows"] == 2);
  CHECK(json["counted_windows"] == 2);
  const auto solve = std::find_if(json["calls"].begin(), json["calls"].end(),
                                  [](const auto& call) { return call["path"] == "step/solve"; });
  REQUIRE(solve != json["calls"].end());
  CHECK((*solve)["timed"] == true);
  CHECK((*solve)["counted"] == true);
  CHECK(scratch.run({"trace", "info", "times.trace"})
            .out.find("times of regions and their numbers of calls were measured on all ranks: what has no interval is "
                      "known") != std::string::npos);
  const fs::path files = scratch / "times.trace";
  fs::remove(files / "node-00001.trc");
  CHECK(read_trace(files.string()).windows[0].region_seconds.has_value());
  // Files of format 1.5 have times only.
  trace.windows[0].region_calls.reset();
  write_files(trace, scratch / "other.trace");
  CHECK_FALSE(read_trace((scratch / "other.trace").string()).windows[0].region_calls.has_value());
  CHECK(scratch.run({"trace", "info", "other.trace"}).out.find("times of regions were measured on all ranks: what") !=
        std::string::npos);
  fs::remove(scratch / "other.trace" / "node-00000.trc");
  const Trace half = read_trace((scratch / "other.trace").string());
  REQUIRE(half.windows.size() == 2);
  CHECK_FALSE(half.windows[0].region_seconds.has_value());
  CHECK_FALSE(half.windows[1].region_seconds.has_value());
}
