// OTF2 archives as other tools write them: other clocks, missing locations, messages without their other end.
#include <otf2/otf2.h>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "../../command.hpp"
#include "tools/trace/analysis/messages.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/trace/otf2/library.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
namespace fs = std::filesystem;

namespace {

/// Two ranks; rank 0 sends to rank 1 each second. The test chooses every number.
struct Archive {
  std::uint64_t ticks_per_second = 1'000'000'000, start = 0;  ///< ticks of the clock when the recording began
  std::uint64_t late = 0;                                     ///< ticks added to all times of rank 1
  std::uint64_t bytes = 64;                                   ///< of each message
  std::vector<std::uint64_t> steps;                           ///< numbers of rank 0's steps
  std::vector<std::int64_t> clock_offsets = {0, 0};           ///< ticks, of ranks
  int sends = 3, receives = 3;
  std::uint32_t ranks = 2, locations_without_events = 0;

  void write(const fs::path& directory) const;

 private:
  void write_events(OTF2_Archive* archive) const;
  void write_local_definitions(OTF2_Archive* archive) const;
  void write_definitions(OTF2_Archive* archive) const;
};

void good(OTF2_ErrorCode code) { REQUIRE(code == OTF2_SUCCESS); }

OTF2_FlushType always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

void Archive::write(const fs::path& directory) const {
  OTF2_Archive* const archive =
      OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  REQUIRE(archive != nullptr);
  static const OTF2_FlushCallbacks flush = {always, nullptr};
  good(OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr));
  good(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  good(OTF2_Archive_SetCreator(archive, "another tool"));
  write_events(archive);
  write_local_definitions(archive);
  write_definitions(archive);
  good(OTF2_Archive_Close(archive));
}

void Archive::write_events(OTF2_Archive* archive) const {
  good(OTF2_Archive_OpenEvtFiles(archive));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    OTF2_EvtWriter* const events = OTF2_Archive_GetEvtWriter(archive, rank);
    // Clocks of ranks show other times at the same moment.
    const auto at = [&](double seconds) {
      return start + static_cast<std::uint64_t>(seconds * static_cast<double>(ticks_per_second)) -
             static_cast<std::uint64_t>(clock_offsets[rank]) + rank * late;
    };
    for (int i = 0; i < (rank == 0 ? sends : receives); ++i) {
      if (rank == 0) good(OTF2_EvtWriter_MpiSend(events, nullptr, at(1 + i), 1, 0, 7, bytes));
      if (rank == 1) good(OTF2_EvtWriter_MpiRecv(events, nullptr, at(1.25 + i), 0, 0, 7, bytes));
    }
    for (const std::uint64_t step : steps)
      if (rank == 0) good(OTF2_EvtWriter_ParameterUnsignedInt(events, nullptr, at(1 + sends), 0, step));
    good(OTF2_Archive_CloseEvtWriter(archive, events));
  }
  good(OTF2_Archive_CloseEvtFiles(archive));
}

void Archive::write_local_definitions(OTF2_Archive* archive) const {
  good(OTF2_Archive_OpenDefFiles(archive));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive, rank);
    for (const double seconds : {0.0, 100.0}) {
      const auto time = start + static_cast<std::uint64_t>(seconds * static_cast<double>(ticks_per_second));
      if (clock_offsets[rank] != 0)
        good(OTF2_DefWriter_WriteClockOffset(local, time - static_cast<std::uint64_t>(clock_offsets[rank]),
                                             clock_offsets[rank], 0));
    }
    good(OTF2_Archive_CloseDefWriter(archive, local));
  }
  good(OTF2_Archive_CloseDefFiles(archive));
}

void Archive::write_definitions(OTF2_Archive* archive) const {
  OTF2_GlobalDefWriter* const w = OTF2_Archive_GetGlobalDefWriter(archive);
  good(OTF2_GlobalDefWriter_WriteClockProperties(w, ticks_per_second, start, 10 * ticks_per_second,
                                                 OTF2_UNDEFINED_TIMESTAMP));
  const std::vector<const char*> texts = {"", "machine", "node", "MPI_COMM_WORLD", otf2::step_parameter};
  for (std::uint32_t i = 0; i < texts.size(); ++i) good(OTF2_GlobalDefWriter_WriteString(w, i, texts[i]));
  good(OTF2_GlobalDefWriter_WriteParameter(w, 0, 4, OTF2_PARAMETER_TYPE_UINT64));
  good(OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 1, 2, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  std::vector<std::uint64_t> locations, members;
  for (std::uint32_t rank = 0; rank < ranks + locations_without_events; ++rank) {
    good(OTF2_GlobalDefWriter_WriteLocationGroup(w, rank, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                 OTF2_UNDEFINED_LOCATION_GROUP));
    good(OTF2_GlobalDefWriter_WriteLocation(w, rank, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 3, rank));
    locations.push_back(rank);
    members.push_back(rank);
  }
  const auto n = static_cast<std::uint32_t>(locations.size());
  good(OTF2_GlobalDefWriter_WriteGroup(w, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                       n, locations.data()));
  good(OTF2_GlobalDefWriter_WriteGroup(w, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n,
                                       members.data()));
  good(OTF2_GlobalDefWriter_WriteComm(w, 0, 3, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

bool mentions(const Trace& trace, const std::string& text) {
  return std::any_of(trace.notes.begin(), trace.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

/// Times of the events of a rank.
std::vector<std::int64_t> times(const Trace& trace, std::size_t rank) {
  std::vector<std::int64_t> out;
  for (const TraceEvent& event : trace.threads.at(rank).events) out.push_back(event.time_ns);
  return out;
}

const std::vector<std::int64_t> sent = {1'000'000'000, 2'000'000'000, 3'000'000'000},
                                received = {1'250'000'000, 2'250'000'000, 3'250'000'000};

}  // namespace

TEST_CASE("archives: another resolution and a clock that does not begin at 0") {
  for (const std::uint64_t ticks : {std::uint64_t{1'000}, std::uint64_t{2'400'000'000}, std::uint64_t{1'000'000'000}}) {
    const Scratch scratch;
    Archive archive;
    archive.ticks_per_second = ticks;
    archive.start = std::uint64_t{1} << 62;
    archive.write(scratch / "archive");
    const Trace trace = read_trace((scratch / "archive").string());
    CAPTURE(ticks);
    CHECK(times(trace, 0) == sent);
    CHECK(times(trace, 1) == received);
    CHECK(mentions(trace, "the clock has " + std::to_string(ticks) + " ticks per second") == (ticks != 1'000'000'000));
    CHECK(match_messages(trace).matched.size() == 3);
  }
}

TEST_CASE("archives: times that no recording can have") {
  for (const std::uint64_t ticks : {std::uint64_t{1}, std::uint64_t{2'400'000'000}, std::uint64_t{1'000'000'000}}) {
    const Scratch scratch;
    Archive archive;
    archive.ticks_per_second = ticks;
    archive.late = std::uint64_t{3} << 62;
    archive.bytes = ~std::uint64_t{0};
    archive.write(scratch / "archive");
    const Trace trace = read_trace((scratch / "archive").string());
    CAPTURE(ticks);
    CHECK(times(trace, 0) == sent);
    constexpr std::int64_t nine_years = std::int64_t{1} << 58;
    CHECK(times(trace, 1) == std::vector<std::int64_t>(3, sent[0] + nine_years));
    CHECK(mentions(trace, "3 time stamps are more than 9 years from the others"));
    CHECK(match_messages(trace).matched.size() == 3);
    const std::string path = (scratch / "archive").string();
    for (const char* view : {"matrix", "waits", "pairs", "patterns"})
      CHECK(scratch.run({"comm", view, path}).code == 0);
    CHECK(scratch.run({"trace", "info", path, "--all"}).code == 0);
    CHECK(scratch.run({"trace", "export", path, "--format", "perfetto", "-o", "out.pftrace"}).code == 0);
  }
}

TEST_CASE("archives: steps with impossible numbers") {
  const Scratch scratch;
  Archive archive;
  archive.steps = {7, std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 1, ~std::uint64_t{0}};
  archive.write(scratch / "archive");
  const Trace trace = read_trace((scratch / "archive").string());
  std::vector<std::uint64_t> steps;
  for (const TraceEvent& event : trace.threads.at(0).events)
    if (event.kind == effort::trace::Kind::step) steps.push_back(event.bytes);
  CHECK(steps == std::vector<std::uint64_t>{7, std::uint64_t{1} << 40});
  CHECK(mentions(trace, "2 steps are numbered above 2^40"));
}

TEST_CASE("archives: each location's clock is corrected by its measured offsets") {
  const Scratch scratch;
  Archive archive;
  archive.start = 1'000'000'000'000;
  archive.clock_offsets = {0, 500'000'000'000};
  archive.write(scratch / "archive");
  const Trace trace = read_trace((scratch / "archive").string());
  CHECK(times(trace, 0) == sent);
  CHECK(times(trace, 1) == received);
  CHECK(match_messages(trace).clamped == 0);
}

TEST_CASE("archives: locations without files of events") {
  const Scratch scratch;
  Archive archive;
  archive.locations_without_events = 3;
  archive.write(scratch / "archive");
  const Trace trace = read_trace((scratch / "archive/traces.otf2").string());
  CHECK(trace.n_ranks == 5);
  CHECK(times(trace, 0) == sent);
  CHECK(times(trace, 1) == received);
  for (const char* rank : {"2", "3", "4"})
    CHECK(mentions(trace, std::string("rank ") + rank + ", thread 0: no events can be read from"));
  CHECK(trace.windows[0].find(4)->lost);
  CHECK(trace.windows[0].strata[0].sample == 2);
  CHECK(scratch.run({"trace", "info", "archive"}).code == 0);
}

TEST_CASE("archives: messages without their other end") {
  for (const auto& [sends, receives] : {std::pair(3, 2), std::pair(1, 3)}) {
    const Scratch scratch;
    Archive archive;
    archive.sends = sends;
    archive.receives = receives;
    archive.write(scratch / "archive");
    const TraceMessages messages = match_messages(read_trace((scratch / "archive").string()));
    CHECK(messages.matched.size() == static_cast<std::size_t>(std::min(sends, receives)));
    CHECK(messages.unmatched_sends == static_cast<std::uint64_t>(std::max(0, sends - receives)));
    CHECK(messages.unmatched_receives == static_cast<std::uint64_t>(std::max(0, receives - sends)));
    CHECK(scratch.run({"trace", "info", "archive"}).out.find("lack their other end") != std::string::npos);
    CHECK(scratch.run({"trace", "export", "archive", "--format", "otf2", "-o", "again"}).code == 0);
  }
}

TEST_CASE("archives: a newer format") {
  const Scratch scratch;
  Archive().write(scratch / "archive");
  std::string anchor = scratch.read_text("archive/traces.otf2");
  REQUIRE(anchor.size() > 8);
  anchor[8] = 99;  // the version of the format, after the magic number
  scratch.write_text("archive/traces.otf2", anchor);
  const Outcome outcome = scratch.run({"trace", "info", "archive"});
  INFO(outcome.err);
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("traces.otf2' has another format version than") != std::string::npos);
}
