// Names with terminal control sequences, reversed text or formulas reach no output unchanged.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>

#include "command.hpp"
#include "record/text.hpp"
#include "runs.hpp"

using namespace effort;
using namespace effort::tools::test;

namespace {

const std::vector<std::string> names = {
    "\x1b]0;x\x07"
    "a",
    "\xc2\x9b"
    "31mb",
    "\xe2\x80\xae"
    "c",
    "caf\xe9",
    "=d()",
    "+e",
    "-f",
    "@g",
    "\xef\xbc\x9dl()",
    "\xef\xbc\x8bm",
    "\xef\xbc\x8dn",
    "\xef\xbc\xa0o",
    "zero\xe2\x80\x8bwidth",
    "soft\xc2\xadhyphen",
    "tag\xf3\xa0\x81\x81",
    "\tk",
    "two\rlines"};

/// A run with every name in every place.
record::Run hostile_run() {
  std::vector<RegionSpec> regions;
  for (const std::string& name : names) regions.push_back({name});
  record::Run run = run_of(2, 4, regions);
  std::string all;
  for (const std::string& name : names) all += name;
  run.name = run.job = run.version = all;
  run.notes = names;
  for (record::Series& s : run.series) s.phase = names[0];
  run.metrics = {{all, names[2]}};
  run.load_metric = all;
  run.unit_costs = {{names[1], 1, 1}};
  return run;
}

/// The first byte or character of an output that is not plain text.
std::string first_control(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const record::Character c = record::character_at(text, at);
    if (c.bytes == 0 || (record::is_control(c.code) && c.code != '\n'))
      return "byte " + std::to_string(at) + ": " + record::visible(text.substr(at, 12));
    at += c.bytes;
  }
  return "";
}

}  // namespace

TEST_CASE("no name reaches a terminal or a file as a control sequence") {
  const Scratch scratch;
  scratch.write("a.effort", file_of(hostile_run()));
  scratch.write("b-1-00000004.effort", file_of(hostile_run()));
  const auto check = [&](const std::vector<std::string>& command, const std::string& file = "") {
    const Outcome outcome = scratch.run(command);
    if (outcome.err.find("built without") != std::string::npos) return;
    INFO(command[0] << ": " << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(first_control(outcome.out + outcome.err) == "");
    if (!file.empty())
      CHECK(first_control(scratch.read_text(file).substr(
                0, file == "o.vti" ? scratch.read_text(file).find("AppendedData") : std::string::npos)) == "");
  };
  check({"info", "a.effort", "--all"});
  check({"info", "a.effort", "--json"});
  check({"diff", "a.effort", "b-1-00000004.effort", "--all"});
  check({"diff", "a.effort", "b-1-00000004.effort", "--json"});
  check({"top", ".", "--once"});
  check({"top", ".", "--json"});
  check({"export", "a.effort", "--format", "csv", "-o", "o.csv"}, "o.csv");
  check({"export", "a.effort", "--format", "vtk", "-o", "o.vti"}, "o.vti");
  check({"export", "a.effort", "--format", "npy", "-o", "npy"}, "npy/axes.json");
  check({"report", "a.effort", "-o", "o.html", "--json"});
  // The script of the page contains a few; the names come after it.
  const std::string page = scratch.read_text("o.html");
  if (!page.empty())
    CHECK(first_control(page.substr(page.find("id=\"effort-head\""),
                                    page.find("effort-end") - page.find("id=\"effort-head\""))) == "");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch / "npy"))
    CHECK(first_control(entry.path().string()) == "");
  const Outcome missing = scratch.run({"info", names[1]});
  CHECK(missing.code == 1);
  CHECK(first_control(missing.err) == "");
}

TEST_CASE("no cell of a table begins like a formula") {
  const Scratch scratch;
  scratch.write("a.effort", file_of(hostile_run()));
  REQUIRE(scratch.run({"export", "a.effort", "--format", "csv", "-o", "o.csv"}).code == 0);
  const std::string text = scratch.read_text("o.csv");
  for (const char* cell : {"'=d()", "'+e", "'-f", "'@g", "\\x09k"})
    CHECK(text.find("," + std::string(cell) + ",") != std::string::npos);
  for (const char* cell :
       {"'\xef\xbc\x9dl()", "'\xef\xbc\x8bm", "'\xef\xbc\x8dn", "'\xef\xbc\xa0o", "zero\\u200bwidth"})
    CHECK(text.find("," + std::string(cell) + ",") != std::string::npos);
  for (const char* cell : {",=", ",+", ",@", ",\t", ",\r", ",-f", ",\xef\xbc"})
    CHECK(text.find(cell) == std::string::npos);
}
