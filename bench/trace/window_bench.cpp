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
    Chunk c{info, reader.window_of(info), {}, reader.rebuilt(info).events};
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

/// One way to store the file.
struct Way {
  std::string name;
  std::optional<reduction::Method> method{};
  trace::TimeBound bound;
};

std::int64_t error_of_90_percent(const std::vector<trace::Event>& truth, const std::vector<trace::Event>& decoded) {
  std::vector<std::int64_t> errors;
  for (std::size_t i = 0; i < decoded.size(); ++i) errors.push_back(std::abs(decoded[i].time_ns - truth[i].time_ns));
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? 0 : errors[(errors.size() - 1) * 9 / 10];
}

Cost code(const file::Reader& reader, const std::vector<Chunk>& chunks, const Way& way,
          const std::filesystem::path& write_to) {
  const std::optional<reduction::Method>& method = way.method;
  Cost cost;
  trace::Encoder encoder(way.bound);
  trace::Decoder decoder;
  std::optional<reduction::WindowReducer> reducer;
  if (method) reducer.emplace(*method);
  std::optional<file::Writer> writer;
  if (!write_to.empty()) {
    file::Header header = reader.header();
    header.bound = way.bound;
    if (method) header.reduction = reduction::method_text(*method);
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
    if (!out.coded.dictionary.empty()) decoder.add(out.coded.dictionary);
    if (!out.representatives.empty()) decoder.add_representatives(out.representatives);
    if (out.rebuilt > 0)
      cost.errors.push_back(out.error90_ns);
    else if (!method)
      cost.errors.push_back(error_of_90_percent(c.events, decoder.decode(c.place, out.coded.events)));
    if (!out.coded.dictionary.empty()) append(file::Dictionary{c.info.node, std::move(out.coded.dictionary)});
    if (!out.representatives.empty()) append(file::Representatives{c.info.node, std::move(out.representatives)});
    append(file::Events{c.info.node, c.info.window, c.info.rank, c.info.thread, c.events.size(),
                        std::move(out.coded.events), reduced});
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
    std::vector<Way> ways = {{"off", std::nullopt, reader.header().bound}};
    for (const trace::TimeBound bound :
         {trace::TimeBound{20'000, 1000}, {100'000, 10'000}, {250'000, 100'000}, {500'000, 1'000'000}})
      ways.push_back({std::to_string(bound.relative_ppm / 10'000) + "%," + std::to_string(bound.absolute_ns) + "ns",
                      std::nullopt, bound});
    for (const reduction::Method& m : methods) ways.push_back({reduction::method_text(m), m, reader.header().bound});
    std::vector<std::vector<double>> ns(ways.size());
    std::vector<Cost> costs(ways.size());
    constexpr int rounds = 5;
    for (int r = 0; r < rounds; ++r)
      for (std::size_t w = 0; w < ways.size(); ++w) {
        const bool write = r == 0 && w > 0 && !directory.empty();
        costs[w] = code(reader, chunks, ways[w], write ? directory / (ways[w].name + ".trace") : "");
        ns[w].push_back(costs[w].ns / events);
      }
    for (std::size_t w = 0; w < ways.size(); ++w) {
      std::sort(ns[w].begin(), ns[w].end());
      const Cost& c = costs[w];
      std::printf("%-16s %10.3f %6.1f%% %9.1f %8.1f%% %8.1f%% %9.2f\n", ways[w].name.c_str(), c.bytes / calls,
                  100 * c.bytes / costs[0].bytes, ns[w][rounds / 2],
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
