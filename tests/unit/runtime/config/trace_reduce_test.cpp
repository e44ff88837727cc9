// Which reductions of a trace can be asked for in a run.
#include "runtime/config/settings.hpp"
#include "runtime/status.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

using namespace effort;
using namespace effort::config;

namespace {

/// The setting is refused with its name, its value and a remedy.
void check_refused(const std::string& value, const std::string& remedy) {
  CAPTURE(value);
  try {
    resolve({{"TRACE_REDUCE", value}});
    FAIL("accepted");
  } catch (const Error& e) {
    const std::string text = e.what();
    CHECK(text.find("TRACE_REDUCE") != std::string::npos);
    CHECK(text.find("'" + value + "'") != std::string::npos);
    CHECK(text.find(remedy) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("steps are reduced only if that was asked for, by methods that decide at once") {
  CHECK_FALSE(resolve({}).trace.reduce.has_value());
  CHECK_FALSE(resolve({{"TRACE_REDUCE", "relDiff"}, {"TRACE_REDUCE", "off"}}).trace.reduce.has_value());
  const Settings s = resolve({{"TRACE_REDUCE", "haarwave:0.3"}});
  REQUIRE(s.trace.reduce.has_value());
  CHECK(s.trace.reduce->similarity == reduction::Similarity::haar_wave);
  CHECK(s.trace.reduce->threshold == 0.3);
}

TEST_CASE("a method that needs the whole trace is refused, with the command that has it") {
  for (const std::string value : {"bounded", "bounded:0.1", "iter_avg"})
    check_refused(value, "effort trace reduce has them");
}

TEST_CASE("a reduction that does not exist is refused, with those that do") {
  for (const std::string value : {"on", "avgWave:0", "avgWave:", "iter_k:1001", "iter_k:1.5", ""})
    check_refused(value, "allowed");
}

TEST_CASE("all ranks have the same reduction") {
  for (const std::string value : {"avgwave", "absDiff:0.125", "iter_k:7", "off"}) {
    const Settings here = resolve({{"TRACE_REDUCE", value}});
    Settings there;
    apply_text(there, to_text(here));
    CHECK(there.trace.reduce.has_value() == (value != "off"));
    CHECK(to_text(there) == to_text(here));
  }
}
