// Commands never replace their input, and their output is either complete or absent.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <set>

#include "command.hpp"
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

bool is_missing(const Outcome& outcome) {
  return outcome.err.find("built without") != std::string::npos ||
         outcome.err.find("has no report page") != std::string::npos;
}

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

TEST_CASE("the lists of a clustering must go into two files") {
  const Inputs scratch;
  const Outcome outcome =
      scratch.run({"cluster", "--rows", "4", "--cols", "4", "-k", "2", "--labels", "x", "--medoids", "./x", "MATRIX"});
  CHECK(outcome.code == 2);
  CHECK_FALSE(fs::exists(scratch / "x"));
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
