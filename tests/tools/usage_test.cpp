// Exit codes and help.
#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include "command.hpp"

using namespace effort::tools::test;

TEST_CASE("help and version succeed, and nonsense is a usage error") {
  const Scratch scratch;
  CHECK(scratch.run({"--help"}).code == 0);
  CHECK(scratch.run({"--help"}).out.find("sample-size") != std::string::npos);
  CHECK(scratch.run({"--version"}).code == 0);
  CHECK(scratch.run({"info", "--help"}).code == 0);
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{},
        {"dance"},
        {"info"},
        {"info", "a", "b"},
        {"info", "--nonsense", "a"},
        {"encode", "in", "out"},
        {"encode", "--rows", "2", "--cols", "2", "--passes", "3", "--nrmse", "0.1", "in", "out"},
        {"encode", "--rows", "-2", "--cols", "2", "in", "out"},
        {"encode", "--rows", "2", "--cols", "2", "--nrmse", "-1", "in", "out"},
        {"encode", "--rows", "2", "--cols", "2", "--coder", "magic", "in", "out"},
        {"decode", "--level", "-1", "in", "out"}}) {
    const Outcome outcome = scratch.run(line);
    INFO((line.empty() ? "" : line[0]) << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.starts_with("effort: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("a wrong word is answered with suggestions") {
  const Scratch scratch;
  const std::string typo = scratch.run({"exprot", "a"}).err, nonsense = scratch.run({"frobnicate"}).err,
                    nothing = scratch.run({}).err;
  CHECK(typo.find("did you mean 'export'?") != std::string::npos);
  CHECK(nonsense.find("did you mean") == std::string::npos);
  for (const std::string& message : {typo, nonsense, nothing}) {
    INFO(message);
    CHECK(message.find("the commands are info, report, top") != std::string::npos);
  }
  const auto error_of = [&](const std::vector<std::string>& line) { return scratch.run(line).err; };
  CHECK(error_of({"info", "--nonsense", "a"}) == "effort: unknown option '--nonsense': see 'effort info --help'\n");
  CHECK(error_of({"--nonsense"}) == "effort: unknown option '--nonsense': see 'effort --help'\n");
  CHECK(error_of({"replay", "a", "--prize=3"}) ==
        "effort: unknown option '--prize' (did you mean '--price'?): see 'effort replay --help'\n");
}

TEST_CASE("a pipe or device as input is refused at once") {
  const Scratch scratch;
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  for (const std::vector<std::string>& line : {std::vector<std::string>{"info", "pipe"},
                                               {"diff", "pipe", "pipe"},
                                               {"decode", "pipe", "out.f64"},
                                               {"cluster", "--rows", "2", "--cols", "2", "-k", "1", "pipe"}}) {
    const Outcome outcome = scratch.run(line);
    INFO(line[0] << ": " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("can only read regular files") != std::string::npos);
  }
}

TEST_CASE("output that cannot be written is an error") {
  const Scratch scratch;
  scratch.write("in.f64", std::vector<double>(16, 1.5));
  CHECK(scratch.run({"encode", "--rows", "4", "--cols", "4", "in.f64", "no/such/dir/out.ewz"}).code == 1);
  CHECK(scratch.run({"encode", "--rows", "4", "--cols", "4", "in.f64", "."}).code == 1);
  if (!std::filesystem::exists("/dev/full")) SKIP("this system has no /dev/full");
  const Outcome outcome = scratch.run({"encode", "--rows", "4", "--cols", "4", "in.f64", "/dev/full"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("/dev/full") != std::string::npos);
}
