// Traces that were reduced in the run (TRACE_REDUCE), against the same run without reduction.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <random>

#include "../command.hpp"
#include "tools/report/report_trace.hpp"
#include "traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using Catch::Approx;
using effort::trace::Kind;
using nlohmann::json;
namespace why = effort::record::trace;

namespace {

constexpr std::int64_t microsecond = 1'000;
constexpr int windows = 30, steps = 10, ranks = 4, odd_window = 17, parts = 8;

/// In each step of some 2 ms, in which ranks compute in eight parts, rank 3 sends to rank 2 late, rank 1 computes
/// longer than the others, and all reduce. Work varies by 2 %.  In one window rank 1 is critical: it computes 5 ms
/// longer.
Trace late_ranks(const std::string& reduction) {
  Trace trace = empty_trace(ranks);
  trace.regions.push_back({"MPI_Allreduce", 1});
  trace.reduction = reduction;
  const auto allreduce = static_cast<std::uint32_t>(trace.regions.size() - 1);
  std::mt19937_64 random(11);
  const auto work = [&](std::int64_t ns) {
    return ns + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ns / 25)) - ns / 50;
  };
  std::int64_t now = 0;
  for (int w = 0; w < windows; ++w) {
    std::vector<Events> events(ranks, Events(0));
    const std::int64_t start = now;
    for (int s = 0; s < steps; ++s) {
      std::int64_t arrival[ranks], last = 0;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const std::int64_t late = (rank == 1   ? 400
                                   : rank == 3 ? 200
                                               : 0) *
                                      microsecond +
                                  (w == odd_window && rank == 1 ? 5000 * microsecond : 0);
        arrival[rank] = now + work(1000 * microsecond) + late;
        Events& e = events[static_cast<std::size_t>(rank)];
        e.at(now).step(static_cast<std::uint64_t>(steps * w + s));
        for (int part = 0; part < parts; ++part)
          e.enter(region_solve)
              .at(now + (arrival[rank] - now) * (part + 1) / parts)
              .leave(region_solve)
              .wait(part == parts - 1 ? 0 : 300);
        e.at(arrival[rank]);
      }
      const std::uint64_t bytes = 1000 + static_cast<std::uint64_t>(s);
      const std::int64_t sent = arrival[3] + work(10 * microsecond),
                         received = std::max(arrival[2], sent) + work(10 * microsecond);
      events[3].enter(region_send).message(Kind::send, 2, 0, bytes).at(sent).leave(region_send);
      events[2].enter(region_receive).at(received).message(Kind::receive, 3, 0, bytes).leave(region_receive);
      arrival[3] = sent;
      arrival[2] = received;
      for (const std::int64_t at : arrival) last = std::max(last, at);
      last += work(20 * microsecond);
      for (Events& e : events) e.enter(allreduce).collective(-1, 8, 8).at(last).leave(allreduce);
      now = last + work(5 * microsecond);
    }
    TraceWindow& window = add_window(trace, w, start, now, steps);
    window.first_step = steps * w;
    window.last_step = window.first_step + steps - 1;
    window.strata.push_back({ranks, ranks});
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const bool critical = w == odd_window && rank == 1;
      keep(trace, rank, critical ? why::reason_sample | why::reason_critical : why::reason_sample, 1, 0,
           events[static_cast<std::size_t>(rank)]);
    }
  }
  return trace;
}

std::uintmax_t bytes_of(const std::filesystem::path& trace) {
  std::uintmax_t out = 0;
  for (const auto& entry : std::filesystem::directory_iterator(trace)) out += entry.file_size();
  return out;
}

/// The largest error of the waits by cause and rank, of those that are at least 1 % of all.
double largest_error(const json& full, const json& reduced) {
  double all = 0, largest = 0;
  for (const auto& [cause, of_ranks] : full.items())
    for (const json& ns : of_ranks) all += ns.get<double>();
  for (const auto& [cause, of_ranks] : full.items())
    for (std::size_t r = 0; r < of_ranks.size(); ++r)
      if (const auto ns = of_ranks[r].get<double>(); ns >= 0.01 * all)
        largest = std::max(largest, std::abs(reduced[cause][r].get<double>() - ns) / ns);
  return largest;
}

struct Both {
  Scratch scratch;
  explicit Both(const std::string& reduction) {
    write_files(late_ranks(""), scratch / "full-1.trace");
    write_files(late_ranks(reduction), scratch / "reduced-1.trace");
  }
  json of(const std::vector<std::string>& command, const std::string& trace) const {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--json", trace});
    return scratch.run(all).json();
  }
};

}  // namespace

TEST_CASE("waits are found in a reduced trace as in the whole one, in fewer bytes") {
  const Both both("avgWave:0.05");
  CHECK(static_cast<double>(bytes_of(both.scratch / "reduced-1.trace")) <
        0.7 * static_cast<double>(bytes_of(both.scratch / "full-1.trace")));
  const json full = both.of({"comm", "waits"}, "full-1.trace"), reduced = both.of({"comm", "waits"}, "reduced-1.trace");
  CHECK(largest_error(full["totals_ns"], reduced["totals_ns"]) < 0.2);
  CHECK(reduced["unmatched"] == full["unmatched"]);
  CHECK(both.scratch.run({"comm", "waits", "reduced-1.trace"}).out.find("avgWave:0.05") != std::string::npos);
}

TEST_CASE("a method that keeps one step of each kind loses waits, which the comparison shows") {
  const Both both("iter_k:1");
  const json full = both.of({"comm", "waits"}, "full-1.trace"), reduced = both.of({"comm", "waits"}, "reduced-1.trace");
  CHECK(largest_error(full["totals_ns"], reduced["totals_ns"]) > 0.2);
}

TEST_CASE("estimates of a reduced trace are those of the whole one") {
  for (const std::string method : {"iter_k:1", "relDiff", "Manhattan"}) {
    const Both both(method);
    const json full = both.of({"trace", "info"}, "full-1.trace")["calls"],
               reduced = both.of({"trace", "info"}, "reduced-1.trace")["calls"];
    REQUIRE(full.size() == reduced.size());
    for (const json& call : full) {
      const auto same = std::find_if(reduced.begin(), reduced.end(),
                                     [&](const json& other) { return other["path"] == call["path"]; });
      REQUIRE(same != reduced.end());
      CHECK((*same)["count"] == call["count"]);
      CHECK((*same)["bytes"] == call["bytes"]);
      for (const char* key : {"seconds", "inclusive_seconds"})
        CHECK((*same)[key].get<double>() == Approx(call[key].get<double>()).epsilon(0.01));
    }
  }
}

TEST_CASE("what was reduced, and how far times may be off, is said; odd ranks are as they were") {
  const Both both("absDiff:50000");
  CHECK(both.of({"trace", "info"}, "full-1.trace")["reduced"].is_null());
  const json info = both.of({"trace", "info"}, "reduced-1.trace"), r = info["reduced"];
  CHECK(r["method"] == "absDiff:50000");
  CHECK(r["of_windows"] == windows * ranks);
  CHECK(r["windows"] > windows * ranks / 2);
  CHECK(r["windows"] < windows * ranks);
  CHECK(r["rebuilt_steps"] > r["steps"].get<int>() / 2);
  // Stamps are within the threshold and the bound of the coder, 1 % of a gap, rounded up by at most a quarter.
  CHECK(r["largest_error_ns"] <= 100'000);
  CHECK(r["largest_error_ns"] > 10'000);
  CHECK(r["error90_ns"] <= r["largest_error_ns"]);
  std::size_t rebuilt = 0;
  for (const json& kept : info["kept"]) {
    rebuilt += kept["rebuilt"] == true ? 1 : 0;
    if (kept["window"] == odd_window && kept["rank"] == 1) CHECK(kept["rebuilt"] == false);
  }
  CHECK(rebuilt == r["windows"]);
  const std::string text = both.scratch.run({"trace", "info", "reduced-1.trace"}).out;
  CHECK(text.find("have the time stamps of similar steps (TRACE_REDUCE=absDiff:50000)") != std::string::npos);
}

TEST_CASE("an exported archive still says what was reduced, and gives the same estimates") {
  if (!otf2_available()) return;
  const Both both("Euclidean");
  const Outcome exported =
      both.scratch.run({"trace", "export", "reduced-1.trace", "--format", "otf2", "-o", "archive"});
  REQUIRE(exported.code == 0);
  CHECK(exported.err.find("TRACE_REDUCE=Euclidean") != std::string::npos);
  const json ours = both.of({"trace", "info"}, "reduced-1.trace"), theirs = both.of({"trace", "info"}, "archive");
  CHECK(theirs["reduced"] == ours["reduced"]);
  for (std::size_t i = 0; i < ours["calls"].size(); ++i)
    CHECK(theirs["calls"][i]["seconds"].get<double>() == Approx(ours["calls"][i]["seconds"].get<double>()));
}

TEST_CASE("the report marks windows that were reduced") {
  const Both both("relDiff");
  const Trace trace = read_trace((both.scratch / "reduced-1.trace").string());
  const TraceMessages messages = match_messages(trace);
  const CallEstimates calls = estimate_calls(trace);
  const json page = trace_for_page({trace, messages, calls}, std::size_t{1} << 20).json;
  std::size_t marked = 0;
  for (const json& window : page["windows"])
    for (const json& kept : window["kept"]) marked += kept[6] == 1 ? 1 : 0;
  CHECK(marked == trace.rebuilding().spans);
  CHECK(marked > windows * ranks / 2);
  CHECK(page["windows"][odd_window]["kept"][1][6] == 0);
  CHECK(page["trust"].dump().find("TRACE_REDUCE=relDiff)") != std::string::npos);
}
