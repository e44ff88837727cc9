// Programs that are killed, crash, jump, fork and throw: their recordings hold every call.
#include <catch2/catch_test_macros.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "command.hpp"
#include "tools/calls/input.hpp"
#include "tools/calls/names.hpp"

namespace {

namespace fs = std::filesystem;
using effort::tools::CallInput;
using effort::tools::test::Outcome;
using effort::tools::test::Scratch;

/// A stream with names, as a reader sees it.
struct Seen {
  std::int64_t rank = -1;
  std::uint64_t left_out = 0;
  std::vector<std::string> events;  ///< "" is a return
  std::map<std::string, int> calls;
  std::vector<std::string> open;  ///< at the end, outermost first
  std::size_t deepest = 0;
  int strays = 0;
  std::map<std::string, std::map<std::string, int>> callers;  ///< of a function: calls by caller
};

struct Recorded {
  std::vector<Seen> streams;
  std::vector<std::string> hot;
};

Recorded read(const fs::path& directory) {
  Recorded out;
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".functions") found.push_back(entry.path().string());
  if (found.empty()) return out;
  const CallInput input(found, 0);
  const effort::tools::FunctionNames names = function_names(input, {});
  out.streams.resize(input.names().streams.size());
  for (std::size_t i = 0; i < out.streams.size(); ++i) {
    out.streams[i].rank = input.names().streams[i].rank;
    out.streams[i].left_out = input.names().streams[i].left_out;
  }
  input.read([&](std::uint64_t stream, std::span<const std::uint32_t> events) {
    Seen& s = out.streams[stream];
    for (const std::uint32_t event : events) {
      if (event == 0) {
        s.open.empty() ? static_cast<void>(++s.strays) : s.open.pop_back();
        continue;
      }
      const std::string name = names.name(event);
      ++s.calls[name];
      ++s.callers[name][s.open.empty() ? "" : s.open.back()];
      s.open.push_back(name);
      s.deepest = std::max(s.deepest, s.open.size());
    }
  });
  for (std::size_t i = 0; i < input.hot().size(); ++i)
    if (input.hot()[i]) out.hot.push_back(names.name(static_cast<std::uint32_t>(i + 1)));
  return out;
}

Outcome run(const Scratch& scratch, const std::string& program, const std::vector<std::string>& arguments,
            const std::string& settings = "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_OVERHEAD=0") {
  return scratch.run_program(program, arguments, settings + " EFFORT_SNAPSHOT_DIR=. LD_PRELOAD=" TEST_LIBRARY);
}

const std::vector<std::string> killed_stack{"main", "outer", "die_by_kill"};

}  // namespace

TEST_CASE("functions: a killed program leaves every call") {
  const Scratch scratch;
  CHECK(run(scratch, TEST_HOST, {"kill"}).code != 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK(s.calls.at("leaf") == 1000);
  CHECK(s.calls.at("repeat") == 1);
  CHECK(s.callers.at("leaf").at("repeat") == 1000);
  CHECK(s.open == killed_stack);
  CHECK(s.strays == 0);
  CHECK(s.calls.at("early") == 1);
  CHECK(s.callers.at("early").at("before_main") == 1);
}

TEST_CASE("functions: a crash leaves every call") {
  const Scratch scratch;
  CHECK(run(scratch, TEST_HOST, {"crash"}).code != 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  CHECK(r.streams[0].calls.at("leaf") == 1000);
  CHECK(r.streams[0].open == std::vector<std::string>{"main", "outer", "die_by_crash"});
}

TEST_CASE("functions: exit in the depth, and calls after it") {
  const Scratch scratch;
  CHECK(run(scratch, TEST_HOST, {"exit"}).code == 3);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  CHECK(r.streams[0].calls.at("after_exit") == 1);
  CHECK(r.streams[0].open == std::vector<std::string>{"main", "outer", "die_by_exit"});
}

TEST_CASE("functions: a hanging program can be read while it hangs") {
  const Scratch scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir((scratch / ".").c_str()) != 0) ::_exit(1);
    ::setenv("EFFORT_FUNCTIONS", "main", 1);
    ::setenv("EFFORT_SNAPSHOT_DIR", ".", 1);
    ::setenv("LD_PRELOAD", TEST_LIBRARY, 1);
    if (!std::freopen("out", "w", stdout)) ::_exit(1);
    ::execl(TEST_HOST, TEST_HOST, "hang", nullptr);
    ::_exit(1);
  }
  for (int i = 0; i < 600; ++i) {
    if (fs::exists(scratch / "out") && scratch.read_text("out") == "hangs\n") break;
    ::usleep(100'000);
  }
  const Recorded r = read(scratch / ".");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(r.streams.size() == 1);
  CHECK(r.streams[0].open == std::vector<std::string>{"main", "outer", "hang"});
}

TEST_CASE("functions: longjmp closes the calls that it leaves") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"jumps"}).code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK(s.calls.at("jump") == 6000);
  CHECK(s.callers.at("leaf").at("jumps") == 1000);
  CHECK(s.deepest == 8);
  CHECK(s.open.empty());
  CHECK(s.strays == 0);
}

TEST_CASE("functions: exceptions close the calls that they leave") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_EXCEPTIONS, {}).code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK(s.calls.at("thrower") == 500);
  CHECK(s.callers.at("calm").at("catcher") == 100);
  CHECK(s.deepest == 7);
  CHECK(s.open.empty());
}

TEST_CASE("functions: threads have streams of their own, and may end in the middle of a call") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"threads"}).code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 5);
  std::vector<int> leaves;
  for (std::size_t i = 1; i < 5; ++i) {
    leaves.push_back(r.streams[i].calls.at("leaf"));
    CHECK(r.streams[i].open == std::vector<std::string>{"in_thread", "end_thread"});
  }
  std::sort(leaves.begin(), leaves.end());
  CHECK(leaves == std::vector<int>{100, 200, 300, 400});
}

TEST_CASE("functions: the child of a fork goes on in a recording of its own, inside the calls that made it") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"fork"}).code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 2);
  const bool first_is_child = r.streams[0].calls.contains("in_child");
  const Seen &child = r.streams[first_is_child ? 0 : 1], &parent = r.streams[first_is_child ? 1 : 0];
  CHECK(child.calls.at("leaf") == 10);
  CHECK(child.open == std::vector<std::string>{"main", "forks"});
  CHECK(parent.calls.at("leaf") == 20);
  CHECK(parent.calls.at("other") == 1);
  CHECK_FALSE(parent.calls.contains("in_child"));
  CHECK(parent.open.empty());
}

TEST_CASE("functions: a signal handler that interrupts hooks may fork, and the child goes on") {
  for (const std::string stamps : {"0", "1"}) {
    const Scratch scratch;
    const Outcome outcome = run(scratch, TEST_HOST, {"forks_in_handlers"},
                                "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_OVERHEAD=0 EFFORT_FUNCTIONS_STAMPS=" + stamps);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out == "0\n");  // no child failed
    const Recorded r = read(scratch / ".");
    CHECK(r.streams.size() == 61);
    for (const Seen& s : r.streams) CHECK(s.strays == 0);
  }
}

TEST_CASE("functions: signal handlers on their own stack are recorded or counted, and disturb no call") {
  const Scratch scratch;
  const Outcome outcome = run(scratch, TEST_HOST, {"signals"});
  REQUIRE(outcome.code == 0);
  const int handled = std::stoi(outcome.out);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK(s.calls.at("leaf") == 4'000'000);
  CHECK(s.callers.at("leaf").at("repeat") == 4'000'000);
  CHECK(s.open.empty());
  CHECK(s.strays == 0);
  const int recorded = s.calls.contains("in_handler") ? s.calls.at("in_handler") : 0;
  CHECK(recorded <= handled);
  // Handlers that interrupt the hooks themselves are counted: handler and in_handler.
  CHECK(static_cast<std::uint64_t>(handled - recorded) * 2 == s.left_out);
}

TEST_CASE("functions: signal handlers interrupt calls of a function that is left out") {
  const Scratch scratch;
  const Outcome outcome = run(scratch, TEST_HOST, {"signals"},
                              "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_OVERHEAD=0 EFFORT_FUNCTIONS_FILTER=-leaf");
  REQUIRE(outcome.code == 0);
  const int handled = std::stoi(outcome.out);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK_FALSE(s.calls.contains("leaf"));
  CHECK(s.open.empty());
  CHECK(s.strays == 0);
  const int recorded = s.calls.contains("in_handler") ? s.calls.at("in_handler") : 0;
  CHECK(handled > 0);
  CHECK(static_cast<std::uint64_t>(handled - recorded) * 2 + 4'000'000 == s.left_out);
}

TEST_CASE("functions: calls that are too deep are counted") {
  const Scratch scratch;
  const Outcome outcome = run(scratch, TEST_HOST, {"recursion"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out == "100000\n");
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const Seen& s = r.streams[0];
  CHECK(s.calls.at("recurse") + static_cast<int>(s.left_out) == 100001);
  CHECK(s.calls.at("recurse") > 30000);
  CHECK(s.open.empty());
  const Scratch other;
  REQUIRE(run(other, TEST_HOST, {"recursion"}, "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_DEPTH=10").code == 0);
  const Recorded limited = read(other / ".");
  CHECK(limited.streams.at(0).calls.at("recurse") == 9);
  CHECK(limited.streams.at(0).deepest == 10);
  CHECK(limited.streams.at(0).open.empty());
}

TEST_CASE("functions: a function that is called too often is left out and counted") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"hot"}, "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_OVERHEAD=0.01").code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  CHECK(r.hot == std::vector<std::string>{"leaf"});
  CHECK(static_cast<std::uint64_t>(r.streams[0].calls.at("leaf")) + r.streams[0].left_out == 50'000'000);
  CHECK(r.streams[0].calls.at("leaf") < 1'000'000);
  CHECK(r.streams[0].open.empty());
}

TEST_CASE("functions: a host that closes all descriptors, or may not write large files, is unharmed") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"closed"}).code == 0);
  const Recorded closed = read(scratch / ".");
  REQUIRE(closed.streams.size() == 1);
  CHECK(closed.streams[0].calls.at("leaf") + closed.streams[0].calls.at("other") == 100000);
  const Scratch other;
  const Outcome outcome = run(other, TEST_HOST, {"limited"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  const Recorded limited = read(other / ".");
  REQUIRE(limited.streams.size() == 1);
  CHECK(limited.streams[0].calls.at("leaf") > 1000);
}

TEST_CASE("functions: modules that are loaded again have the same functions; `main` leaves them out") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {"load", TEST_MODULE}, "EFFORT_FUNCTIONS=all").code == 0);
  const Recorded all = read(scratch / ".");
  CHECK(all.streams.at(0).callers.at("deep_in_module").at("in_module") == 3);
  CHECK(all.streams.at(0).callers.at("in_module").at("load") == 3);
  const Scratch other;
  REQUIRE(run(other, TEST_HOST, {"load", TEST_MODULE}).code == 0);
  const Recorded main_only = read(other / ".");
  CHECK_FALSE(main_only.streams.at(0).calls.contains("in_module"));
  CHECK(main_only.streams.at(0).left_out == 6);
  const Scratch third;
  REQUIRE(run(third, TEST_HOST, {"load", TEST_MODULE}, "EFFORT_FUNCTIONS=all EFFORT_FUNCTIONS_MODULES=*module*").code ==
          0);
  const Recorded module_only = read(third / ".");
  CHECK(module_only.streams.at(0).calls.size() == 2);
}

TEST_CASE("functions: filters by name") {
  const auto recorded = [](const std::string& filter) {
    const Scratch scratch;
    CHECK(run(scratch, TEST_HOST, {"exit"}, "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_FILTER=" + filter).code == 3);
    std::vector<std::string> names;
    const Recorded r = read(scratch / ".");
    for (const auto& [name, calls] : r.streams.at(0).calls) names.push_back(name);
    return names;
  };
  CHECK(recorded("rep*,leaf") == std::vector<std::string>{"leaf", "repeat"});
  CHECK(recorded("rep*,leaf,-l*") == std::vector<std::string>{"repeat"});
  CHECK(recorded("-*e*") == std::vector<std::string>{"main"});
  CHECK(recorded("-,,nothing").empty());
}

TEST_CASE("functions: filters by source file, with effort calls names") {
  const Scratch scratch;
  Outcome names = scratch.run({"calls", "names", TEST_EXCEPTIONS, "--file", "calm.*"});
  REQUIRE(names.code == 0);
  CHECK(names.out == "_Z4calmv\n");
  names.out.pop_back();
  REQUIRE(run(scratch, TEST_EXCEPTIONS, {}, "EFFORT_FUNCTIONS=main EFFORT_FUNCTIONS_FILTER=" + names.out).code == 0);
  CHECK(read(scratch / ".").streams.at(0).calls == std::map<std::string, int>{{"calm", 100}});
  const Outcome others = scratch.run({"calls", "names", TEST_EXCEPTIONS, "--file", "x*,except*.cpp", "--leave-out"});
  REQUIRE(others.code == 0);
  CHECK(("," + others.out).find(",-_Z7throweri") != std::string::npos);
  CHECK(others.out.find("calm") == std::string::npos);
  const nlohmann::json json = scratch.run({"calls", "names", TEST_EXCEPTIONS, "--file", "*/calm.cpp", "--json"}).json();
  REQUIRE(json["functions"].size() == 1);
  CHECK(json["functions"][0]["file"].get<std::string>().ends_with("/calm.cpp"));
  const Outcome none = scratch.run({"calls", "names", TEST_EXCEPTIONS, "--file", "missing.f90"});
  CHECK(none.code == 1);
  CHECK(none.err.find("give other patterns") != std::string::npos);
  CHECK(scratch.run({"calls", "names", "missing", "--file", "a.c"}).code == 1);
}

TEST_CASE("functions: nothing is written unless it is asked for, and the rank comes from the launcher") {
  const Scratch scratch;
  REQUIRE(run(scratch, TEST_HOST, {""}, "EFFORT_FUNCTIONS=off").code == 0);
  REQUIRE(run(scratch, TEST_HOST, {""}, "EFFORT_FUNCTIONS=main EFFORT_DISABLE=1").code == 0);
  CHECK(read(scratch / ".").streams.empty());
  REQUIRE(run(scratch, TEST_HOST, {""}, "EFFORT_TRACE=functions OMPI_COMM_WORLD_RANK=12").code == 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  CHECK(r.streams[0].rank == 12);
}

#ifdef TEST_FORTRAN
TEST_CASE("functions: a killed Fortran program leaves every call") {
  const Scratch scratch;
  CHECK(run(scratch, TEST_FORTRAN, {}).code != 0);
  const Recorded r = read(scratch / ".");
  REQUIRE(r.streams.size() == 1);
  const auto calls = [&](const std::string& name) {
    int n = 0;
    for (const auto& [each, count] : r.streams[0].calls)
      if (each.find(name) != std::string::npos) n += count;
    return n;
  };
  CHECK(calls("cell") == 40 * 50);
  CHECK(calls("sweep") == 40);
  CHECK(calls("step") == 40);
  CHECK(r.streams[0].open.back().find("step") != std::string::npos);
}
#endif

TEST_CASE("functions: recordings of several ranks become one file, with one list of functions") {
  const Scratch scratch;
  for (const char* rank : {"1", "0", "2"})
    run(scratch, TEST_HOST, {rank[0] == '1' ? "kill" : "exit"},
        std::string("EFFORT_FUNCTIONS=main PMI_JOBID=job OMPI_COMM_WORLD_RANK=") + rank);
  const Outcome encoded = scratch.run({"calls", "encode", "functions_host-job.functions", "-o", "x.calls", "--json"});
  REQUIRE(encoded.code == 0);
  const CallInput direct({(scratch / "functions_host-job.functions").string()}, 0);
  const CallInput coded({(scratch / "x.calls").string()}, 0);
  REQUIRE(coded.names().streams.size() == 3);
  for (int rank = 0; rank < 3; ++rank) CHECK(coded.names().streams[static_cast<std::size_t>(rank)].rank == rank);
  std::vector<std::vector<std::uint32_t>> a(3), b(3);
  direct.read([&](std::uint64_t s, auto events) { a[s].insert(a[s].end(), events.begin(), events.end()); });
  coded.read([&](std::uint64_t s, auto events) { b[s].insert(b[s].end(), events.begin(), events.end()); });
  CHECK(a == b);
  CHECK(a[0] == a[2]);
  CHECK(a[0] != a[1]);
}
