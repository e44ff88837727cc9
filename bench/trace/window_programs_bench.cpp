// bench_window_programs [METHOD[:T] ...]
//
// TRACE_REDUCE on the programs of Mohror & Karavanic 2009 in simulated time: windows of ten iterations are coded and
// decoded as in a run, all of them reduced, and waits in the decoded trace are compared with the true ones.  Sizes are
// those of the chunks with their frames, relative to the same windows without reduction.  long_steps is a program with
// 20 exchanges in each step, on a machine on which times vary by 1 %.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/waits.hpp"
#include "analytics/reduction/reduction.hpp"
#include "analytics/reduction/window_reducer.hpp"
#include "analytics/trace/coder.hpp"
#include "tests/unit/analytics/communication/program.hpp"
#include "tests/unit/analytics/reduction/programs.hpp"

namespace {

using namespace effort;
using communication::Record;
using reduction::Method;

constexpr int window = 10, frame = 28;  // iterations; bytes around a coded chunk

struct Stamp {
  std::uint32_t call = 0;
  bool ends = false;
};

/// The events of one rank and window, and the call of each.
struct Chunk {
  trace::Place place;
  std::int64_t end_ns = 0;
  std::vector<trace::Event> events;
  std::vector<std::optional<Stamp>> stamps;
};

std::vector<Chunk> chunks_of(const Record& record) {
  std::vector<Chunk> out;
  for (const communication::Location& location : record.locations) {
    std::vector<std::uint32_t> open;
    int iterations = 0;
    std::size_t first = out.size();
    const auto add = [&](trace::Kind kind, std::uint32_t id, std::int64_t ns, std::optional<Stamp> stamp) {
      trace::Event e;
      e.kind = kind;
      e.id = id;
      e.time_ns = ns;
      out.back().events.push_back(e);
      out.back().stamps.push_back(stamp);
    };
    const auto leave = [&] {
      const communication::Call& call = record.calls[open.back()];
      add(trace::Kind::leave, call.region, call.end_ns, Stamp{open.back(), true});
      open.pop_back();
    };
    for (auto c = static_cast<std::uint32_t>(location.first_call); c < location.end_call; ++c) {
      const communication::Call& call = record.calls[c];
      while (!open.empty() && open.back() != call.parent) leave();
      const bool iteration = record.regions[call.region] == "iteration";
      if (out.size() == first || (iteration && iterations % window == 0)) {
        if (out.size() > first) out.back().end_ns = call.begin_ns;
        out.push_back({{location.rank, location.thread, iterations, call.begin_ns}, 0, {}, {}});
      }
      if (iteration) {
        add(trace::Kind::step, 0, call.begin_ns, std::nullopt);
        out.back().events.back().bytes = static_cast<std::uint64_t>(iterations++);
      }
      add(trace::Kind::enter, call.region, call.begin_ns, Stamp{c, false});
      open.push_back(c);
    }
    while (!open.empty()) leave();
    if (out.size() > first) out.back().end_ns = out.back().events.back().time_ns;
  }
  std::stable_sort(out.begin(), out.end(), [](const Chunk& a, const Chunk& b) {
    return a.place.first_step / window < b.place.first_step / window;
  });
  return out;
}

/// 8 ranks, of which the fourth computes for a fifth longer.
Record long_steps() {
  communication::test::Program p(8);
  std::mt19937_64 random(3);
  const auto around = [&](std::int64_t ns) {
    return ns + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ns / 50 + 1)) - ns / 100;
  };
  std::vector<std::int32_t> all;
  for (std::int32_t r = 0; r < p.ranks(); ++r) all.push_back(r);
  for (int step = 0; step < 300; ++step) {
    for (const std::int32_t r : all) p.enter(r, "iteration");
    for (int exchange = 0; exchange < 20; ++exchange) {
      std::vector<std::int64_t> sent;
      for (const std::int32_t r : all) {
        p.compute(r, around(r == 3 ? 48'000 : 40'000));
        p.start_receive(r, (r + 7) % 8);
        sent.push_back(p.now(r));
        p.start_send(r, (r + 1) % 8, 4096);
      }
      for (const std::int32_t r : all)
        p.wait_all(r, std::max<std::int64_t>(0, sent[static_cast<std::size_t>((r + 7) % 8)] - p.now(r)) + around(3000));
    }
    std::int64_t last = 0;
    for (const std::int32_t r : all) last = std::max(last, p.now(r));
    p.collective("MPI_Allreduce", communication::Operation::nxn, all, -1, last + around(5000));
    for (const std::int32_t r : all) p.leave(r);
  }
  return p.record();
}

struct Result {
  double bytes = 0;
  std::size_t segments = 0, rebuilt = 0;
  Record rebuilt_record;
};

Result run(const Record& record, const std::vector<Chunk>& chunks, const std::optional<Method>& method) {
  Result out;
  out.rebuilt_record = record;
  trace::Encoder encoder(trace::TimeBound::usual());
  trace::Decoder decoder;
  std::optional<reduction::WindowReducer> reducer;
  if (method) reducer.emplace(*method);
  std::vector<std::int64_t> errors;
  for (const Chunk& c : chunks) {
    reduction::WindowReducer::Plan plan;
    if (reducer) plan = reducer->plan(c.place, c.events, c.end_ns);
    std::vector<trace::Event> decoded;
    trace::Encoder::Reduced coded;
    const bool reduced = !plan.representatives.empty();
    if (reduced)
      coded = encoder.encode_reduced(c.place, c.events, c.end_ns, {plan.representatives, plan.added, plan.forgotten});
    else
      coded.coded = encoder.encode(c.place, c.events);
    if (!coded.coded.dictionary.empty()) decoder.add(coded.coded.dictionary);
    if (!coded.representatives.empty()) decoder.add_representatives(coded.representatives);
    for (const auto* bytes : {&coded.coded.dictionary, &coded.representatives, &coded.coded.events})
      out.bytes += bytes->empty() ? 0 : static_cast<double>(bytes->size() + frame);
    decoded = reduced ? decoder.decode_reduced(c.place, coded.coded.events).events
                      : decoder.decode(c.place, coded.coded.events);
    out.segments += static_cast<std::size_t>(
        std::count_if(c.events.begin(), c.events.end(), [](const auto& e) { return e.kind == trace::Kind::step; }));
    out.rebuilt += coded.rebuilt;
    errors.push_back(coded.error90_ns);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      if (!c.stamps[i]) continue;
      communication::Call& call = out.rebuilt_record.calls[c.stamps[i]->call];
      (c.stamps[i]->ends ? call.end_ns : call.begin_ns) = decoded[i].time_ns;
    }
  }
  std::sort(errors.begin(), errors.end());
  out.rebuilt_record.clock_error_ns += 2 * errors[(errors.size() - 1) * 9 / 10];
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Method> methods;
  for (int i = 1; i < argc; ++i)
    if (const auto m = reduction::method_from(argv[i])) methods.push_back(*m);
  for (std::size_t i = 0; i < reduction::n_similarities && argc == 1; ++i)
    if (const auto s = static_cast<reduction::Similarity>(i); reduction::decides_at_once(s))
      methods.push_back({s, reduction::default_threshold(s)});
  std::vector<double> size(methods.size(), 0);
  std::vector<int> retained(methods.size(), 0);
  std::vector<std::string> names = reduction::test::program_names();
  const auto of_the_paper = static_cast<double>(names.size());
  names.emplace_back("long_steps");
  for (const std::string& name : names) {
    const bool of_paper = name != "long_steps";
    const Record record = of_paper ? reduction::test::program(name) : long_steps();
    const std::vector<std::uint32_t> location_of = communication::call_tree(record).location_of;
    const auto waits = [&](const Record& r) {
      return communication::total_waits(r, communication::find_waits(r), location_of);
    };
    const communication::WaitTotals full = waits(record);
    const std::vector<Chunk> chunks = chunks_of(record);
    const double whole = run(record, chunks, std::nullopt).bytes;
    std::printf("%s: %.2f bytes a call\n", name.c_str(), whole / static_cast<double>(record.calls.size()));
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Result r = run(record, chunks, methods[m]);
      const auto wrong = reduction::violations(full, waits(r.rebuilt_record));
      std::printf("  %-16s %6.2f %% of the bytes, %6.2f %% of the iterations rebuilt, %s (%zu)\n",
                  reduction::method_text(methods[m]).c_str(), 100 * r.bytes / whole,
                  100 * static_cast<double>(r.rebuilt) / static_cast<double>(r.segments),
                  wrong.empty() ? "retained" : "LOST", wrong.size());
      if (!of_paper) continue;
      size[m] += r.bytes / whole;
      retained[m] += wrong.empty() ? 1 : 0;
    }
  }
  for (std::size_t m = 0; m < methods.size(); ++m)
    std::printf("%-16s retains %2d of %.0f, mean size %6.2f %%\n", reduction::method_text(methods[m]).c_str(),
                retained[m], of_the_paper, 100 * size[m] / of_the_paper);
  return 0;
}
