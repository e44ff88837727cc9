// The appearance of info and top on a terminal.
#include <catch2/catch_test_macros.hpp>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "command.hpp"
#include "golden_run.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
using effort::record::Kind;
using effort::record::Run;
using effort::record::test::golden_file;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out.push_back(line);
  }
  return out;
}

/// Columns of a line on a terminal. Escape sequences take no column, UTF-8 sequences one.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      while (i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]))) ++i;
    } else if ((static_cast<unsigned char>(line[i]) & 0xc0) != 0x80) {
      ++count;
    }
  }
  return count;
}

/// The lines of the heat map without the rank labels.
std::vector<std::string> map_of(const std::string& text) {
  std::vector<std::string> out;
  const std::vector<std::string> lines = lines_of(text);
  std::size_t i = 0;
  while (i < lines.size() && !lines[i].starts_with("Load (")) ++i;
  for (++i; i < lines.size() && lines[i].size() > 9 && lines[i].find("rebalanced") == std::string::npos &&
            lines[i].find("step") == std::string::npos;
       ++i)
    out.push_back(lines[i].substr(9));
  return out;
}

/// A running `effort` on its own terminal.
class Session {
 public:
  explicit Session(const std::vector<std::string>& arguments) {
    winsize size{40, 100, 0, 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::setenv("TERM", "xterm-256color", 1);
      ::setenv("LC_ALL", "C.UTF-8", 1);
      std::vector<char*> argv = {const_cast<char*>(EFFORT_COMMAND)};
      for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ~Session() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(terminal_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Reads until this text has been shown, and discards the output up to there.
  bool shows(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (seen_.find(text) == std::string::npos) {
      pollfd input{terminal_, POLLIN, 0};
      char buffer[4096];
      if (std::chrono::steady_clock::now() > deadline || ::poll(&input, 1, 1000) < 0) return false;
      if (input.revents == 0) continue;
      const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
      if (count <= 0) return false;
      seen_.append(buffer, static_cast<std::size_t>(count));
    }
    seen_.erase(0, seen_.find(text) + text.size());
    return true;
  }
  void type(char key) { REQUIRE(::write(terminal_, &key, 1) == 1); }
  void signal(int number) { ::kill(child_, number); }
  /// Its exit code, after it has restored the screen.
  int end() {
    CHECK(shows("\033[?1049l"));
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string seen_;
};

}  // namespace

TEST_CASE("info: the heat map shows the load in its place") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  const Outcome outcome =
      scratch.run_program(EFFORT_COMMAND, {"info", "run.effort", "--heat-map", "always"}, "env LC_ALL=C COLUMNS=100");
  REQUIRE(outcome.code == 0);
  const std::vector<std::string> map = map_of(outcome.out);
  REQUIRE(map.size() == 8);
  // The front is at rank r in step 8 r. With 60 columns for 60 steps, the darkest cell lies there.
  const std::string ink = " .:-=+*#%@";
  for (std::size_t rank = 0; rank < map.size(); ++rank) {
    REQUIRE(map[rank].size() == 60);
    const auto darkest =
        std::max_element(map[rank].begin(), map[rank].end(), [&](char a, char b) { return ink.find(a) < ink.find(b); });
    const auto distance = std::abs(static_cast<long>(darkest - map[rank].begin()) - static_cast<long>(8 * rank));
    INFO(rank << ": " << map[rank]);
    CHECK(ink.find(*darkest) == 9);
    CHECK(distance <= 2);
  }
  CHECK(outcome.out.find("^ rebalanced") != std::string::npos);
  CHECK(scratch.run({"info", "run.effort"}).out.find("ranks down") == std::string::npos);
}

TEST_CASE("info: on a terminal, output is in colour and no wider than the terminal") {
  const Scratch scratch;
  scratch.write("run.effort", golden_file(false));
  if (scratch.run_on_terminal({"--version"}, 80, 24, "").code != 0) SKIP("script is not installed (bsdutils)");
  for (int width : {40, 80, 132}) {
    const Outcome colored = scratch.run_on_terminal({"info", "run.effort"}, width, 40,
                                                    "env -u NO_COLOR -u COLORTERM TERM=xterm-256color LC_ALL=C.UTF-8");
    CHECK(colored.code == 0);
    CHECK(colored.out.find("\033[38;5;") != std::string::npos);
    CHECK(colored.out.find("▀") != std::string::npos);
    for (const std::string& line : lines_of(colored.out)) {
      INFO(width << ": " << line);
      CHECK(columns(line) <= static_cast<std::size_t>(width));
    }
  }
  const Outcome full = scratch.run_on_terminal(
      {"info", "run.effort"}, 80, 40, "env -u NO_COLOR COLORTERM=truecolor TERM=xterm-256color LC_ALL=C.UTF-8");
  CHECK(full.out.find("\033[38;2;") != std::string::npos);
  for (const char* environment : {"env NO_COLOR=1 TERM=xterm-256color LC_ALL=C.UTF-8", "env TERM=dumb LC_ALL=C"}) {
    const Outcome plain = scratch.run_on_terminal({"info", "run.effort"}, 80, 40, environment);
    CHECK(plain.out.find("ranks down") != std::string::npos);
    CHECK(plain.out.find('\033') == std::string::npos);
  }
}

TEST_CASE("info: output fits the screen; everything is shown on demand") {
  const Scratch scratch;
  std::vector<RegionSpec> regions;
  for (int i = 0; i < 2000; ++i) regions.push_back({"region_" + std::to_string(i), Kind::compute, 1.0 + i});
  Run run = run_of(4, 5000, regions);
  for (int i = 0; i < 500; ++i) {
    effort::record::Window w;
    w.first = 10 * i;
    w.last = 10 * i + 9;
    w.imbalance = 0.1;
    run.windows.push_back(w);
  }
  scratch.write("run.effort", file_of(run));
  const Outcome screen = scratch.run({"info", "run.effort"});
  CHECK(screen.code == 0);
  CHECK(lines_of(screen.out).size() < 45);
  CHECK(screen.out.find("region_1999") != std::string::npos);
  CHECK(screen.out.find("of 2000") != std::string::npos);
  CHECK(screen.out.find("4990..4999") != std::string::npos);
  const Outcome all = scratch.run({"info", "run.effort", "--all"});
  CHECK(lines_of(all.out).size() > 2500);
  CHECK(all.out.find("region_0 ") != std::string::npos);
}

TEST_CASE("info and diff: shortened names of stretches between calls stay distinct") {
  const Scratch scratch;
  if (scratch.run_on_terminal({"--version"}, 80, 24, "").code != 0) SKIP("script is not installed (bsdutils)");
  const std::string from = "MPI_Wait@liblammps.so.0+0x2b", to = "->MPI_Send@liblammps.so.0+0x2b0cab";
  scratch.write(
      "a.effort",
      file_of(run_of(4, 40, {{from + "3555" + to, Kind::compute, 2}, {from + "0832" + to, Kind::compute, 1}})));
  scratch.write(
      "b.effort",
      file_of(run_of(4, 40, {{from + "3555" + to, Kind::compute, 3}, {from + "0832" + to, Kind::compute, 2}})));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"info", "a.effort"}, {"diff", "a.effort", "b.effort"}}) {
    const Outcome outcome = scratch.run_on_terminal(command, 112, 40, "env TERM=dumb LC_ALL=C");
    INFO(outcome.out);
    CHECK(outcome.out.find("MPI_Wait+0x2b3555->MPI_Send+0x2b0cab") != std::string::npos);
    CHECK(outcome.out.find("MPI_Wait+0x2b0832->MPI_Send+0x2b0cab") != std::string::npos);
  }
}

TEST_CASE("info: runs of one rank, of one step and without data") {
  const Scratch scratch;
  scratch.write("one.effort", file_of(run_of(1, 1, {{"solve"}})));
  Run empty = run_of(1, 0, {});
  empty.metrics.clear();
  empty.load_metric = "";
  empty.wall_seconds = 0;
  scratch.write("none.effort", file_of(empty));
  for (const char* file : {"one.effort", "none.effort"}) {
    const Outcome outcome = scratch.run({"info", file, "--heat-map", "always"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("nan") == std::string::npos);
    CHECK(outcome.out.find("inf") == std::string::npos);
    CHECK(scratch.run({"info", file, "--json"}).code == 0);
    CHECK(scratch.run({"export", file, "--format", "npy", "-o", "dir"}).code == 0);
    CHECK(scratch.run({"export", file, "--format", "csv", "-o", "out.csv"}).code == 0);
    CHECK(scratch.run({"export", file, "--format", "hdf5", "-o", "out.h5"}).code != 1);
  }
  CHECK(scratch.run({"export", "none.effort", "--format", "vtk", "-o", "out.vti"}).err.find("holds none") !=
        std::string::npos);
}

TEST_CASE("top: shows the pace since the previous snapshot") {
  const Scratch scratch;
  CHECK(scratch.run({"top", "missing"}).code == 1);
  std::filesystem::create_directory(scratch / "snaps");
  CHECK(scratch.run({"top", "snaps", "--once"}).err.find("EFFORT_SNAPSHOT_EVERY") != std::string::npos);
  Run run = run_of(8, 100, {{"solve", Kind::compute, 4, 0.5}, {"halo", Kind::comm, 1, 0}});
  scratch.write("snaps/app-7-00000100.effort", file_of(run));
  auto json = scratch.run({"top", "snaps", "--json"}).json();
  CHECK(json["steps"] == 100);
  CHECK(json["since_step"] == 0);
  CHECK(json["steps_per_second"] == 10.0);
  CHECK(json["regions"][0]["mean_per_step"] == 0.04);
  // 50 more steps, in which halo takes most of the time.
  run.steps = 150;
  run.wall_seconds = 12;
  run.series[0].mean_over_ranks = 5;
  run.series[1].mean_over_ranks = 4;
  scratch.write("snaps/app-7-00000150.effort", file_of(run));
  scratch.write_text("snaps/.app-7-00000160.effort.1.0.part", "in progress");
  scratch.write_text("snaps/notes.txt", "");
  json = scratch.run({"top", "snaps", "--json"}).json();
  CHECK(json["steps"] == 150);
  CHECK(json["since_step"] == 100);
  CHECK(json["steps_per_second"] == 25.0);
  CHECK(json["regions"][0]["name"] == "halo");
  CHECK(json["regions"][0]["mean_per_step"] == 0.06);
  CHECK(json["regions"][1]["mean_per_step"] == 0.02);
  const Outcome text = scratch.run({"top", "snaps", "--once"});
  CHECK(text.code == 0);
  CHECK(text.out.find("25 steps/s") != std::string::npos);
  // Snapshots of another job belong to another run.
  CHECK(scratch.run({"top", "snaps", "--json", "--job", "7"}).json()["steps"] == 150);
  CHECK(scratch.run({"top", "snaps", "--json", "--job", "8"}).code == 1);
}

TEST_CASE("top: follows a run on the screen until q or a signal") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "snaps");
  for (const bool by_key : {true, false}) {
    Run run = run_of(8, 100, {{"solve", Kind::compute, 4, 0.5}});
    Session top({"top", (scratch / "snaps").string(), "--interval", "0.05"});
    if (by_key) {
      CHECK(top.shows("\033[?1049h"));
      CHECK(top.shows("no snapshot"));
    }
    scratch.write("snaps/new", file_of(run));
    std::filesystem::rename(scratch / "snaps/new", scratch / "snaps/app-7-00000100.effort");
    CHECK(top.shows("step 100"));
    // A damaged snapshot is reported and does not end top.
    scratch.write_text("snaps/new", "no snapshot at all");
    std::filesystem::rename(scratch / "snaps/new", scratch / "snaps/app-7-00000120.effort");
    CHECK(top.shows("this is not an effort snapshot"));
    run.steps = 150;
    scratch.write("snaps/new", file_of(run));
    std::filesystem::rename(scratch / "snaps/new", scratch / "snaps/app-7-00000150.effort");
    CHECK(top.shows("step 150"));
    if (by_key) {
      top.type('q');
    } else {
      top.signal(SIGTERM);
    }
    CHECK(top.end() == 0);
    for (const char* name :
         {"snaps/app-7-00000100.effort", "snaps/app-7-00000120.effort", "snaps/app-7-00000150.effort"})
      std::filesystem::remove(scratch / name);
  }
}

TEST_CASE("top: a signal while a slow terminal takes the page does no harm") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "snaps");
  scratch.write("snaps/app-7-00000100.effort", file_of(run_of(8, 100, {{"solve", Kind::compute, 4, 0.5}})));
  Session top({"top", (scratch / "snaps").string(), "--interval", "0.05"});
  CHECK(top.shows("step 100"));
  // Each change of the size draws the page again. It is not read here, so the terminal is soon full.
  for (int i = 0; i < 100; ++i) {
    top.signal(SIGWINCH);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  top.type('q');
  CHECK(top.end() == 0);
}
