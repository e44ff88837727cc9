// effort comm waits, pairs and matrix, as a user runs them.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

#include "../command.hpp"
#include "../trace/traces.hpp"

using namespace effort::tools;
using namespace effort::tools::test;
using Catch::Approx;
using effort::trace::Kind;
using nlohmann::json;
namespace why = effort::record::trace;

namespace {

/// A program in simulated time: in each of its steps, the last rank computes longer, all send to their neighbours, and
/// there are collectives with a late rank.
struct Planted {
  static constexpr std::int32_t ranks = 5;
  static constexpr std::int64_t ms = 1'000'000;
  Trace trace = empty_trace(ranks);
  std::int64_t late_sender = 0, late_receiver = 0, barrier = 0, nxn = 0, reduce = 0, broadcast = 0, scan = 0;

  explicit Planted(bool anything) {
    std::vector<std::uint32_t> calls;
    for (const char* const name : {"MPI_Recv", "MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Scan", "MPI_Gather"}) {
      trace.regions.push_back({name, 1});
      calls.push_back(static_cast<std::uint32_t>(trace.regions.size() - 1));
    }
    trace.bound = effort::trace::TimeBound::exact();
    std::mt19937_64 random(5);
    for (std::int64_t step = 0; step < 20; ++step) {
      const std::int64_t start = 1000 * ms * step;
      add_window(trace, step, start, start + 1000 * ms);
      std::vector<Events> events(ranks, Events(start));
      const auto late = [&] { return anything ? static_cast<std::int64_t>(1 + random() % 40) * ms : 0; };
      for (Events& e : events) e.step(static_cast<std::uint64_t>(step));
      std::int64_t now = start + ms;
      exchange(events, now, late(), calls[0]);
      held_up(events, now += 100 * ms, late(), calls[0]);
      for (std::size_t c = 1; c < calls.size(); ++c) collective(events, now += 100 * ms, late(), calls[c]);
      for (std::int32_t rank = 0; rank < ranks; ++rank)
        keep(trace, rank, why::reason_pin, 0, -1, events[static_cast<std::size_t>(rank)]);
    }
  }

  /// Rank 4 sends to all others, late.
  void exchange(std::vector<Events>& events, std::int64_t now, std::int64_t late, std::uint32_t recv) {
    Events& sender = events[4];
    sender.at(now).enter(region_solve).at(now + late).leave(region_solve);
    for (std::int32_t to = 0; to < 4; ++to) {
      sender.enter(region_send).message(Kind::send, to, 1, 1000).wait(100).leave(region_send);
      Events& receiver = events[static_cast<std::size_t>(to)];
      receiver.at(now + 100 * to).enter(recv).at(now + late + 100 * to + 50).leave(recv);
      receiver.message(Kind::receive, 4, 1, 1000);
      late_sender += late;
    }
  }

  /// Rank 0 cannot send before rank 1 receives.
  void held_up(std::vector<Events>& events, std::int64_t now, std::int64_t late, std::uint32_t recv) {
    events[0].at(now).enter(region_send).message(Kind::send, 1, 2, std::uint64_t{1} << 31);
    events[0].at(now + late + 5000).leave(region_send);
    events[1].at(now).enter(region_solve).at(now + late).leave(region_solve);
    events[1].enter(recv).wait(6000).leave(recv).message(Kind::receive, 0, 2, std::uint64_t{1} << 31);
    late_receiver += late;
  }

  /// Rank 2 is late; rank 0 gathers, rank 2 broadcasts.
  void collective(std::vector<Events>& events, std::int64_t now, std::int64_t late, std::uint32_t call) {
    const std::string& name = trace.regions[call].name;
    const bool bcast = name == "MPI_Bcast", gather = name == "MPI_Gather", scan_call = name == "MPI_Scan";
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const bool waits = rank != 2 && (gather ? rank == 0 : scan_call ? rank > 2 : true);
      Events& e = events[static_cast<std::size_t>(rank)];
      e.at(now).enter(region_solve).at(now + (rank == 2 ? late : 0)).leave(region_solve);
      e.enter(call).collective(bcast ? 2 : gather ? 0 : -1, 8, 8).at(now + (waits || rank == 2 ? late : 0) + 200);
      e.leave(call);
      if (!waits) continue;
      (name == "MPI_Barrier"     ? barrier
       : name == "MPI_Allreduce" ? nxn
       : bcast                   ? broadcast
       : gather                  ? reduce
                                 : scan) += late;
    }
  }
};

std::int64_t sum(const json& totals, const std::string& cause) {
  std::int64_t out = 0;
  for (const json& ns : totals[cause]) out += ns.get<std::int64_t>();
  return out;
}

}  // namespace

TEST_CASE("planted waits are found, and no others") {
  for (const bool anything : {true, false}) {
    const Scratch scratch;
    const Planted planted(anything);
    write_files(planted.trace, scratch / "run-17.trace");
    const json waits = scratch.run({"comm", "waits", "--json", "run-17.trace"}).json();
    const json& totals = waits["totals_ns"];
    CHECK(sum(totals, "late_sender") == planted.late_sender);
    CHECK(sum(totals, "late_receiver") == planted.late_receiver);
    CHECK(sum(totals, "barrier") == planted.barrier);
    CHECK(sum(totals, "nxn") == planted.nxn);
    CHECK(sum(totals, "early_reduce") == planted.reduce);
    CHECK(sum(totals, "late_broadcast") == planted.broadcast);
    CHECK(sum(totals, "early_scan") == planted.scan);
    CHECK(totals["late_receiver"].size() == Planted::ranks);
    CHECK(totals["late_receiver"][0] == planted.late_receiver);
    CHECK(waits["unmatched"] == 0);
    if (!anything) {
      CHECK(scratch.run({"comm", "waits", "run-17.trace"}).out.starts_with("No rank waited for another one."));
      continue;
    }
    // Rank 2 made them wait at collectives, rank 4 for messages.
    REQUIRE(waits["waited_for"].size() >= 2);
    CHECK(waits["waited_for"][0]["rank"] == 2);
    CHECK(waits["waited_for"][0]["region"] == "solve");
    CHECK(waits["waited_for"][1]["rank"] == 4);
    CHECK(waits["critical_path"][0]["region"].is_string());
    double path = 0;
    for (const json& part : waits["critical_path"]) path += part["seconds"].get<double>();
    CHECK(path == Approx(waits["critical_path_seconds"].get<double>()));
    const std::string text = scratch.run({"comm", "waits", "run-17.trace"}).out;
    CHECK(text.starts_with("Rank 2 made the others wait "));
    INFO(text);
    CHECK(text.find("in `solve`; rank 4 made the others wait ") != std::string::npos);
  }
}

TEST_CASE("waits window by window, and of some windows only") {
  const Scratch scratch;
  const Planted planted(true);
  write_files(planted.trace, scratch / "run-17.trace");
  const json all = scratch.run({"comm", "waits", "--json", "run-17.trace"}).json();
  REQUIRE(all["windows"].size() == 20);
  double waited = 0;
  std::size_t named = 0;
  for (std::size_t w = 0; w < 20; ++w) {
    const json& window = all["windows"][w];
    CHECK(window["first"] == w);
    CHECK(window["last"] == w);
    waited += window["seconds"].get<double>();
    named += window["rank"] == 2 && window["region"] == "solve" ? 1 : 0;
  }
  double total = 0;
  for (const auto& [cause, ranks] : all["totals_ns"].items())
    for (const json& ns : ranks) total += 1e-9 * ns.get<double>();
  CHECK(waited == Approx(total));
  const std::string text = scratch.run({"comm", "waits", "--all", "run-17.trace"}).out;
  INFO(text);
  CHECK(text.find("Of the 20 windows in which ranks waited, it was rank 2 most in " + std::to_string(named) + ",") !=
        std::string::npos);
  CHECK(text.find("The rank that made others wait most in each window") != std::string::npos);

  // The parts of some windows add up to the whole.
  const json first = scratch.run({"comm", "waits", "--json", "--steps", "0-6", "run-17.trace"}).json(),
             second = scratch.run({"comm", "waits", "--json", "--steps", "7-99", "run-17.trace"}).json();
  CHECK(first["windows"].size() == 7);
  CHECK(first["windows"][3] == all["windows"][3]);
  CHECK(second["windows"][0] == all["windows"][7]);
  for (const auto& [cause, ranks] : all["totals_ns"].items())
    CHECK(sum(first["totals_ns"], cause) + sum(second["totals_ns"], cause) == sum(all["totals_ns"], cause));
  CHECK(first["unexplained_seconds"].get<double>() + second["unexplained_seconds"].get<double>() ==
        Approx(all["unexplained_seconds"].get<double>()).margin(1e-12));
  // Between the last call of step 6 and the next window, of 1 s, nothing is on the path of the first part.
  const double parts = first["critical_path_seconds"].get<double>() + second["critical_path_seconds"].get<double>(),
               whole = all["critical_path_seconds"].get<double>();
  CHECK(parts <= whole);
  CHECK(parts > whole - 1);
  const json one = scratch.run({"comm", "waits", "--json", "--steps", "4", "run-17.trace"}).json();
  REQUIRE(one["windows"].size() == 1);
  CHECK(one["waited_for"][0]["rank"] == one["windows"][0]["rank"]);
  CHECK(one["waited_for"][0]["delay_seconds"] == one["windows"][0]["delay_seconds"]);

  const Outcome nowhere = scratch.run({"comm", "waits", "--steps", "20-29", "run-17.trace"});
  CHECK(nowhere.code == 1);
  CHECK(nowhere.err.find("its steps are 0 to 19") != std::string::npos);
  for (const std::string bad : {"x", "3-2", "-1", "1-", "1-2-3", "1 2"})
    CHECK(scratch.run({"comm", "waits", "--steps=" + bad, "run-17.trace"}).code == 2);
}

TEST_CASE("the archive of a trace has the waits of the trace") {
  const Scratch scratch;
  write_files(Planted(true).trace, scratch / "run-17.trace");
  write_files(small_trace(false), scratch / "small-17.trace");
  for (const std::string name : {"run", "small"}) {
    const Outcome exported =
        scratch.run({"trace", "export", name + "-17.trace", "--format", "otf2", "-o", name + "-otf2"});
    if (exported.err.find("built without") != std::string::npos) SKIP("effort was built without OTF2");
    REQUIRE(exported.code == 0);
    const json own = scratch.run({"comm", "waits", "--json", name + "-17.trace"}).json();
    const json archive = scratch.run({"comm", "waits", "--json", name + "-otf2"}).json();
    CHECK(own["totals_ns"] == archive["totals_ns"]);
    CHECK(own["waited_for"] == archive["waited_for"]);
    CHECK(scratch.run({"comm", "pairs", "--json", name + "-17.trace"}).json() ==
          scratch.run({"comm", "pairs", "--json", name + "-otf2"}).json());
  }
}

TEST_CASE("pairs, their dendrogram, and the details of one") {
  const Scratch scratch;
  write_files(Planted(true).trace, scratch / "run-17.trace");
  const json average = scratch.run({"comm", "pairs", "--json", "run-17.trace"}).json();
  REQUIRE(average["pairs"].size() == 5);
  const json& first = average["pairs"][0];
  CHECK(first["a"] == 0);
  CHECK(first["b"] == 1);
  CHECK(first["messages"] == 20);
  CHECK(first["bytes"] == 20 * (std::uint64_t{1} << 31));
  CHECK(first["same_node"] == true);
  CHECK(average["pairs"][1]["b"] == 4);
  CHECK(average["pairs"][1]["same_node"] == false);
  CHECK(average["pairs"][1]["time_ns"] == 20 * 50);
  REQUIRE(average["linkage"].size() == 4);
  CHECK(average["linkage"][0][0] == 0);
  CHECK(average["linkage"][0][1] == 1);
  CHECK(average["linkage"][0][2].get<double>() == Approx(1.0 / first["time_ns"].get<double>()));
  CHECK(average["linkage"][3][3] == 5);
  const json single = scratch.run({"comm", "pairs", "--linkage", "single", "--json", "run-17.trace"}).json();
  CHECK(single["linkage"] != average["linkage"]);
  CHECK(scratch.run({"comm", "pairs", "run-17.trace"}).out.starts_with("Ranks 0 and 1 spent the most time on each"));

  const json pair = scratch.run({"comm", "pairs", "--pair", "1,0", "--json", "run-17.trace"}).json();
  CHECK(pair["messages"].size() == 20);
  CHECK(pair["messages"][0]["sender"] == 0);
  CHECK(pair["fit"]["ns_per_byte"].is_null());
  CHECK(scratch.run({"comm", "pairs", "--pair", "1,0", "run-17.trace"}).out.starts_with("Ranks 1 and 0 exchanged 20"));
  CHECK(scratch.run({"comm", "pairs", "--pair", "2,3", "run-17.trace"}).out.find("no message") != std::string::npos);
  for (const std::string bad : {"0,5", "-1,0", "0", "0,1,2"}) {
    const Outcome refused = scratch.run({"comm", "pairs", "--pair=" + bad, "run-17.trace"});
    CHECK(refused.code == 2);
  }
}

TEST_CASE("the matrix of a trace") {
  const Scratch scratch;
  write_files(Planted(true).trace, scratch / "run-17.trace");
  const json matrix = scratch.run({"comm", "matrix", "--json", "run-17.trace"}).json()["matrix"];
  double messages = 0, bytes = 0;
  for (const json& flow : matrix) {
    messages += flow["messages"].get<double>();
    bytes += flow["bytes"].get<double>();
    if (flow["messages"] > 0) CHECK(flow["path"] == "MPI_Send");
    if (flow["messages"] > 0) CHECK(flow["a"] == (flow["bytes"] > 1e6 ? 0 : 4));
  }
  CHECK(messages == 100);
  CHECK(bytes == 20.0 * (4 * 1000 + static_cast<double>(std::uint64_t{1} << 31)));
  CHECK(scratch.run({"comm", "matrix", "run-17.trace"}).out.starts_with("100 messages with "));
}

TEST_CASE("a trace of few ranks names the unknown waits") {
  const Scratch scratch;
  write_files(small_trace(false), scratch / "run-17.trace");
  const json waits = scratch.run({"comm", "waits", "--json", "run-17.trace"}).json();
  CHECK(waits["unmatched"] == 2);
  CHECK(waits["lower_bounds"] == 2);
  const std::string text = scratch.run({"comm", "waits", "run-17.trace"}).out;
  CHECK(text.find("2 sends and 0 receives lack their other end") != std::string::npos);
  CHECK(text.find("ranks are missing in 2 collectives") != std::string::npos);
  // An empty one, and one of a single rank.
  Trace empty = empty_trace(2);
  add_window(empty, 0, 0, 1000);
  write_files(empty, scratch / "empty-17.trace");
  const Outcome nothing = scratch.run({"comm", "waits", "empty-17.trace"});
  CHECK(nothing.code == 0);
  CHECK(nothing.out.starts_with("There are no calls in the trace"));
  CHECK(scratch.run({"comm", "pairs", "empty-17.trace"}).out == "No two ranks exchanged a message.\n");
  CHECK(scratch.run({"comm", "matrix", "empty-17.trace"}).out == "No rank sent a message.\n");
  CHECK(scratch.run({"comm", "waits", "no-such.trace"}).code == 1);
}

TEST_CASE("messages to oneself, to ranks outside of the world, and truncated ones") {
  const Scratch scratch;
  Trace trace = empty_trace(2);
  add_window(trace, 0, 0, 1'000'000);
  Events first(0), second(0);
  first.step(0).at(1000).enter(region_send).message(Kind::send, 0, 1, 100).wait(100).leave(region_send);
  first.enter(region_receive).wait(100).leave(region_receive).message(Kind::receive, 0, 1, 100);
  first.enter(region_send).message(Kind::send, 9, 1, 100).wait(100).leave(region_send);
  first.at(5000).enter(region_send).message(Kind::send, 1, 2, 100).wait(100).leave(region_send);
  second.step(0).at(2000).enter(region_receive).at(6000).leave(region_receive).message(Kind::receive, 0, 2, 60);
  keep(trace, 0, effort::record::trace::reason_pin, 0, -1, first);
  keep(trace, 1, effort::record::trace::reason_pin, 0, -1, second);
  write_files(trace, scratch / "run-17.trace");
  const json waits = scratch.run({"comm", "waits", "--json", "run-17.trace"}).json();
  CHECK(waits["unmatched"] == 1);
  CHECK(sum(waits["totals_ns"], "late_sender") == 3000);
  const json pairs = scratch.run({"comm", "pairs", "--json", "run-17.trace"}).json()["pairs"];
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0]["messages"] == 1);
  CHECK(pairs[0]["bytes"] == 60);  // that arrived
  for (const std::string what : {"waits", "pairs", "matrix", "patterns", "phases"}) {
    const Outcome outcome = scratch.run({"comm", what, "run-17.trace"});
    INFO(what << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  }
}
