#include "runtime/config/settings.hpp"
#include "runtime/config/settings_file.hpp"
#include "runtime/status.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>

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
  for (auto [key, value] : {Pair{"WINDOW", "0"},
                            {"WINDOW", "ten"},
                            {"WINDOW", "10 "},
                            {"WINDOW", ""},
                            {"HINT_LAG", "-1"},
                            {"STRATA", "65"},
                            {"NRMSE", "2"},
                            {"NRMSE", "nan"},
                            {"PASSES", "0"},
                            {"EXACT", "yes"},
                            {"LOAD_THREADS", "mean"},
                            {"PIN", "core 3"},
                            {"REBALANCE_THRESHOLD", "-0.1"},
                            {"REBALANCE_PRICE", "-1"},
                            {"REBALANCE_GAIN", "1.5"},
                            {"REBALANCE_PATIENCE", "0"},
                            {"TRACE_DESIGN", "before"},
                            {"TRACE_UPDATE", "0"},
                            {"TRACE_GUIDE", "rss"},
                            {"TRACE_GUIDE", "time@"},
                            {"TRACE_NAMES", "secret"},
                            {"TRACE_PIN", "9-3"},
                            {"SNAPSHOT_EVERY", "-5"}}) {
    const std::string message = message_of(key, value);
    CHECK_THAT(message, ContainsSubstring(key) && ContainsSubstring("'" + value + "'") && ContainsSubstring("allowed"));
  }
  CHECK_THAT(message_of("WINDWO", "10"), ContainsSubstring("WINDWO") && ContainsSubstring("WINDOW"));
  for (auto [key, value] : {Pair{"LOAD_METRIC", "rss"},
                            {"LOAD_METRIC", "sde:::app::cells@value"},
                            {"LOAD_METRIC", "calls"},
                            {"READ_METRICS", "window"},
                            {"MULTIPLEX", "2"},
                            {"MAX_OVERHEAD", "-0.1"},
                            {"MAX_OVERHEAD", "2"}})
    CHECK_THAT(message_of(key, value), ContainsSubstring(key) && ContainsSubstring("allowed"));
  for (auto [key, value] : {Pair{"STEP", "Allreduce"},
                            {"STEP", "MPI_Barrier:0"},
                            {"STEP", "MPI_Barrier@"},
                            {"SPLIT", "MPI_Wait,Send"},
                            {"PATH_DEPTH", "17"},
                            {"PATH_DEPTH", "-1"},
                            {"PCONTROL", "2"}})
    CHECK_THAT(message_of(key, value), ContainsSubstring(key) && ContainsSubstring("allowed"));
}

TEST_CASE("values that are refused cannot control a terminal") {
  const std::string control = "\x1b[2J\xc2\x9b\xff";
  for (const Pair& pair : {Pair{control, "1"}, {"WINDOW", control}, {control, std::string("a\0b", 3)}}) {
    try {
      resolve({pair});
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find_first_of("\x1b\xc2\xff") == std::string::npos);
    }
  }
  try {
    resolve({{"NRMSE", "0.1"}, {"PASSES", control}});
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find_first_of("\x1b\xc2\xff") == std::string::npos);
  }
}

TEST_CASE("the largest values are the same on the other ranks") {
  for (const Pair& pair : {Pair{"MAX_BYTES", "9223372036854775807"},
                           {"SNAPSHOT_EVERY", "9223372036854775807"},
                           {"WINDOW", "100000"},
                           {"REBALANCE_THRESHOLD", "1e6"}}) {
    const Settings here = resolve({pair});
    Settings there;
    apply_text(there, to_text(here));
    CHECK(to_text(there) == to_text(here));
  }
}

TEST_CASE("keys and values nested without end are refused, whatever the stack") {
  const auto repeated = [](const std::string& text) {
    std::string out;
    while (out.size() < 500000) out += text;
    return out;
  };
  for (const std::string& content :
       {repeated("a.") + "a = 1\n", "[" + repeated("a.") + "a]\n", "metrics = " + repeated("["),
        "window = " + repeated("{a="), std::string("window = [[[[[1]]]]]\n"), std::string("a.b.c.d.e.f = 1\n"),
        std::string("a = '#'\nb = \"\\\"\"\nc = '''\n'\n'''''\nd.d.d.d.d.d = 1\n")}) {
    INFO(content.substr(0, 40));
    try {
      settings_in(content, "settings.toml");
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK_THAT(e.what(), ContainsSubstring("nested deeper than any setting"));
    }
  }
  const auto good = settings_in(
      "metrics = [ 'time', \"a.b.c.d.e.f [[[[[[\", '''{{{{{{{''' ] # [[[[[[[[ 'x\nnrmse = 0.5\n", "settings.toml");
  REQUIRE(good.size() == 2);
  CHECK(good[0].value == "time,a.b.c.d.e.f [[[[[[,{{{{{{{");
}

TEST_CASE("later sources win: given, file, environment") {
  const auto path = std::filesystem::temp_directory_path() / ("effort-settings-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path)
      << "window = 20\nstrata = \"auto\"\nMETRICS = [\"time\", \"cpu_time\"]\nexact = true\nhint_lag = 3\n";
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
    CHECK_THAT(e.what(),
               ContainsSubstring(path.string()) && ContainsSubstring("line 1") && ContainsSubstring("WINDOW"));
  }
  std::filesystem::remove(path);
  CHECK_THROWS_AS(resolve({}), Error);  // a missing file is an error too
  unsetenv("EFFORT_CONFIG");
  CHECK_THROWS_AS(resolve({{"WINDOW", "4"}, {"HINT_LAG", "5"}}), Error);
}

TEST_CASE("one precision per source, the later source's replaces the earlier one") {
  const std::vector<std::pair<Pair, Precision::Kind>> choices = {{{"PASSES", "7"}, Precision::Kind::passes},
                                                                 {{"NRMSE", "0.5"}, Precision::Kind::nrmse},
                                                                 {{"MAX_BYTES", "4096"}, Precision::Kind::max_bytes}};
  const auto path = std::filesystem::temp_directory_path() / ("effort-precision-" + std::to_string(getpid()) + ".toml");
  const auto refused = [](const std::vector<Pair>& given, const std::string& a, const std::string& b) {
    try {
      resolve(given);
      FAIL("accepted " << a << " with " << b);
    } catch (const Error& e) {
      CHECK(e.status() == Status::config);
      CHECK_THAT(e.what(), ContainsSubstring(a) && ContainsSubstring(b) && ContainsSubstring("give one of"));
    }
  };
  for (const auto& [first, first_kind] : choices) {
    CHECK(resolve({first, first}).precision.kind == first_kind);
    for (const auto& [second, second_kind] : choices) {
      if (first == second) continue;
      refused({first, second}, first.first, second.first);
      std::ofstream(path) << second.first << " = " << second.second << "\n";
      setenv("EFFORT_CONFIG", path.c_str(), 1);
      CHECK(resolve({first}).precision.kind == second_kind);
      const std::string name = "EFFORT_" + first.first, other = "EFFORT_" + second.first;
      setenv(name.c_str(), first.second.c_str(), 1);
      CHECK(resolve({second}).precision.kind == first_kind);
      setenv(other.c_str(), second.second.c_str(), 1);
      refused({}, first.first, second.first);
      unsetenv(other.c_str());
      unsetenv(name.c_str());
      std::ofstream(path) << first.first << " = " << first.second << "\n"
                          << second.first << " = " << second.second << "\n";
      refused({}, first.first, second.first);
      unsetenv("EFFORT_CONFIG");
    }
  }
  std::filesystem::remove(path);
}

TEST_CASE("shared settings survive the way to other ranks") {
  const Settings a = resolve({{"WINDOW", "12"},
                              {"HINT_LAG", "4"},
                              {"NRMSE", "0.0123456789012345"},
                              {"STRATA", "5"},
                              {"LOAD_METRIC", "my cells"},
                              {"METRICS", "time,cpu_time"},
                              {"LOAD_THREADS", "sum"},
                              {"SNAPSHOT_DIR", "/some where"},
                              {"EXACT", "1"}});
  Settings b;
  apply_text(b, to_text(a));
  CHECK(to_text(a) == to_text(b));
  CHECK(b.precision.kind == Precision::Kind::nrmse);
  CHECK(b.precision.value == 0.0123456789012345);
  CHECK(b.load_metric == "my cells");
}

TEST_CASE("the other ranks learn whether the threshold was set on rank 0, which turns trials off") {
  for (bool set : {false, true}) {
    const Settings here = resolve(set ? std::vector<Pair>{{"REBALANCE_THRESHOLD", "0.1"}} : std::vector<Pair>{});
    Settings there = resolve(set ? std::vector<Pair>{} : std::vector<Pair>{{"REBALANCE_THRESHOLD", "0.3"}});
    apply_text(there, to_text(here));
    CHECK(there.threshold_given == set);
    CHECK(there.rebalance_threshold == 0.1);
  }
}

namespace {

/// Settings of a configuration file, or the message of its refusal.
struct FromFile {
  Settings settings;
  std::string refusal;
  explicit FromFile(const std::string& content) {
    const auto path =
        std::filesystem::temp_directory_path() / ("effort-trace-rules-" + std::to_string(getpid()) + ".toml");
    std::ofstream(path) << content;
    setenv("EFFORT_CONFIG", path.c_str(), 1);
    try {
      settings = resolve({});
    } catch (const Error& e) {
      refusal = e.what();
      CHECK_THAT(refusal, ContainsSubstring(path.string()));
    }
    unsetenv("EFFORT_CONFIG");
    std::filesystem::remove(path);
  }
};

}  // namespace

TEST_CASE("groups and policies of traces come from tables of the file, and reach the other ranks") {
  const FromFile file(
      "trace_design = \"subset\"\n"
      "[[trace_group]]\nname = \"Adaptive\"\nmembers = \"0-127\"\nconfidence = 0.95\nerror = 0.03\n"
      "[[trace_policy]]\nregion = \"solve = fast\"\nerror = 0.05\n"
      "[[trace_group]]\nname = \"Static\"\nsample_size = 30\nmembers = [200, \"128-199\"]\npinned = \"128-137,200\"\n"
      "[[trace_policy]]\nregion = \"noisy\"\ntrace = false\n");
  REQUIRE(file.refusal.empty());
  Settings there;
  there.trace.groups.resize(3);
  apply_text(there, to_text(file.settings));
  for (const Trace& t : {file.settings.trace, there.trace}) {
    CHECK(t.design == TraceDesign::subset);
    REQUIRE(t.groups.size() == 2);
    CHECK(t.groups[0].name == "Adaptive");
    CHECK(t.groups[0].members == RankRanges{{0, 127}});
    CHECK(t.groups[0].confidence == 0.95);
    CHECK(t.groups[0].error == 0.03);
    CHECK(t.groups[1].sample_size == 30);
    CHECK(t.groups[1].members == RankRanges{{128, 200}});
    CHECK(t.groups[1].pinned == RankRanges{{128, 137}, {200, 200}});
    REQUIRE(t.policies.size() == 2);
    CHECK(t.policies[0].region == "solve = fast");
    CHECK(t.policies[0].error == 0.05);
    CHECK(t.policies[0].trace);
    CHECK_FALSE(t.policies[1].trace);
  }
  // A rank with groups of its own takes rank 0's, even if that has none.
  apply_text(there, to_text(Settings()));
  CHECK(there.trace.groups.empty());
}

TEST_CASE("values of the wrong type, and wrong tables, are refused with the file and the line") {
  struct Case {
    std::string content, line, what;
  };
  const std::string group = "window = 5\n[[trace_group]]\nname = \"a\"\nmembers = \"0-9\"\n";
  for (const Case& c : {
           Case{"\nwindow = true\n", "line 2", "WINDOW cannot be 'true'"},
           Case{group + "error = 2\n", "line 5", "TRACE_GROUP.error cannot be '2'"},
           Case{group + "colour = 2\n", "line 5", "'colour'"},
           Case{group + "pinned = \"8-12\"\n", "line 2", "not its members"},
           Case{group + "pinned = \"8-x\"\n", "line 5", "pinned"},
           Case{group + "sample_size = 3\nerror = 0.1\n", "line 2", "exclude each other"},
           Case{group + "sample_size = 1\npinned = \"1-2\"\n", "line 2", "pins 2 ranks"},
           Case{group + "[[trace_group]]\nname = \"b\"\nmembers = \"4\"\n", "line 5", "rank 4 is in"},
           Case{"[[trace_group]]\nname = \"a\"\n", "line 1", "no members"},
           Case{"[[trace_group]]\nmembers = \"0\"\n", "line 1", "no name"},
           Case{"\n[[trace_policy]]\nerror = 0.1\n", "line 2", "no region"},
           Case{"[[trace_policy]]\nregion = \"x\"\ntrace = false\n[[trace_policy]]\nregion = \"x\"\nerror = 0.1\n",
                "line 4", "two trace_policy tables"},
           Case{"[[trace_policy]]\nregion = \"x\"\n", "line 1", "changes nothing"},
           Case{"[[trace_policy]]\nregion = \"x\"\ntrace = true\n", "line 1", "changes nothing"},
           Case{"[[trace_policy]]\n", "line 1", "TRACE_POLICY is empty"},
           Case{group + "[[trace_group]]\n", "line 5", "TRACE_GROUP is empty"},
           Case{"trace_group = {}\n", "line 1", "TRACE_GROUP is empty"},
           Case{"hint_lag = 1\n[effort]\nwindow = 3\n", "line 2", "no table EFFORT"},
           Case{"trace_group = 5\n", "line 1", "TRACE_GROUP"},
       }) {
    INFO(c.content);
    const FromFile file(c.content);
    CHECK_THAT(file.refusal, ContainsSubstring(c.line + ":") && ContainsSubstring(c.what));
  }
}

namespace {

/// Numbers as many countries write them; installed locales differ between machines, this one does not.
struct CommaAndGroups : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("the host's locale changes no number") {
  const auto path = std::filesystem::temp_directory_path() / ("effort-locale-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path)
      << "rebalance_threshold = 0.25\nrebalance_price = 123456.75\nwindow = 50000\nmax_overhead = 0.015\n";
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaAndGroups));
  Settings a, b;
  std::string text, refusal;
  setenv("EFFORT_CONFIG", path.c_str(), 1);
  try {
    a = resolve({{"NRMSE", "0.001"}, {"SNAPSHOT_EVERY", "1234567"}});
    text = to_text(a);
    apply_text(b, text);
    std::ofstream(path) << std::string(2000, '\n') << "window = = 3\n";
    resolve({});
  } catch (const Error& e) {
    refusal = e.what();
  }
  unsetenv("EFFORT_CONFIG");
  std::locale::global(before);
  std::filesystem::remove(path);
  CHECK_THAT(refusal, ContainsSubstring("line 2001,"));
  CHECK(b.rebalance_threshold == 0.25);
  CHECK(b.rebalance_price == 123456.75);
  CHECK(b.window == 50000);
  CHECK(b.max_overhead == 0.015);
  CHECK(b.precision.value == 0.001);
  CHECK(b.snapshot_every == 1234567);
  CHECK(to_text(b) == text);
  CHECK(to_text(a) == text);
}

TEST_CASE("files are named relative to where the process was when the settings were read") {
  const auto here = std::filesystem::current_path();
  const Settings s = resolve({{"SNAPSHOT_DIR", "out/./snapshots"}, {"REPORT", "table.txt"}});
  CHECK(s.snapshot_dir == (here / "out/snapshots").string());
  CHECK(s.report == (here / "table.txt").string());
  CHECK(resolve({{"SNAPSHOT_DIR", "/tmp"}, {"REPORT", "summary"}}).snapshot_dir == "/tmp");
  CHECK(resolve({{"REPORT", "summary"}}).report == "summary");
}

TEST_CASE("variables that are no settings are noted, with the likely one if a name is similar") {
  const auto mention = [](const std::vector<std::string>& notes, const std::string& a, const std::string& b) {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const auto& n) { return n.find(a + " ") != std::string::npos && n.ends_with(b); });
  };
  setenv("EFFORT_WINDOWS", "5", 1);
  setenv("EFFORT_LOADMETRIC", "cpu_time", 1);
  setenv("EFFORT_HINT_LAG", "2", 1);
  setenv("EFFORT_GARBAGE", "1", 1);
  setenv("EFFORT_FUNCTIONS_DEPTH", "2", 1);  // of libeffort_functions
  setenv("EFFORT_TRACE", "functions", 1);
  const Settings s = resolve({});
  unsetenv("EFFORT_TRACE");
  unsetenv("EFFORT_FUNCTIONS_DEPTH");
  unsetenv("EFFORT_GARBAGE");
  unsetenv("EFFORT_WINDOWS");
  unsetenv("EFFORT_LOADMETRIC");
  unsetenv("EFFORT_HINT_LAG");
  CHECK(s.window == 0);
  CHECK(mention(s.notes, "EFFORT_WINDOWS", "did you mean EFFORT_WINDOW?"));
  CHECK(mention(s.notes, "EFFORT_LOADMETRIC", "did you mean EFFORT_LOAD_METRIC?"));
  CHECK(mention(s.notes, "EFFORT_GARBAGE", "is not a setting and was ignored"));
  CHECK_FALSE(mention(s.notes, "EFFORT_HINT_LAG", ""));
  CHECK_FALSE(mention(s.notes, "EFFORT_FUNCTIONS_DEPTH", ""));
  CHECK_FALSE(s.trace.on);
  CHECK_FALSE(mention(resolve({}).notes, "EFFORT_WINDOWS", ""));
}
