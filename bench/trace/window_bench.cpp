// bench_window_reduction NODE.trc [--write DIRECTORY] [METHOD[:T] ...]
//
// What TRACE_REDUCE would have done in a run that was traced without it: bytes and time of coding the file's chunks as
// they are, by each method, and with coarser time stamps instead (TRACE_TIME).  Bytes are those of the chunks with
// their frames, per MPI call; the last column is the error of 90 % of the stamps in nine of ten chunks.  With --write,
// the reduced files are written too, DIRECTORY/METHOD.trace, to be compared by `effort comm waits`.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analytics/reduction/window_reducer.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/trace/coder.hpp"
#include "record/trace/reader.hpp"
#include "record/trace/writer.hpp"

namespace {

using namespace effort;
namespace file = record::trace;

struct Chunk {
  file::EventsInfo info;
  const file::Window* window = nullptr;
  trace::Place place;
  std::vector<trace::Event> events;
  bool reducible = false;
};

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

std::vector<Chunk> chunks_of(const file::Reader& reader) {
  std::map<std::int64_t, bool> odd;
  for (const file::Window& w : reader.windows())
    for (const auto& r : w.ranks) odd[w.window] |= (r.reasons & (file::reason_rebalance | file::reason_jump)) != 0;
  std::vector<Chunk> out;
  for (const file::EventsInfo& info : reader.chunks()) {
    Chunk c{info, reader.window_of(info), {}, reader.events(info)};
    if (c.window == nullptr) continue;
    c.place = {info.rank, info.thread, c.window->first_step, c.window->start_ns};
    for (const auto& r : c.window->ranks)
      if (r.rank == info.rank) c.reducible = !odd[info.window] && sampling::stands_for_others(r.reasons);
    out.push_back(std::move(c));
  }
  return out;
}

struct Cost {
  double bytes = 0, ns = 0;
  std::size_t steps = 0, rebuilt = 0, reduced = 0, representatives = 0;
  std::vector<std::int64_t> errors;
};

Cost code(const file::Reader& reader, const std::vector<Chunk>& chunks, std::optional<reduction::Method> method,
          const std::filesystem::path& write_to) {
  Cost cost;
  trace::Encoder encoder(reader.header().bound);
  std::optional<reduction::WindowReducer> reducer;
  if (method) reducer.emplace(*method);
  std::optional<file::Writer> writer;
  if (!write_to.empty()) {
    file::Header header = reader.header();
    header.reduction = reduction::method_text(*method);
    writer.emplace(write_to / "node-00000.trc", header);
    writer->append(reader.names());
    writer->append(file::Modules{reader.modules()});
    for (const file::Window& w : reader.windows()) writer->append(w);
    for (const file::Clock& c : reader.clocks()) writer->append(c);
  }
  const auto append = [&](const auto& chunk) {
    const std::vector<std::byte> bytes = file::encode(chunk);
    cost.bytes += static_cast<double>(bytes.size());
    if (writer) writer->append(bytes);
  };
  for (const Chunk& c : chunks) {
    const double begin = cpu_ns();
    reduction::WindowReducer::Plan plan;
    if (reducer && c.reducible) plan = reducer->plan(c.place, c.events, c.window->end_ns);
    trace::Encoder::Reduced out;
    const bool reduced = !plan.representatives.empty();
    if (reduced)
      out = encoder.encode_reduced(c.place, c.events, c.window->end_ns,
                                   {plan.representatives, plan.added, plan.forgotten});
    else
      out.coded = encoder.encode(c.place, c.events);
    cost.ns += cpu_ns() - begin;
    cost.steps += plan.representatives.size();
    cost.rebuilt += out.rebuilt;
    cost.reduced += reduced ? 1 : 0;
    if (out.rebuilt > 0) cost.errors.push_back(out.error90_ns);
    if (!out.coded.dictionary.empty()) append(file::Dictionary{c.info.node, std::move(out.coded.dictionary)});
    if (!out.representatives.empty()) append(file::Representatives{c.info.node, std::move(out.representatives)});
    append(file::Events{c.info.node, c.info.window, c.info.rank, c.info.thread, c.events.size(),
                        std::move(out.coded.events), reduced});
  }
  return cost;
}

/// The file with another bound of time stamps.
Cost code_coarser(const std::vector<Chunk>& chunks, trace::TimeBound bound) {
  Cost cost;
  trace::Encoder encoder(bound);
  trace::Decoder decoder;
  for (const Chunk& c : chunks) {
    const double begin = cpu_ns();
    trace::Encoder::Coded coded = encoder.encode(c.place, c.events);
    cost.ns += cpu_ns() - begin;
    if (!coded.dictionary.empty()) decoder.add(coded.dictionary);
    const std::vector<trace::Event> decoded = decoder.decode(c.place, coded.events);
    std::vector<std::int64_t> errors;
    for (std::size_t i = 0; i < decoded.size(); ++i)
      errors.push_back(std::abs(decoded[i].time_ns - c.events[i].time_ns));
    std::sort(errors.begin(), errors.end());
    cost.errors.push_back(errors[(errors.size() - 1) * 9 / 10]);
    if (!coded.dictionary.empty())
      cost.bytes +=
          static_cast<double>(file::encode(file::Dictionary{c.info.node, std::move(coded.dictionary)}).size());
    cost.bytes += static_cast<double>(file::encode(file::Events{c.info.node, c.info.window, c.info.rank, c.info.thread,
                                                                c.events.size(), std::move(coded.events)})
                                          .size());
  }
  return cost;
}

double at_90(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return static_cast<double>(values[(values.size() - 1) * 9 / 10]);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<reduction::Method> methods;
  std::filesystem::path path, directory;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--write" && i + 1 < argc)
      directory = argv[++i];
    else if (const auto method = reduction::method_from(text); method && reduction::decides_at_once(method->similarity))
      methods.push_back(*method);
    else
      path = text;
  }
  if (methods.empty())
    for (std::size_t i = 0; i < reduction::n_similarities; ++i) {
      const auto s = static_cast<reduction::Similarity>(i);
      if (reduction::decides_at_once(s)) methods.push_back({s, reduction::default_threshold(s)});
    }
  try {
    const file::Reader reader(path);
    const std::vector<Chunk> chunks = chunks_of(reader);
    double calls = 0, events = 0;
    std::map<std::uint32_t, bool> mpi;
    for (const auto& region : reader.names().regions) mpi[region.id] = region.name.starts_with("MPI_");
    std::size_t reducible = 0;
    for (const Chunk& c : chunks) {
      events += static_cast<double>(c.events.size());
      reducible += c.reducible ? 1 : 0;
      for (const auto& e : c.events) calls += e.kind == trace::Kind::enter && mpi[e.id] ? 1 : 0;
    }
    std::printf("%s: %.0f MPI calls, %.0f events in %zu chunks, of which %zu may be reduced\n", path.c_str(), calls,
                events, chunks.size(), reducible);
    std::printf("%-16s %10s %7s %9s %9s %9s %9s\n", "method", "bytes/call", "share", "ns/event", "reduced", "rebuilt",
                "90% us");
    std::vector<std::vector<double>> ns(methods.size() + 1);
    std::vector<Cost> costs(methods.size() + 1);
    constexpr int rounds = 5;
    for (int r = 0; r < rounds; ++r)
      for (std::size_t m = 0; m <= methods.size(); ++m) {
        const bool write = r == 0 && m > 0 && !directory.empty();
        costs[m] = code(reader, chunks, m == 0 ? std::nullopt : std::optional(methods[m - 1]),
                        write ? directory / (reduction::method_text(methods[m - 1]) + ".trace") : "");
        ns[m].push_back(costs[m].ns / events);
      }
    for (const trace::TimeBound bound :
         {trace::TimeBound{20'000, 1000}, {100'000, 10'000}, {250'000, 100'000}, {500'000, 1'000'000}}) {
      const Cost c = code_coarser(chunks, bound);
      std::printf("%2u%%,%uns%*s %10.3f %6.1f%% %9.1f %9s %9s %9.2f\n", bound.relative_ppm / 10'000, bound.absolute_ns,
                  bound.absolute_ns < 100'000 ? 5 : 3, "", c.bytes / calls, 100 * c.bytes / costs[0].bytes,
                  c.ns / events, "", "", at_90(c.errors) / 1000);
    }
    for (std::size_t m = 0; m <= methods.size(); ++m) {
      std::sort(ns[m].begin(), ns[m].end());
      const Cost& c = costs[m];
      std::printf("%-16s %10.3f %6.1f%% %9.1f %8.1f%% %8.1f%% %9.2f\n",
                  m == 0 ? "off" : reduction::method_text(methods[m - 1]).c_str(), c.bytes / calls,
                  100 * c.bytes / costs[0].bytes, ns[m][rounds / 2],
                  100.0 * static_cast<double>(c.reduced) / static_cast<double>(chunks.size()),
                  c.steps == 0 ? 0 : 100.0 * static_cast<double>(c.rebuilt) / static_cast<double>(c.steps),
                  at_90(c.errors) / 1000);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_window_reduction: %s\n", e.what());
    return 1;
  }
  return 0;
}
