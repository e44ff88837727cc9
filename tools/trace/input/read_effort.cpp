// Reads the files of an effort trace, one per node or group of nodes, into one trace.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "record/reader.hpp"
#include "record/trace/reader.hpp"
#include "tools/files/inputs.hpp"
#include "tools/trace/input/clocks.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/trace/input/trace_notes.hpp"
#include "tools/trace/model/ids.hpp"

namespace effort::tools {

namespace fs = std::filesystem;
namespace file = record::trace;

namespace {

using Chunk = std::pair<const file::Reader*, const file::EventsInfo*>;

/// Combines the files.
class Assembly {
 public:
  explicit Assembly(const std::string& path) { trace_.path = path; }

  Trace run() {
    open();
    take_header();
    for (const file::Reader& reader : readers_) take_contents(reader);
    take_windows();
    take_events();
    find_lost();
    note_missing();
    return std::move(trace_);
  }

 private:
  void open();
  void take_header();
  void take_contents(const file::Reader& reader);
  void take_ends(const file::Reader& reader);
  void take_names(const file::Names& names);
  void take_windows();
  std::size_t window_of(std::int64_t ordinal);
  void merge(const file::Window& window);
  void take_events();
  void take_chunk(TraceThread& thread, const Chunk& chunk);
  void translate(TraceEvent& event, std::int32_t node);
  void place(TraceThread& thread, const Chunk& chunk, trace::Rebuilt rebuilt);
  void find_lost();
  void note_missing();

  Trace trace_;
  std::vector<file::Reader> readers_;
  std::map<std::int64_t, std::size_t> window_at_;
  /// Windows and ranks of which at first only the messages with kept ranks were written, and everything later.
  std::set<std::pair<std::int64_t, std::int32_t>> completed_;
  std::set<std::int32_t> nodes_there_;
  NodeClocks clocks_;
  Ids<TraceRegion> regions_{trace_.regions, "region"};
  Ids<TraceCommunicator> communicators_{trace_.communicators, "communicator"};
  Ids<std::string> phases_{trace_.phases, "phase"}, units_{trace_.units, "unit"};
  std::size_t undescribed_ = 0;
};

void Assembly::open() {
  std::vector<fs::path> files = {trace_.path};
  if (fs::is_directory(trace_.path)) {
    files.clear();
    for (const fs::directory_entry& entry : fs::directory_iterator(trace_.path))
      if (entry.path().extension() == ".trc") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  }
  std::exception_ptr first;
  for (const fs::path& path : files) {
    count_as_input(path);
    try {
      readers_.emplace_back(path);
    } catch (const std::exception& e) {
      if (!first) first = std::current_exception();
      trace_.notes.push_back(std::string(e.what()) + "; the nodes of this file are missing");
      ++trace_.damaged_chunks;
    }
  }
  if (readers_.empty()) std::rethrow_exception(first);
}

void Assembly::take_header() {
  const file::Header& header = readers_[0].header();
  trace_.recorder = "effort " + header.library;
  trace_.name = header.name;
  trace_.job = header.job;
  trace_.design = header.design;
  trace_.guide = header.guide;
  trace_.reduction = header.reduction;
  trace_.started_unix_ns = header.started_unix_ns;
  trace_.n_ranks = header.n_ranks;
  trace_.n_nodes = header.n_nodes;
  trace_.confidence = header.confidence;
  trace_.error = header.error;
  trace_.bound = header.bound;
}

void Assembly::take_contents(const file::Reader& reader) {
  const file::Header& header = reader.header();
  if (header.job != trace_.job || header.n_ranks != trace_.n_ranks)
    throw std::runtime_error("'" + reader.name() + "' belongs to job '" + header.job + "' with " +
                             count_text(static_cast<std::uint64_t>(header.n_ranks), "rank") + ", but '" +
                             readers_[0].name() + "' to job '" + trace_.job + "' with " +
                             count_text(static_cast<std::uint64_t>(trace_.n_ranks), "rank") +
                             ": a trace's directory must hold the files of one run");
  for (const file::Header::Node& node : header.nodes) {
    bool is_new = nodes_there_.insert(node.node).second;
    for (const std::int32_t rank : node.ranks) is_new &= trace_.node_of.emplace(rank, node.node).second;
    if (!is_new)
      throw std::runtime_error("'" + reader.name() + "' holds node " + std::to_string(node.node) +
                               " or ranks of it, as another file does: keep only one copy of each file of a trace");
  }
  take_names(reader.names());
  for (const auto& module : reader.modules()) {
    const auto same = [&](const record::Module& known) { return known.name == module.name; };
    if (std::none_of(trace_.modules.begin(), trace_.modules.end(), same))
      trace_.modules.push_back({module.name, module.path, module.build_id});
  }
  for (const file::Clock& clock : reader.clocks()) clocks_.add(clock);
  if (reader.has_ends()) take_ends(reader);
  for (const file::Problem& problem : reader.problems()) trace_.notes.push_back(problem.text);
  trace_.damaged_chunks += reader.problems().size();
  trace_.bytes += reader.size();
}

void Assembly::take_ends(const file::Reader& reader) {
  std::set<std::int32_t> ended;
  for (const file::End& end : reader.ends()) {
    ended.insert(end.node);
    trace_.steps = std::max(trace_.steps, end.steps);
  }
  std::map<std::int32_t, std::int64_t> last;  // step, by node
  for (const file::Window& window : reader.windows()) {
    const auto [at, fresh] = last.emplace(window.node, window.last_step);
    at->second = std::max(at->second, window.last_step);
  }
  if (!trace_.without_end) trace_.without_end.emplace();
  for (const file::Header::Node& node : reader.header().nodes)
    if (ended.count(node.node) == 0)
      trace_.without_end->push_back({node.node, last.count(node.node) > 0 ? last.at(node.node) : -1});
}

void Assembly::take_names(const file::Names& names) {
  for (const auto& region : names.regions) regions_.define(region.id, {region.name, region.kind, -1, false});
  // Parents by index, once all ids are known.
  for (const auto& region : names.regions)
    if (region.parent >= 0)
      trace_.regions[regions_.index(region.id)].parent = regions_.index(static_cast<std::uint32_t>(region.parent));
  for (const auto& phase : names.phases) phases_.define(phase.id, phase.name);
  for (const auto& unit : names.units) units_.define(unit.id, unit.name);
  for (const auto& communicator : names.communicators)
    communicators_.define(communicator.id, {communicator.name, communicator.members, communicator.remote,
                                            communicator.members.empty() && communicator.name == "MPI_COMM_SELF"});
}

std::size_t Assembly::window_of(std::int64_t ordinal) {
  const auto [at, fresh] = window_at_.emplace(ordinal, trace_.windows.size());
  if (fresh) {
    trace_.windows.emplace_back();
    trace_.windows.back().ordinal = ordinal;
    trace_.windows.back().first_step = -1;
  }
  return at->second;
}

void Assembly::merge(const file::Window& window) {
  TraceWindow& out = trace_.windows[window_of(window.window)];
  const std::int64_t start = clocks_.on_node_0(window.node, window.start_ns);
  const std::int64_t end = clocks_.on_node_0(window.node, window.end_ns);
  const bool first = out.first_step < 0;
  out.first_step = window.first_step;
  out.last_step = window.last_step;
  out.start_ns = first ? start : std::min(out.start_ns, start);
  out.end_ns = first ? end : std::max(out.end_ns, end);
  out.error = std::max(out.error, window.error);
  out.confidence = out.confidence < 0 ? window.confidence : std::min(out.confidence, window.confidence);
  if (out.strata.empty()) out.strata = window.strata;
  if (window.region_sums && !out.region_seconds) {
    out.region_seconds.emplace();
    const bool counted = std::none_of(window.region_sums->begin(), window.region_sums->end(),
                                      [](const auto& sum) { return sum.calls < 0; });
    if (counted) out.region_calls.emplace();
    for (const auto& sum : *window.region_sums) {
      const auto region = regions_.find(sum.region);
      if (!region) continue;
      if (sum.ns > 0) out.region_seconds->emplace(*region, 1e-9 * static_cast<double>(sum.ns));
      if (counted && sum.calls > 0) out.region_calls->emplace(*region, static_cast<double>(sum.calls));
    }
  }
  for (const file::Window::Rank& rank : window.ranks) {
    KeptRank kept{rank.rank, rank.reasons, rank.probability, rank.stratum, rank.dropped_steps, rank.dropped_events};
    if (KeptRank* const known = out.find(rank.rank)) {
      if (!known->partner_only() || kept.partner_only()) continue;
      *known = kept;
      completed_.insert({window.window, rank.rank});
      continue;
    }
    const auto at = std::upper_bound(out.ranks.begin(), out.ranks.end(), kept,
                                     [](const KeptRank& a, const KeptRank& b) { return a.rank < b.rank; });
    out.ranks.insert(at, kept);
  }
}

void Assembly::take_windows() {
  for (const file::Reader& reader : readers_) {
    for (const file::Window& window : reader.windows()) merge(window);
    for (const file::EventsInfo& chunk : reader.chunks()) {
      if (reader.window_of(chunk) != nullptr) continue;
      ++undescribed_;
      TraceWindow& window = trace_.windows[window_of(chunk.window)];
      if (window.find(chunk.rank) != nullptr) continue;
      const KeptRank kept{chunk.rank};
      const auto at = std::upper_bound(window.ranks.begin(), window.ranks.end(), kept,
                                       [](const KeptRank& a, const KeptRank& b) { return a.rank < b.rank; });
      window.ranks.insert(at, kept);
    }
  }
  std::sort(trace_.windows.begin(), trace_.windows.end(),
            [](const TraceWindow& a, const TraceWindow& b) { return a.ordinal < b.ordinal; });
  for (std::size_t i = 0; i < trace_.windows.size(); ++i) window_at_[trace_.windows[i].ordinal] = i;
  for (const TraceWindow& window : trace_.windows)
    for (const KeptRank& kept : window.ranks) trace_.dropped_steps += kept.dropped_steps;
  trace_.clock_bound_ns = clocks_.bound_ns();
}

void Assembly::take_events() {
  using Key = std::pair<std::int32_t, std::int32_t>;
  std::map<Key, std::vector<Chunk>> chunks;
  for (const file::Reader& reader : readers_)
    for (const file::EventsInfo& chunk : reader.chunks())
      chunks[{chunk.rank, chunk.thread}].emplace_back(&reader, &chunk);
  for (auto& [key, list] : chunks) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Chunk& a, const Chunk& b) { return a.second->window < b.second->window; });
    TraceThread thread{key.first, key.second, {}, {}};
    for (const Chunk& chunk : list) take_chunk(thread, chunk);
    trace_.threads.push_back(std::move(thread));
  }
}

void Assembly::take_chunk(TraceThread& thread, const Chunk& chunk) {
  const auto& [reader, info] = chunk;
  try {
    place(thread, chunk, reader->rebuilt(*info));
  } catch (const record::FormatError& e) {
    trace_.notes.push_back(std::string(e.what()) + "; these events are missing");
    ++trace_.damaged_chunks;
    KeptRank* const kept = trace_.windows[window_at_.at(info->window)].find(info->rank);
    if (kept != nullptr) kept->lost = true;
  }
}

/// Ids of the run to indices of the trace, and the node's clock to node 0's.
void Assembly::translate(TraceEvent& event, std::int32_t node) {
  event.time_ns = clocks_.on_node_0(node, event.time_ns);
  switch (event.kind) {
    case trace::Kind::enter:
    case trace::Kind::leave: event.id = regions_.index(event.id); break;
    case trace::Kind::phase: event.id = phases_.index(event.id); break;
    case trace::Kind::work: event.id = units_.index(event.id); break;
    case trace::Kind::send:
    case trace::Kind::send_start:
    case trace::Kind::receive:
    case trace::Kind::receive_start:
    case trace::Kind::receive_done:
    case trace::Kind::collective:
    case trace::Kind::one_sided: event.id = communicators_.index(event.id); break;
    case trace::Kind::send_done:
    case trace::Kind::request_cancelled:
    case trace::Kind::step:
    case trace::Kind::rebalance: break;
  }
}

/// In trace files, what a call completes follows the end of the call, at the same time.  Moves it into the call, where
/// OTF2 has it.
void put_completions_inside(std::vector<TraceEvent>& events) {
  const auto completes = [](trace::Kind kind) {
    return kind == trace::Kind::receive || kind == trace::Kind::receive_done || kind == trace::Kind::send_done ||
           kind == trace::Kind::request_cancelled;
  };
  for (std::size_t i = 1; i < events.size(); ++i) {
    TraceEvent& end = events[i - 1];
    if (end.kind == trace::Kind::leave && completes(events[i].kind) && events[i].time_ns == end.time_ns)
      std::swap(end, events[i]);
  }
}

void Assembly::place(TraceThread& thread, const Chunk& chunk, trace::Rebuilt rebuilt) {
  const auto& [reader, info] = chunk;
  std::vector<TraceEvent>& events = rebuilt.events;
  if (events.empty()) return;
  for (TraceEvent& event : events) translate(event, info->node);
  put_completions_inside(events);
  const std::size_t index = window_at_.at(info->window);
  if (KeptRank* const kept = trace_.windows[index].find(info->rank)) {
    kept->events = true;
    kept->rebuilt |= rebuilt.rebuilt > 0;
  }
  if (!thread.spans.empty() && thread.spans.back().window == index && completed_.count({info->window, info->rank}) &&
      events.front().time_ns < thread.events.back().time_ns) {
    thread.events.resize(thread.spans.back().first);
    thread.spans.pop_back();
  }
  const std::size_t first = thread.events.size();
  thread.events.insert(thread.events.end(), events.begin(), events.end());
  const std::int64_t last_ns = thread.events.back().time_ns;
  if (!thread.spans.empty() && thread.spans.back().window == index) {
    thread.spans.back().end = thread.events.size();
    thread.spans.back().end_ns = std::max(thread.spans.back().end_ns, last_ns);
    return;
  }
  TraceSpan span{index, first, thread.events.size(), events.front().time_ns, last_ns};
  if (const file::Window* const window = reader->window_of(*info)) {
    span.start_ns = std::min(span.start_ns, clocks_.on_node_0(window->node, window->start_ns));
    span.end_ns = std::max(span.end_ns, clocks_.on_node_0(window->node, window->end_ns));
  }
  if (rebuilt.rebuilt > 0) {
    RebuiltPart part{rebuilt.segments, rebuilt.rebuilt, rebuilt.largest_error_ns, rebuilt.error90_ns, {}};
    for (const auto& c : rebuilt.corrections) part.corrections.push_back({regions_.index(c.region), c.ns});
    span.rebuilt = std::move(part);
  }
  thread.spans.push_back(span);
}

/// A kept rank always has events, if only the steps: if there are none and the file is damaged, they were in the
/// damaged part.
void Assembly::find_lost() {
  for (TraceWindow& window : trace_.windows) {
    if (window.first_step < 0) window.first_step = window.last_step = -1;
    for (KeptRank& kept : window.ranks)
      if (!kept.events && trace_.damaged_chunks > 0) kept.lost = true;
  }
}

void Assembly::note_missing() {
  std::vector<std::string>& notes = trace_.notes;
  note_first_step(trace_);
  note_rebuilt(trace_);
  const auto there = static_cast<std::int32_t>(nodes_there_.size());
  if (fs::is_directory(trace_.path) && there < trace_.n_nodes)
    notes.push_back("the files of " + count_text(static_cast<std::uint64_t>(trace_.n_nodes - there), "node") + " of " +
                    std::to_string(trace_.n_nodes) + " are missing: their ranks count as not kept");
  note_end(trace_, nodes_there_.size());
  note_unknown_communicators(trace_);
  if (undescribed_ > 0)
    notes.push_back("the description of the window is lost for " + count_text(undescribed_, "part") +
                    " of the events: they enter no estimate");
  std::size_t lost = 0;
  for (const TraceWindow& window : trace_.windows)
    for (const KeptRank& kept : window.ranks) lost += kept.lost ? 1 : 0;
  if (lost > 0)
    notes.push_back("the events of " + count_text(lost, "kept rank") +
                    " are lost in a window: in estimates, the other sampled ranks of the stratum represent them");
  const std::size_t unnamed = regions_.unnamed() + phases_.unnamed() + units_.unnamed() + communicators_.unnamed();
  if (unnamed > 0)
    notes.push_back(count_text(unnamed, "name") + (unnamed == 1 ? " is" : " are") +
                    " not in the files: ids are shown instead");
}

}  // namespace

Trace read_effort_trace(const std::string& path) { return Assembly(path).run(); }

}  // namespace effort::tools
