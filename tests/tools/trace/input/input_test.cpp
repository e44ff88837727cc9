// Reading traces: files of several nodes, damage of every kind, and archives of other tools.
#include <catch2/catch_test_macros.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "../../command.hpp"
#include "../traces.hpp"
#include "tools/trace/analysis/calls.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/export/export.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;
namespace fs = std::filesystem;
namespace why = effort::record::trace;

namespace {

std::string written(const Scratch& scratch, std::int64_t offset_ns = 0) {
  write_files(small_trace(false), scratch / "app-17.trace", offset_ns);
  return (scratch / "app-17.trace").string();
}

/// The command succeeds, or fails with one sentence that names the file.
bool clear(const Outcome& outcome, const std::string& file) {
  if (outcome.code == 0) return true;
  return outcome.code == 1 && outcome.err.find(file) != std::string::npos &&
         std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1;
}

void cut(const fs::path& file, std::uintmax_t bytes) { fs::resize_file(file, bytes); }

}  // namespace

TEST_CASE("the records of a partner are complete once a snapshot has saved them") {
  const Scratch scratch;
  Trace trace = empty_trace(1);
  trace.n_nodes = 1;
  Events messages(300), everything(10);
  messages.message(Kind::send, 1, 3, 8).at(500).message(Kind::send, 1, 3, 9);
  everything.step(0).at(300).message(Kind::send, 1, 3, 8).at(400).message(Kind::send, 2, 3, 7);
  everything.at(500).message(Kind::send, 1, 3, 9);
  for (const bool all : {false, true}) {
    add_window(trace, 0, 0, 1000);  // the same window again
    keep(trace, 0, all ? why::reason_snapshot : why::reason_partner, 0, -1, all ? everything : messages);
  }
  write_files(trace, scratch / "app-17.trace");
  const Trace got = read_trace((scratch / "app-17.trace").string());
  REQUIRE(got.windows.size() == 1);
  REQUIRE(got.windows[0].ranks.size() == 1);
  CHECK(got.windows[0].ranks[0].reasons == why::reason_snapshot);
  REQUIRE(got.threads.size() == 1);
  CHECK(got.threads[0].events == everything.events);
  REQUIRE(got.threads[0].spans.size() == 1);
  CHECK(got.threads[0].spans[0].end == everything.events.size());
}

TEST_CASE("the files of all nodes are one trace") {
  const Scratch scratch;
  const Trace want = small_trace(false), got = read_trace(written(scratch));
  CHECK(got.notes.empty());
  CHECK(got.recorder == "effort 0.1.0");
  CHECK(got.n_ranks == 4);
  CHECK(got.node_of == want.node_of);
  CHECK(got.clock_bound_ns == 40);
  REQUIRE(got.windows.size() == 2);
  CHECK(got.windows[1].ordinal == 2);
  CHECK(got.windows[1].ranks.size() == 3);
  CHECK(got.windows[1].strata.size() == 2);
  REQUIRE(got.threads.size() == want.threads.size());
  for (std::size_t t = 0; t < want.threads.size(); ++t) {
    CHECK(got.threads[t].events == want.threads[t].events);
    CHECK(got.threads[t].spans.size() == 2);
    CHECK(got.threads[t].spans[1].start_ns == 2000);
    CHECK(got.threads[t].spans[1].end_ns == 3000);
  }
  CHECK(match_messages(got).matched.size() == 6);
}

TEST_CASE("clocks of nodes are brought together") {
  const Scratch scratch;
  const Trace want = small_trace(false), got = read_trace(written(scratch, 123'456));
  for (std::size_t t = 0; t < want.threads.size(); ++t) CHECK(got.threads[t].events == want.threads[t].events);
  CHECK(got.windows[0].start_ns == 0);
  CHECK(got.windows[0].end_ns == 1000);
}

TEST_CASE("a single file, and a missing file") {
  const Scratch scratch;
  written(scratch);
  const Trace one = read_trace((scratch / "app-17.trace/node-00000.trc").string());
  CHECK(one.threads.size() == 2);
  CHECK(one.notes.empty());
  fs::remove(scratch / "app-17.trace/node-00001.trc");
  const Trace rest = read_trace((scratch / "app-17.trace").string());
  CHECK(mentions(rest.notes, "the files of 1 node of 2 are missing"));
  const auto info = scratch.run({"trace", "info", "app-17.trace", "--json"}).json();
  CHECK(info["ranks"] == 4);
  CHECK(info["kept"].size() == 4);
}

TEST_CASE("info: keys and sentences") {
  const Scratch scratch;
  written(scratch);
  const auto info = scratch.run({"trace", "info", "app-17.trace", "--json"}).json();
  CHECK(info["kept"][0]["rank"] == 0);
  CHECK(info["kept"][0]["why"] == "sample");
  CHECK(info["kept"][0]["reasons"] == nlohmann::json::array({"sample", "medoid"}));
  CHECK(info["kept"][1]["why"] == "critical");
  CHECK(info["kept"][2]["probability"] == 0.5);
  CHECK(info["kept"][5]["first_step"] == 2);
  CHECK(info["kept"][5]["last_step"] == 2);
  CHECK(info["sample_sizes"] == nlohmann::json::array({2, 2}));
  CHECK(info["dropped_steps"] == 0);
  CHECK(info["events"] == small_trace(false).events());
  CHECK(info["bytes"].get<std::uint64_t>() > 500);
  CHECK(info["unmatched"]["sends"] == 2);
  bool found = false;
  for (const auto& call : info["calls"]) {
    if (call["path"] != "step/solve") continue;
    found = true;
    CHECK(call["count"] == 4);  // rank 0 stands for two, in two windows
    CHECK(call["count_error"].is_number());
    CHECK(call["seconds"].get<double>() > 1.9e-6);
  }
  CHECK(found);
  const Outcome text = scratch.run({"trace", "info", "app-17.trace"});
  CHECK(text.code == 0);
  CHECK(
      text.out.starts_with("Of 4 ranks, 3 were kept in at least one of 2 windows (steps 0 to 2).\n"
                           "In each window, 2 of them were drawn at random from up to 2 strata and stand for all "
                           "ranks."));
  CHECK(text.out.find("critical 2 times") != std::string::npos);
  CHECK(text.out.find("known within 5.0 % in every window, with a confidence of 90.0 %, as asked for (8.0 %)") !=
        std::string::npos);
  Trace missed = small_trace(false);
  missed.windows[1].error = 0.2;
  write_files(missed, scratch / "missed-17.trace");
  const std::string answer = scratch.run({"trace", "info", "missed-17.trace"}).out;
  INFO(answer);
  CHECK(answer.find("20.0 % in every window, with a confidence of 90.0 %; the requested 8.0 % are reached in 1 of 2 "
                    "windows.") != std::string::npos);
}

TEST_CASE("info: windows that were saved from memory are no sample") {
  const Scratch scratch;
  Trace trace = small_trace(false);
  add_window(trace, 3, 4000, 5000);
  Events events(4100);
  events.enter(region_solve).wait(100).leave(region_solve);
  keep(trace, 0, effort::record::trace::reason_lost, 0, -1, events);
  keep(trace, 1, effort::record::trace::reason_snapshot, 0, -1, events);
  write_files(trace, scratch / "app-17.trace");
  const std::string text = scratch.run({"trace", "info", "app-17.trace"}).out;
  INFO(text);
  CHECK(text.find("In 2 of the windows, 2 of them were drawn at random") != std::string::npos);
  CHECK(text.find("Others were saved because they were still in memory: 1 time for effort_snapshot, 1 time because a "
                  "rank of the node was lost.") != std::string::npos);
  CHECK(text.find("lost 1 time") == std::string::npos);
  CHECK(text.find("in every window with a sample") != std::string::npos);
  // The trace holds nothing else.
  Trace saved = empty_trace(2);
  add_window(saved, 0, 0, 1000);
  keep(saved, 0, effort::record::trace::reason_lost, 0, -1, Events(10).enter(region_solve).wait(1).leave(region_solve));
  write_files(saved, scratch / "lost-1.trace");
  CHECK(scratch.run({"trace", "info", "lost-1.trace"}).out.find("None was drawn at random.") != std::string::npos);
}

TEST_CASE("damaged files: never a crash, always a sentence") {
  const Scratch scratch;
  written(scratch);
  const fs::path path = scratch / "app-17.trace/node-00000.trc";
  const std::string whole = scratch.read_text("app-17.trace/node-00000.trc");
  const std::size_t all = small_trace(false).events();
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    scratch.write_text("app-17.trace/node-00000.trc", changed);
    CAPTURE(at);
    const Trace trace = read_trace((scratch / "app-17.trace").string());
    CHECK_FALSE(trace.notes.empty());
    CHECK(trace.events() < all + 1);
    estimate_calls(trace);
    match_messages(trace);
  }
  for (std::size_t size = 0; size < whole.size(); size += 53) {
    scratch.write_text("app-17.trace/node-00000.trc", whole.substr(0, size));
    CAPTURE(size);
    CHECK(clear(scratch.run({"trace", "info", "app-17.trace/node-00000.trc"}), "node-00000.trc"));
  }
  fs::remove(scratch / "app-17.trace/node-00001.trc");
  scratch.write_text("app-17.trace/node-00000.trc", "no trace");
  const Outcome none = scratch.run({"trace", "info", "app-17.trace"});
  CHECK(none.code == 1);
  CHECK(clear(none, "node-00000.trc"));
  (void)path;
}

TEST_CASE("inputs that are not traces are refused") {
  const Scratch scratch;
  fs::create_directory(scratch / "empty");
  CHECK(scratch.run({"trace", "info", "empty"}).code == 1);
  CHECK(scratch.run({"trace", "info", "empty"}).err.find("is not a trace") != std::string::npos);
  CHECK(scratch.run({"trace", "info", "nix"}).err == "effort: 'nix' does not exist\n");
  scratch.write_text("x.otf2", "OTF2?");
  CHECK(clear(scratch.run({"trace", "info", "x.otf2"}), "x.otf2"));
  CHECK(scratch.run({"trace", "info", "x.otf2"}).code == 1);
  CHECK(scratch.run({"trace"}).code == 2);
  CHECK(scratch.run({"trace", "info"}).code == 2);
  CHECK(scratch.run({"trace", "export", "x.otf2", "--format", "pdf", "-o", "y"}).code == 2);
  CHECK(scratch.run({"trace", "infos"}).err ==
        "effort: unknown command 'infos' (did you mean 'info'?): the commands of effort trace are info, export, "
        "reduce\n");
  write_files(small_trace(false), scratch / "app-17.trace");
  Trace other = small_trace(false);
  other.job = "18";
  write_files(other, scratch / "other.trace");
  fs::copy_file(scratch / "other.trace/node-00001.trc", scratch / "app-17.trace/node-00001.trc",
                fs::copy_options::overwrite_existing);
  CHECK(scratch.run({"trace", "info", "app-17.trace"}).err.find("must hold the files of one run") != std::string::npos);
}

namespace {

/// An archive as another tool would write it.
fs::path foreign(const Scratch& scratch) {
  Trace trace = small_trace(true);
  trace.is_otf2 = true;
  export_trace_otf2(trace, match_messages(trace), scratch / "archive");
  return scratch / "archive";
}

}  // namespace

TEST_CASE("a copy of a file in a trace does not count twice") {
  const Scratch scratch;
  written(scratch);
  fs::copy_file(scratch / "app-17.trace/node-00001.trc", scratch / "app-17.trace/node-00002.trc");
  const Outcome outcome = scratch.run({"trace", "info", "app-17.trace"});
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("node-00002.trc' holds node 1") != std::string::npos);
}

TEST_CASE("otf2: pipes in an archive are refused, not waited for") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  foreign(scratch);
  for (const char* name : {"traces.otf2", "traces.def", "traces/0.evt", "traces/1.def"}) {
    CAPTURE(name);
    const fs::path kept = scratch / "kept";
    fs::rename(scratch / "archive" / name, kept);
    REQUIRE(mkfifo((scratch / "archive" / name).c_str(), 0600) == 0);
    const Outcome outcome = scratch.run({"trace", "info", "archive/traces.otf2"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("can only read regular files") != std::string::npos);
    fs::remove(scratch / "archive" / name);
    fs::rename(kept, scratch / "archive" / name);
  }
  CHECK(scratch.run({"trace", "info", "archive"}).code == 0);
}

TEST_CASE("exports never replace their input") {
  const Scratch scratch;
  written(scratch);
  const std::string before = scratch.read_text("app-17.trace/node-00000.trc");
  for (const char* format : {"csv", "perfetto", "otf2"}) {
    for (const char* out : {"app-17.trace/node-00000.trc", "app-17.trace"}) {
      CAPTURE(format, out);
      const Outcome outcome = scratch.run({"trace", "export", "app-17.trace", "--format", format, "-o", out});
      CHECK(outcome.code == (format == std::string("otf2") && !otf2_available() ? 2 : 2));
    }
    CHECK(scratch.run({"trace", "export", "app-17.trace", "--format", format, "-o", "no/such/x"}).code != 0);
  }
  CHECK(scratch.read_text("app-17.trace/node-00000.trc") == before);
  const auto done = scratch.run({"trace", "export", "app-17.trace", "--format", "csv", "-o", "x.csv", "--json"}).json();
  CHECK(done["events"] == small_trace(false).events());
  CHECK(done["messages"] == 6);
  CHECK(done["left_out"] == 2);
}

TEST_CASE("otf2: missing and damaged files of locations") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  const fs::path archive = foreign(scratch);
  CHECK(scratch.run({"trace", "info", "archive"}).out.starts_with("This archive of effort"));
  fs::remove(archive / "traces/1.evt");
  Trace trace = read_trace(archive.string());
  CHECK(mentions(trace.notes, "rank 1, thread 0: no events can be read from"));
  CHECK(trace.windows[0].find(1)->lost);
  CHECK(match_messages(trace).unmatched_sends == 4);
  cut(archive / "traces/0.evt", fs::file_size(archive / "traces/0.evt") / 2);
  trace = read_trace(archive.string());
  CHECK(mentions(trace.notes, "rank 0, thread 0: "));
  CHECK(scratch.run({"trace", "info", "archive/traces.otf2", "--json"}).code == 0);
}

TEST_CASE("otf2: damaged archives: never a crash, always a sentence") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  foreign(scratch);
  for (const char* name :
       {"archive/traces.otf2", "archive/traces.def", "archive/traces/0.evt", "archive/traces/0.def"}) {
    const std::string whole = scratch.read_text(name);
    const std::size_t stride = std::max<std::size_t>(1, whole.size() / 25);
    for (std::size_t at = 0; at < whole.size(); at += stride) {
      for (const bool cut_off : {true, false}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x7f);
        scratch.write_text(name, cut_off ? whole.substr(0, at) : changed);
        CAPTURE(name, at, cut_off);
        const Outcome outcome = scratch.run({"trace", "info", "archive", "--json"});
        INFO(outcome.err);
        CHECK(clear(outcome, "archive"));
      }
    }
    scratch.write_text(name, whole);
  }
  fs::remove(scratch / "archive/traces.def");
  CHECK(scratch.run({"trace", "info", "archive"}).code == 1);
}

TEST_CASE("otf2: anchor files that let the library loop or crash are refused") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
  const Trace trace = small_trace(true);
  export_trace_otf2(trace, match_messages(trace), scratch / "archive");
  const std::string whole = scratch.read_text("archive/traces.otf2");
  const std::size_t creator = whole.find("effort 0."), property = whole.find("EFFORT::SAMPLING");
  REQUIRE(creator != std::string::npos);
  REQUIRE(property != std::string::npos);
  // The last byte of the number of locations, and of that of properties.
  for (const auto& [at, value] :
       {std::pair(creator - 1, 1), std::pair(property - 1, 0x80), std::pair(property - 1, 4)}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(value);
    scratch.write_text("archive/traces.otf2", changed);
    const Outcome outcome = scratch.run({"trace", "info", "archive"});
    INFO(outcome.err);
    CHECK(clear(outcome, "archive"));
    CHECK(outcome.code == 1);
  }
  scratch.write_text("archive/traces.otf2", whole);
  CHECK(scratch.run({"trace", "info", "archive"}).code == 0);
}

TEST_CASE("otf2: the definitions of 10,000 ranks") {
  if (!otf2_available()) SKIP("effort was built without OTF2");
  const Scratch scratch;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::int32_t ranks = 1'000;  // 10,000 take minutes
#else
  constexpr std::int32_t ranks = 10'000;
#endif
  Trace trace = empty_trace(ranks);
  trace.is_otf2 = true;
  add_window(trace, 0, 0, 1000);
  for (const std::int32_t rank : {0, 17, ranks - 1}) {
    Events events(0);
    events.enter(region_solve).wait(100).leave(region_solve);
    keep(trace, rank, 0, 0, -1, events);
  }
  export_trace_otf2(trace, match_messages(trace), scratch / "archive");
  const Outcome outcome = scratch.run({"trace", "info", "archive", "--json"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["ranks"] == ranks);
  CHECK(outcome.json()["events"] == 6);
}
