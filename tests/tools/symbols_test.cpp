// Resolution of the call paths in names of regions.
#include <catch2/catch_test_macros.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "command.hpp"
#include "runs.hpp"
#include "symbols_fixture.hpp"

using namespace effort::tools::test;
using effort::record::Kind;
using effort::record::Module;
using effort::record::Run;
namespace fs = std::filesystem;

namespace {

void* recorded = nullptr;

__attribute__((noinline)) void record() { recorded = __builtin_return_address(0); }

/// "libsymbols_fixture.so+0x1234": the address as an offset in its file.
std::string frame() {
  Dl_info info{};
  link_map* map = nullptr;
  REQUIRE(::dladdr1(recorded, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0);
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "+0x%zx", reinterpret_cast<std::uintptr_t>(recorded) - map->l_addr);
  return fs::path(info.dli_fname).filename().string() + digits.data();
}

struct Fixture {
  std::string exchange, step, plain;  ///< frames
  int exchange_line = 0, step_line = 0, inlined_line = 0, plain_line = 0;
};

Fixture call_fixture() {
  Fixture out;
  fixture::Solver solver;
  solver.exchange(record, &out.exchange_line);
  out.exchange = frame();
  solver.step(record, &out.inlined_line, &out.step_line);
  out.step = frame();
  fixture_plain(record, &out.plain_line);
  out.plain = frame();
  return out;
}

const fs::path library = EFFORT_TEST_FIXTURE;

std::string build_id_of(const Scratch& scratch, const fs::path& path) {
  const std::string text = scratch.run_program("readelf", {"-n", path.string()}).out;
  const std::size_t at = text.find("Build ID: ");
  REQUIRE(at != std::string::npos);
  return text.substr(at + 10, text.find('\n', at) - at - 10);
}

Run fixture_run(const Fixture& f, const std::vector<Module>& modules) {
  Run run = run_of(4, 10,
                   {{"solve"},
                    {"MPI_Allreduce [" + f.exchange + " " + f.plain + "]", Kind::comm},
                    {"MPI_Wait [" + f.step + "]", Kind::wait},
                    {"MPI_Allreduce [" + f.exchange + " " + f.plain + "] > MPI_Wait [" + f.step + "]"},
                    {"start > MPI_Wait [" + f.step + "]"}});
  run.modules = modules;
  run.notes = {"steps end with MPI_Wait [" + f.exchange + "], [sic] at last"};
  return run;
}

nlohmann::json info(const Scratch& scratch, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"info", "run.effort", "--json"});
  const Outcome outcome = scratch.run(options);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome.json();
}

void require_libdw(const Scratch& scratch) {
  const auto json = info(scratch);
  for (const auto& note : json["symbol_notes"]) {
    if (note.get<std::string>().find("without libdw") != std::string::npos) SKIP("effort was built without libdw");
  }
}

bool contains(const nlohmann::json& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(), [&](const auto& note) {
    return note.template get<std::string>().find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("call paths become functions, files and lines") {
  const Scratch scratch;
  const Fixture f = call_fixture();
  scratch.write("run.effort", file_of(fixture_run(f, {{library.filename(), library, build_id_of(scratch, library)}})));
  require_libdw(scratch);
  const auto json = info(scratch);
  CHECK(json["symbol_notes"].empty());
  const auto& regions = json["regions"];
  CHECK_FALSE(regions[0].contains("resolved"));
  // The raw name is kept.
  CHECK(regions[1]["name"] == "MPI_Allreduce [" + f.exchange + " " + f.plain + "]");
  const auto& paths = regions[1]["resolved"]["call_paths"];
  REQUIRE(paths.size() == 1);
  CHECK(paths[0]["call"] == "MPI_Allreduce");
  REQUIRE(paths[0]["frames"].size() == 2);
  const auto& innermost = paths[0]["frames"][0]["locations"][0];
  CHECK(innermost["function"] == "fixture::Solver::exchange");
  CHECK(fs::path(innermost["file"].get<std::string>()).filename() == "symbols_fixture.cpp");
  CHECK(innermost["line"] == f.exchange_line);
  CHECK(paths[0]["frames"][1]["locations"][0]["function"] == "fixture_plain");
  CHECK(paths[0]["frames"][1]["locations"][0]["line"] == f.plain_line);
  // An inlined call has the function in the source, and the one that it was inlined into.
  const auto& inlined = regions[2]["resolved"]["call_paths"][0]["frames"][0]["locations"];
  REQUIRE(inlined.size() == 2);
  CHECK(inlined[0]["function"].get<std::string>().ends_with("reduce"));
  CHECK(inlined[0]["line"] == f.inlined_line);
  CHECK(inlined[1]["function"] == "fixture::Solver::step");
  CHECK(inlined[1]["line"] == f.step_line);
  CHECK(regions[3]["resolved"]["call_paths"].size() == 2);
  CHECK(regions[4]["resolved"]["call_paths"][0]["call"] == "start");
  CHECK(regions[4]["resolved"]["call_paths"][0]["frames"].empty());

  const std::string text = scratch.run({"info", "run.effort"}).out;
  CHECK(text.find("steps end with MPI_Wait [fixture::Solver::exchange (symbols_fixture.cpp:") != std::string::npos);
  CHECK(text.find("[sic] at last") != std::string::npos);
  CHECK(text.find("MPI_Allreduce: fixture::Solver::exchange (symbols_fixture.cpp:" + std::to_string(f.exchange_line) +
                  ")") != std::string::npos);
  CHECK(text.find("libsymbols_fixture") == std::string::npos);
  CHECK(scratch.run({"info", "run.effort", "--raw-names"}).out.find("libsymbols_fixture") != std::string::npos);
}

TEST_CASE("the rank that is waited for most is named with the innermost function that is known") {
  const Scratch scratch;
  const Fixture f = call_fixture();
  scratch.write("run.effort", file_of(fixture_run(f, {})));
  require_libdw(scratch);
  const auto at = [](const std::string& function, int line) {
    return function + " (symbols_fixture.cpp:" + std::to_string(line) + ")";
  };
  const std::string exchange = at("fixture::Solver::exchange", f.exchange_line),
                    plain = at("fixture_plain", f.plain_line), unknown = "libunknown.so+0x12";
  for (const auto& [region, name] : std::vector<std::pair<std::string, std::string>>{
           {"solve", "solve"},
           {"MPI_Allreduce [" + f.exchange + " " + f.plain + "]", "MPI_Allreduce: " + exchange},
           {"MPI_Send [" + unknown + " libunknown.so+0x34 " + f.plain + " " + f.exchange + "]", "MPI_Send: " + plain},
           {"MPI_Send [" + unknown + " libunknown.so+0x34]", "MPI_Send: " + unknown},
           {"MPI_Send [" + unknown + " " + f.plain + "] > MPI_Wait [libunknown.so+0x56 " + f.exchange + "]",
            plain + " -> " + exchange},
           {"MPI_Send [" + f.plain + "] > MPI_Wait [" + f.plain + "]", plain},
           {"start > MPI_Wait [" + f.plain + " " + f.exchange + "]", "start -> " + plain}}) {
    Run run = run_of(4, 10, {{region, Kind::compute, 1, 0.5}, {"(step)", Kind::wait, 0.5, 2}});
    run.metrics.push_back({"collective_delay", "s"});
    run.series[1].metric = 1;
    run.windows.resize(1);
    run.windows[0].last = 9;
    run.modules = {{library.filename(), library, build_id_of(scratch, library)}};
    scratch.write("waits.effort", file_of(run));
    const std::string sentence =
        "ank 1 made the others wait 1.5 s at collectives, 75.0 % of all such waiting; it exceeds the mean rank most in "
        "`";
    const auto waits = scratch.run({"comm", "waits", "--json", "waits.effort"}).json();
    CHECK(waits["most_awaited"]["name"] == name);
    CHECK(waits["most_awaited"]["region"] == region);
    CHECK(scratch.run({"info", "--json", "waits.effort"}).json()["most_awaited"] == waits["most_awaited"]);
    CHECK(scratch.run({"comm", "waits", "waits.effort"}).out.starts_with("R" + sentence + name + "`.\n"));
    CHECK(scratch.run({"info", "waits.effort"}).out.find("R" + sentence + name + "`.\n") != std::string::npos);
    CHECK(scratch.run({"info", "--json", "--raw-names", "waits.effort"}).json()["most_awaited"]["name"] == region);
  }
}

TEST_CASE("exports carry resolved names") {
  const Scratch scratch;
  const Fixture f = call_fixture();
  scratch.write("run.effort", file_of(fixture_run(f, {{library.filename(), library, ""}})));
  require_libdw(scratch);
  REQUIRE(scratch.run({"export", "run.effort", "--format", "npy", "-o", "npy"}).code == 0);
  const auto axes = nlohmann::json::parse(scratch.read_text("npy/axes.json"));
  CHECK(axes["regions"][2] == "MPI_Wait [" + f.step + "]");
  CHECK(axes["resolved"][2].get<std::string>().ends_with(
      "reduce (symbols_fixture.cpp:" + std::to_string(f.inlined_line) + ")"));
  const std::string wanted = axes["resolved"][2];
  CHECK(scratch.run({"export", "run.effort", "--format", "csv", "-o", "a.csv", "--region", wanted}).code == 0);
  CHECK(scratch.read_text("a.csv").find(wanted) != std::string::npos);
  CHECK(
      scratch.run({"export", "run.effort", "--format", "csv", "-o", "a.csv", "--region", wanted, "--raw-names"}).code ==
      1);
}

TEST_CASE("missing debug information is reported") {
  const Scratch scratch;
  const Fixture f = call_fixture();
  const std::string name = library.filename();
  // The library is not found.
  scratch.write("run.effort", file_of(fixture_run(f, {{name, "/nonexistent/" + name, ""}})));
  require_libdw(scratch);
  auto json = info(scratch);
  CHECK(contains(json["symbol_notes"], name + " was not found"));
  CHECK(json["regions"][1]["resolved"]["call_paths"][0]["frames"][0]["locations"].empty());
  CHECK(scratch.run({"info", "run.effort"}).out.find("--module-path") != std::string::npos);
  // The user names its directory, or the file.
  for (const fs::path& place : {library.parent_path(), library}) {
    json = info(scratch, {"--module-path", place.string()});
    CHECK(json["symbol_notes"].empty());
    CHECK(json["regions"][1]["resolved"]["call_paths"][0]["frames"][0]["locations"][0]["line"] == f.exchange_line);
  }
  CHECK(scratch.run({"info", "run.effort", "--module-path", "no/such/place"}).code == 1);
  // The file is of another build, so its lines would be wrong.
  scratch.write("run.effort", file_of(fixture_run(f, {{name, library, "0123456789abcdef"}})));
  json = info(scratch);
  CHECK(contains(json["symbol_notes"], "another build"));
  CHECK(json["regions"][1]["resolved"]["call_paths"][0]["frames"][0]["locations"].empty());
  // Without debug information there are functions but no lines.
  REQUIRE(scratch.run_program("strip", {"--strip-debug", "-o", name, library.string()}).code == 0);
  scratch.write("run.effort", file_of(fixture_run(f, {{name, (scratch / name).string(), ""}})));
  json = info(scratch);
  CHECK(contains(json["symbol_notes"], "no debug information"));
  const auto& bare = json["regions"][1]["resolved"]["call_paths"][0]["frames"][0]["locations"][0];
  CHECK(bare["function"] == "fixture::Solver::exchange");
  CHECK(bare["file"].is_null());
  CHECK(bare["line"].is_null());
  // The file is not a program.
  scratch.write_text(name, "hello");
  CHECK(contains(info(scratch)["symbol_notes"], "cannot be read"));
}

TEST_CASE("names that only look like call paths stay names") {
  const Scratch scratch;
  Run run = run_of(2, 2,
                   {{"solve [a+b]"},
                    {"x []"},
                    {"x [ ]"},
                    {"y [+0x1]"},
                    {"z [a+0x]"},
                    {"w [a+0x1"},
                    {"a > b"},
                    {"] > ["},
                    {""},
                    {"q [a+0x11111111111111111]"}});
  scratch.write("run.effort", file_of(run));
  const auto plain = info(scratch);
  for (const auto& region : plain["regions"]) CHECK_FALSE(region.contains("resolved"));
  // Names with paths that lead elsewhere are not searched.
  run = run_of(2, 2, {{"MPI_Send [../../etc/passwd+0x10]"}, {"MPI_Send [my lib+2.so+0x10 other+0xff]"}});
  scratch.write("run.effort", file_of(run));
  const auto json = info(scratch, {"--module-path", "."});
  CHECK(contains(json["symbol_notes"], "../../etc/passwd was not found"));
  CHECK(json["regions"][1]["resolved"]["call_paths"][0]["frames"][0]["module"] == "my lib+2.so");
  CHECK(json["regions"][1]["resolved"]["call_paths"][0]["frames"][1]["address"] == "0xff");
}

TEST_CASE("diff matches call paths of two builds by function") {
  const Scratch scratch;
  const Fixture f = call_fixture();
  const std::string name = library.filename();
  REQUIRE(scratch.run_program("objcopy", {"--remove-section", ".note.gnu.build-id", library.string(), name}).code == 0);
  Run a = fixture_run(f, {{name, library, build_id_of(scratch, library)}}),
      b = fixture_run(f, {{name, (scratch / name).string(), ""}});
  scratch.write("run.effort", file_of(a));
  require_libdw(scratch);
  scratch.write("a.effort", file_of(a));
  scratch.write("b.effort", file_of(b));
  const auto json = scratch.run({"diff", "a.effort", "b.effort", "--json"}).json();
  CHECK(contains(json["notes"], "a different build in each run"));
  REQUIRE(json["regions"].size() == 5);
  for (const auto& region : json["regions"]) CHECK(region["verdict"] == "same");
}
