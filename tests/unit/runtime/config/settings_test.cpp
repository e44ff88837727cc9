#include "runtime/config/settings.hpp"
#include "runtime/status.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace effort;
using namespace effort::config;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string message_of(const std::string& key, const std::string& value, Status expected = Status::config) {
  try {
    check(key, value);
  } catch (const Error& e) {
    CHECK(e.status() == expected);
    return e.what();
  }
  FAIL("accepted " << key << "=" << value);
  return "";
}

}  // namespace

TEST_CASE("bad values name key, value and what is allowed") {
  for (auto [key, value] : {Pair{"WINDOW", "0"}, {"WINDOW", "ten"}, {"WINDOW", "10 "}, {"WINDOW", ""}, {"HINT_LAG", "-1"}, {"STRATA", "65"},
                            {"NRMSE", "2"}, {"NRMSE", "nan"}, {"PASSES", "0"}, {"EXACT", "yes"}, {"LOAD_THREADS", "mean"}, {"PIN", "core 3"},
                            {"REBALANCE_THRESHOLD", "-0.1"}, {"SNAPSHOT_EVERY", "-5"}}) {
    const std::string message = message_of(key, value);
    CHECK_THAT(message, ContainsSubstring(key) && ContainsSubstring("'" + value + "'") && ContainsSubstring("allowed"));
  }
  CHECK_THAT(message_of("WINDWO", "10"), ContainsSubstring("WINDWO") && ContainsSubstring("WINDOW"));
  CHECK_THAT(message_of("METRICS", "time,PAPI_TOT_CYC", Status::unsupported), ContainsSubstring("PAPI_TOT_CYC"));
  message_of("PCONTROL", "1", Status::unsupported);
}

TEST_CASE("later sources win: given, file, environment") {
  const auto path = std::filesystem::temp_directory_path() / ("effort-settings-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "window = 20\nstrata = \"auto\"\nMETRICS = [\"time\", \"cpu_time\"]\nexact = true\nhint_lag = 3\n";
  CHECK(resolve({{"WINDOW", "7"}, {"NRMSE", "0.01"}}).window == 7);
  setenv("EFFORT_CONFIG", path.c_str(), 1);
  Settings s = resolve({{"WINDOW", "7"}});
  CHECK(s.window == 20);
  CHECK(s.exact);
  CHECK(s.metrics == std::vector<std::string>{"time", "cpu_time"});
  setenv("EFFORT_WINDOW", "30", 1);
  CHECK(resolve({{"WINDOW", "7"}}).window == 30);
  setenv("EFFORT_WINDOW", "x", 1);
  CHECK_THROWS_AS(resolve({}), Error);
  unsetenv("EFFORT_WINDOW");
  std::ofstream(path) << "window = 20\nhint_lag = = 3\n";
  CHECK_THROWS_AS(resolve({}), Error);
  std::ofstream(path) << "window = 0\n";
  try {
    resolve({});
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK_THAT(e.what(), ContainsSubstring(path.string()) && ContainsSubstring("line 1") && ContainsSubstring("WINDOW"));
  }
  std::filesystem::remove(path);
  CHECK_THROWS_AS(resolve({}), Error);  // a file that is not there is an error too
  unsetenv("EFFORT_CONFIG");
  CHECK_THROWS_AS(resolve({{"WINDOW", "4"}, {"HINT_LAG", "5"}}), Error);
}

TEST_CASE("shared settings survive the way to other ranks") {
  const Settings a = resolve({{"WINDOW", "12"}, {"HINT_LAG", "4"}, {"NRMSE", "0.0123456789012345"}, {"STRATA", "5"}, {"LOAD_METRIC", "my cells"},
                              {"METRICS", "time,cpu_time"}, {"LOAD_THREADS", "sum"}, {"SNAPSHOT_DIR", "/some where"}, {"EXACT", "1"}});
  Settings b;
  apply_text(b, to_text(a));
  CHECK(to_text(a) == to_text(b));
  CHECK(b.precision.kind == Precision::Kind::nrmse);
  CHECK(b.precision.value == 0.0123456789012345);
  CHECK(b.load_metric == "my cells");
}
