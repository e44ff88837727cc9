// Commands never replace their input, and their output is either complete or absent.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "command.hpp"
#include "recordings.hpp"
#include "runs.hpp"

using namespace effort::tools::test;
namespace fs = std::filesystem;

namespace {

/// The files of a directory, except those in which the tests keep the output of a command.
std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(directory)) out.insert(entry.path().filename());
  out.erase(".out");
  out.erase(".err");
  return out;
}

using Command = std::vector<std::string>;

/// Every command that writes a file; IN and OUT stand for the files.
const std::vector<Command> writers = {
    {"export", "SNAP", "--format", "csv", "-o", "OUT"},
    {"export", "SNAP", "--format", "vtk", "-o", "OUT"},
    {"export", "SNAP", "--format", "hdf5", "-o", "OUT"},
    {"report", "SNAP", "-o", "OUT"},
    {"encode", "--rows", "4", "--cols", "4", "MATRIX", "OUT"},
    {"decode", "STREAM", "OUT"},
    {"cluster", "--rows", "4", "--cols", "4", "-k", "2", "--labels", "OUT", "MATRIX"},
    {"cluster", "--rows", "4", "--cols", "4", "-k", "2", "--medoids", "OUT", "MATRIX"},
    {"replay", "--regions", "1", "--ranks", "4", "--steps", "4", "-o", "OUT", "MATRIX"}};

bool is_missing(const Outcome& outcome) { return outcome.err.find("built without") != std::string::npos; }

Command with(Command command, const std::string& in, const std::string& out) {
  for (std::string& word : command) {
    if (word == "SNAP" || word == "MATRIX" || word == "STREAM") word = in;
    if (word == "OUT") word = out;
  }
  return command;
}

/// A scratch directory with every kind of input.
struct Inputs : Scratch {
  Inputs() {
    write("SNAP", interleaved_file());
    write("MATRIX", std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17});
    REQUIRE(run({"encode", "--rows", "4", "--cols", "4", "MATRIX", "STREAM"}).code == 0);
  }
  static std::string of(const Command& command) {
    for (const std::string& word : command)
      if (word == "SNAP" || word == "MATRIX" || word == "STREAM") return word;
    return "";
  }
};

}  // namespace

TEST_CASE("no command replaces its input under any name") {
  const Inputs scratch;
  for (const Command& command : writers) {
    const std::string in = Inputs::of(command), before = scratch.read_text(in);
    const auto check = [&](const std::string& out) {
      const Outcome outcome = scratch.run(with(command, in, out));
      INFO(command[0] << " " << command[2] << " -o " << out << ": " << outcome.err);
      if (is_missing(outcome)) return;
      CHECK(outcome.code == 2);
      CHECK(outcome.err.find("the same file") != std::string::npos);
      CHECK(scratch.read_text(in) == before);
    };
    fs::create_hard_link(scratch / in, scratch / "hard");
    fs::create_symlink(in, scratch / "soft");
    for (const char* out : {"hard", "soft"}) check(out);
    check(in);
    check("./" + in);
    fs::remove(scratch / "hard");
    fs::remove(scratch / "soft");
  }
}

TEST_CASE("no file of an exported directory replaces the input") {
  const Inputs scratch;
  fs::create_directory(scratch / "out");
  for (const char* name : {"axes.json", "cells_all.npy"}) {
    fs::rename(scratch / "SNAP", scratch / "out" / name);
    const std::string in = std::string("out/") + name, before = scratch.read_text(in);
    const Outcome outcome = scratch.run({"export", in, "--format", "npy", "-o", "out"});
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(scratch.read_text(in) == before);
    CHECK(names_in(scratch / "out") == std::set<std::string>{name});
    fs::rename(scratch / "out" / name, scratch / "SNAP");
  }
}

namespace {

/// A scratch directory with inputs that a command finds in directories, or that only options name.
struct ManyInputs : Inputs {
  ManyInputs() {
    for (const char* directory : {"calls", "run.trace", "src"}) fs::create_directory(*this / directory);
    effort::record::calls::test::RecordingMaker recording(2, 1);
    recording.thread(0, std::vector<std::uint32_t>{1, 2, 0, 0});
    recording.stamps(0, std::vector<std::uint64_t>{10, 20, 30, 40});
    write("calls/x.rec", recording.bytes());
    REQUIRE(run({"calls", "encode", "calls", "-o", "x.calls"}).code == 0);
    fs::copy_file(EFFORT_TEST_TRACE, *this / "run.trace/node-0.trc");
    if (run({"trace", "export", "run.trace", "--format", "otf2", "-o", "archive"}).code == 0) {
      fs::create_symlink("archive/traces.otf2", *this / "alias.otf2");
      fs::create_symlink("archive/traces.def", *this / "alias.def");
      fs::create_symlink("archive/traces", *this / "alias");
    }
    write_text("src/main.c", "int main() { effort_begin(effort_region(\"first\")); }\n");
    write_text("order", "0 1 2 3 4 5 6\n");
    write_text("node.xml", "<?xml version=\"1.0\"?>\n");
    write_text("prog", "a program");
    auto run_of_program = run_of(2, 2, {{"solve"}});
    run_of_program.modules = {{"prog", "/nonexistent/prog", ""}};
    write("moved.effort", file_of(run_of_program));
    run_of_program.modules[0].path = *this / "prog";
    write("run.effort", file_of(run_of_program));
  }
};

struct Overwriting {
  std::string victim;
  Command command;  ///< OUT stands for the victim
};

/// Every way to name an input and write to it that `writers` does not have.
const std::vector<Overwriting> overwriting = {
    // Files of a directory.
    {"calls/x.rec", {"calls", "encode", "calls", "-o", "OUT"}},
    {"calls/x.rec", {"calls", "graph", "calls", "-o", "OUT"}},
    {"calls/x.rec", {"calls", "info", "calls", "--folded", "OUT"}},
    {"calls/x.rec", {"calls", "info", "calls", "--folded-time", "OUT"}},
    {"calls/x.rec", {"report", "SNAP", "calls", "-o", "OUT"}},
    {"run.trace/node-0.trc", {"trace", "export", "run.trace", "--format", "csv", "-o", "OUT"}},
    {"run.trace/node-0.trc", {"trace", "export", "run.trace", "--format", "perfetto", "-o", "OUT"}},
    {"archive/traces/0.evt", {"trace", "export", "archive/traces.otf2", "--format", "csv", "-o", "OUT"}},
    {"archive/traces/0.evt", {"trace", "export", "archive", "--format", "perfetto", "-o", "OUT"}},
    {"archive/traces.def", {"trace", "export", "archive/traces.otf2", "--format", "csv", "-o", "OUT"}},
    {"archive/traces.otf2", {"trace", "export", "archive", "--format", "csv", "-o", "OUT"}},
    {"src/main.c", {"report", "SNAP", "--source", "src", "-o", "OUT"}},
    {"src/main.c", {"report", "SNAP", "--source", ".", "-o", "OUT"}},
    // The run's program, in a directory and where the run had it.
    {"prog", {"report", "moved.effort", "--module-path", ".", "-o", "OUT"}},
    {"prog", {"report", "run.effort", "-o", "OUT"}},
    // Files that options name.
    {"prog", {"export", "SNAP", "--format", "csv", "--module-path", "prog", "-o", "OUT"}},
    {"prog", {"report", "SNAP", "--module-path=prog", "-o", "OUT"}},
    {"prog", {"trace", "export", "run.trace", "--format", "csv", "--module-path", "prog", "-o", "OUT"}},
    {"prog", {"calls", "graph", "x.calls", "--module-path", "prog", "-o", "OUT"}},
    {"prog", {"calls", "info", "x.calls", "--module-path", "src", "--module-path", "prog", "--folded", "OUT"}},
    {"order", {"report", "SNAP", "--order", "order", "-o", "OUT"}},
    {"order", {"report", "SNAP", "--order", "topology=order", "-o", "OUT"}},
    {"order", {"replay", "--regions", "1", "--ranks", "4", "--steps", "4", "--names", "order", "-o", "OUT", "MATRIX"}},
    {"order", {"place", "SNAP", "--hosts", "order", "-o", "OUT"}},
    {"order", {"place", "SNAP", "--topology", "order", "-o", "OUT"}},
    {"node.xml", {"place", "SNAP", "--topology", "node.xml", "-o", "OUT"}},
    {"node.xml", {"place", "SNAP", "--node", "node.xml", "-o", "OUT"}},
    {"SNAP", {"place", "SNAP", "-o", "OUT"}},
    {"calls/x.rec", {"calls", "encode", "x.calls", "calls/x.rec", "-o", "OUT"}},
    {"x.calls", {"calls", "decode", "x.calls", "OUT"}},
    {"x.calls", {"calls", "graph", "x.calls", "-o", "OUT"}},
    {"x.calls", {"report", "SNAP", "x.calls", "-o", "OUT"}}};

std::string words(const Command& command) {
  std::string out;
  for (const std::string& word : command) out += word + " ";
  return out;
}

}  // namespace

TEST_CASE("no command replaces a file that it finds in a directory, or that an option names") {
  const ManyInputs scratch;
  for (const Overwriting& each : overwriting) {
    if (!fs::exists(scratch / each.victim)) continue;  // built without OTF2
    const std::string before = scratch.read_text(each.victim);
    for (const std::string& out : {each.victim, std::string("hard"), std::string("soft")}) {
      fs::create_hard_link(scratch / each.victim, scratch / "hard");
      fs::create_symlink(each.victim, scratch / "soft");
      Command command = each.command;
      std::replace(command.begin(), command.end(), std::string("OUT"), out);
      const Outcome outcome = scratch.run(command);
      INFO(words(command) << ": " << outcome.err);
      if (!is_missing(outcome)) {
        CHECK(outcome.code == 2);
        CHECK(outcome.err.find("'" + out + "' would replace the input '") != std::string::npos);
        CHECK(scratch.read_text(each.victim) == before);
        CHECK(fs::is_symlink(scratch / "soft"));
      }
      fs::remove(scratch / "hard");
      fs::remove(scratch / "soft");
      scratch.write_text(each.victim, before);
    }
  }
}

TEST_CASE("no exported archive replaces the archive that it is made from") {
  const ManyInputs scratch;
  if (!fs::exists(scratch / "archive")) SKIP("effort was built without OTF2");
  const std::string before = scratch.read_text("archive/traces/0.evt");
  for (const char* in : {"archive", "archive/traces.otf2", "alias.otf2"}) {
    const Outcome outcome = scratch.run({"trace", "export", in, "--format", "otf2", "-o", "archive"});
    INFO(in << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("would replace the input '") != std::string::npos);
    CHECK(scratch.read_text("archive/traces/0.evt") == before);
  }
  CHECK(scratch.run({"trace", "export", "run.trace", "--format", "otf2", "-o", "archive"}).code == 0);
}

TEST_CASE("a directory that a command reads may hold its output, which the next run replaces") {
  const ManyInputs scratch;
  for (int time = 0; time < 2; ++time) {
    CHECK(scratch.run({"calls", "encode", "calls", "-o", "calls/x.calls"}).code == 0);
    CHECK(scratch.run({"trace", "export", "run.trace", "--format", "csv", "-o", "run.trace/x.csv"}).code == 0);
    CHECK(scratch.run({"export", "SNAP", "--format", "csv", "--module-path", ".", "-o", "x.csv"}).code == 0);
    // Names of metrics and titles may be those of existing files: the command does not read them.
    CHECK(scratch.run({"export", "SNAP", "--format", "npy", "--metric", "time", "-o", "time"}).code == 0);
    const Outcome report = scratch.run({"report", "SNAP", "--source", ".", "--title", "page", "-o", "page"});
    INFO(report.err);
    CHECK((report.code == 0 || is_missing(report)));
  }
}

TEST_CASE("two outputs must go into two files") {
  const ManyInputs scratch;
  for (const Command& command :
       {Command{"cluster", "--rows", "4", "--cols", "4", "-k", "2", "--labels", "x", "--medoids", "./x", "MATRIX"},
        Command{"calls", "info", "calls", "--folded", "x", "--folded-time", "./x"}}) {
    const Outcome outcome = scratch.run(command);
    INFO(words(command) << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("are one file") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "x"));
  }
}

TEST_CASE("a command that fails or is killed while writing leaves only the old file") {
  const Inputs scratch;
  scratch.write_text("old", "as it was");
  fs::create_directory(scratch / "directory");
  scratch.write_text("directory/axes.json", "as it was");
  const std::set<std::string> before = names_in(scratch / "");
  // The size of files is limited: the command dies of the signal, or cannot write if the signal is ignored.
  for (const std::string trap : {"", "trap '' XFSZ; "}) {
    for (const std::string form : {"csv -o old", "vtk -o old", "npy -o directory", "npy -o fresh", "hdf5 -o old"}) {
      if (trap.empty() && form.starts_with("hdf5")) continue;  // its temporary file has a name
      const Outcome outcome = scratch.run_program(
          "bash", {"-c", trap + "ulimit -f 4; exec '" EFFORT_COMMAND "' export SNAP --format " + form});
      INFO(trap << form << ": " << outcome.code << " " << outcome.err);
      CHECK(outcome.code != 0);
      CHECK(scratch.read_text("old") == "as it was");
      CHECK(names_in(scratch / "directory") == std::set<std::string>{"axes.json"});
      if (fs::exists(scratch / "fresh")) CHECK((trap.empty() && names_in(scratch / "fresh").empty()));
      fs::remove_all(scratch / "fresh");
      // HDF5 2 with its own assertions, as in Debian unstable, aborts if it cannot write.
      if (outcome.code == 128 + SIGABRT && outcome.err.find("H5F") != std::string::npos) continue;
      CHECK(names_in(scratch / "") == before);
    }
  }
}

TEST_CASE("a symbolic link as output stays one") {
  const Inputs scratch;
  scratch.write_text("real", "old");
  fs::create_symlink("real", scratch / "link");
  CHECK(scratch.run({"export", "SNAP", "--format", "csv", "-o", "link"}).code == 0);
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(scratch.read_text("real").starts_with("metric,"));
}
