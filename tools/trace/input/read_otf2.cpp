// Reads an OTF2 archive of any tool, or one that `effort trace export` wrote.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "record/trace/format.hpp"
#include "tools/files/inputs.hpp"
#include "tools/output/output.hpp"
#include "tools/trace/input/otf2_guard.hpp"
#include "tools/trace/input/otf2_location.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/trace/input/trace_notes.hpp"
#include "tools/trace/model/call_names.hpp"
#include "tools/trace/otf2/sampling_json.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* world = "MPI_COMM_WORLD";

std::uint8_t kind_of(const otf2::Definitions::Region& region) {
  switch (region.role) {
    case OTF2_REGION_ROLE_FILE_IO:
    case OTF2_REGION_ROLE_FILE_IO_METADATA: return 3;
    case OTF2_REGION_ROLE_BARRIER:
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
    case OTF2_REGION_ROLE_TASK_WAIT:
    case OTF2_REGION_ROLE_THREAD_WAIT: return 2;
    case OTF2_REGION_ROLE_POINT2POINT:
    case OTF2_REGION_ROLE_COLL_ONE2ALL:
    case OTF2_REGION_ROLE_COLL_ALL2ONE:
    case OTF2_REGION_ROLE_COLL_ALL2ALL:
    case OTF2_REGION_ROLE_COLL_OTHER:
    case OTF2_REGION_ROLE_RMA: return std::max<std::uint8_t>(1, kind_of_call(region.name));
    default: return kind_of_call(region.name);
  }
}

/// Whether an event file lacks the record that ends every complete one.  The library does not notice: it takes old
/// contents of its buffer for the rest of the file.
bool is_cut_off(const fs::path& file) {
  constexpr char end_of_file = 1;
  std::ifstream in(file, std::ios::binary);
  char last = 0;
  return in.seekg(-1, std::ios::end) && in.get(last) && last != end_of_file;
}

/// Counts the files of an archive among the inputs, and refuses any but regular ones: the library would wait for a
/// pipe.
void check_files(const fs::path& anchor) {
  const auto check = [](const fs::path& path) {
    count_as_input(path);
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
      throw std::runtime_error("can only read regular files, which '" + path.string() + "' is not");
  };
  const fs::path stem = fs::path(anchor).replace_extension();
  check(anchor);
  check(stem.string() + ".def");
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(stem, ignored)) check(entry.path());
}

/// Reads one archive.
class Archive {
 public:
  explicit Archive(const std::string& anchor) : anchor_(anchor), reader_(nullptr, OTF2_Reader_Close) {
    trace_.path = anchor;
    trace_.is_otf2 = true;
  }

  Trace run() {
    open();
    take_clock();
    take_ranks();
    take_regions();
    take_communicators();
    take_events();
    take_windows();
    note_counts();
    take_size();
    return std::move(trace_);
  }

 private:
  void open();
  void take_clock();
  void take_ranks();
  void rank_processes();
  void take_regions();
  void take_communicators();
  void take_events();
  void limit_times();
  void take_thread(const otf2::Definitions::Location& location, std::int32_t rank, std::int32_t thread);
  void take_windows();
  bool restore_sampling();
  void note_counts();
  void take_size();
  std::string property(const char* name);
  void note(std::uint64_t count, const std::string& noun, const std::string& text) {
    // The text begins with "is" or "was", which does not suit times.
    std::string rest = text;
    if (count > 1 && rest.starts_with("is ")) rest.replace(0, 2, "are");
    if (count > 1 && rest.starts_with("was ")) rest.replace(0, 3, "were");
    if (count > 1 && rest.starts_with("names ")) rest.replace(0, 5, "name");
    if (count > 0) trace_.notes.push_back(count_text(count, noun) + " " + rest);
  }

  std::string anchor_;
  Trace trace_;
  otf2::Messages messages_;
  otf2::Reader reader_;
  otf2::Definitions definitions_;
  otf2::Tables tables_{definitions_, {}, {}, {}, {}, {}};
  otf2::Counts counts_;
  std::map<std::uint32_t, std::int32_t> rank_of_process_;
  std::set<std::int32_t> unread_;  ///< ranks
  std::uint64_t other_locations_ = 0;
};

void Archive::open() {
  check_files(anchor_);
  reader_ = otf2::open_archive(anchor_, messages_);
  definitions_ = otf2::read_definitions(reader_.get(), messages_, anchor_);
  char* creator = nullptr;
  if (OTF2_Reader_GetCreator(reader_.get(), &creator) == OTF2_SUCCESS && creator != nullptr) trace_.recorder = creator;
  std::free(creator);
  if (trace_.recorder.empty()) trace_.recorder = "an unnamed tool";
}

void Archive::take_clock() {
  if (definitions_.ticks_per_second == 0)
    throw std::runtime_error(
        "the OTF2 archive '" + anchor_ +
        "' does not state the resolution of its clock, so its times cannot be converted: record it again");
  if (definitions_.ticks_per_second != 1'000'000'000)
    trace_.notes.push_back("the clock has " + std::to_string(definitions_.ticks_per_second) +
                           " ticks per second: times are rounded down to nanoseconds");
  if (definitions_.started_unix_ns <= static_cast<std::uint64_t>(record::trace::format::most_unix_ns))
    trace_.started_unix_ns = static_cast<std::int64_t>(definitions_.started_unix_ns);
}

/// Ranks of processes by the order of MPI's locations; of archives without MPI by the order of their ids.
void Archive::rank_processes() {
  const auto& mpi = definitions_.mpi_locations;
  std::unordered_map<std::uint64_t, std::uint32_t> process_of;
  for (const auto& location : definitions_.locations) process_of[location.id] = location.group;
  for (std::size_t i = 0; i < mpi.size(); ++i) {
    const auto at = process_of.find(mpi[i]);
    if (at != process_of.end()) rank_of_process_.emplace(at->second, static_cast<std::int32_t>(i));
  }
  trace_.n_ranks = static_cast<std::int32_t>(mpi.size());
  if (mpi.empty()) {
    trace_.notes.push_back(
        "the archive does not say which process has which rank in MPI_COMM_WORLD: the processes are "
        "numbered in the order of their definitions");
    for (const auto& [id, process] : definitions_.processes) rank_of_process_.emplace(id, trace_.n_ranks++);
  }
}

void Archive::take_ranks() {
  rank_processes();
  std::map<std::uint32_t, std::int32_t> node_index;
  for (const auto& [process, rank] : rank_of_process_) {
    const std::uint32_t node = definitions_.node_of(definitions_.processes[process]);
    trace_.node_of[rank] = node_index.emplace(node, static_cast<std::int32_t>(node_index.size())).first->second;
  }
  trace_.n_nodes = static_cast<std::int32_t>(node_index.size());
  // Rank 0's first: node 0.
  const std::int32_t first = trace_.node(0);
  for (auto& [rank, node] : trace_.node_of)
    if (first > 0) node = node == first ? 0 : node < first ? node + 1 : node;
}

/// EZTrace defines a region once for each process: equal names are one region.
void Archive::take_regions() {
  std::map<std::pair<std::string, bool>, std::uint32_t> known;
  std::map<std::uint32_t, const otf2::Definitions::Region*> ordered;
  for (const auto& [id, region] : definitions_.regions) ordered[id] = &region;
  for (const auto& [id, region] : ordered) {
    const bool loop = region->role == OTF2_REGION_ROLE_LOOP;
    const auto [at, fresh] =
        known.emplace(std::pair(region->name, loop), static_cast<std::uint32_t>(trace_.regions.size()));
    if (fresh) trace_.regions.push_back({region->name, kind_of(*region), -1, loop});
    tables_.regions[id] = at->second;
  }
}

void Archive::take_communicators() {
  for (const auto& [id, communicator] : definitions_.communicators) {
    tables_.communicators[id] = static_cast<std::uint32_t>(trace_.communicators.size());
    TraceCommunicator out{communicator.name, {}, {}};
    const auto members = definitions_.groups.find(communicator.group);
    if (members != definitions_.groups.end()) out.members = members->second;
    if (communicator.name == world && out.members.empty())
      for (std::int32_t rank = 0; rank < trace_.n_ranks; ++rank) out.members.push_back(rank);
    out.self = out.members.empty();
    const auto remote = definitions_.groups.find(communicator.remote);
    if (remote != definitions_.groups.end()) out.remote = remote->second;
    if (definitions_.global_groups.count(communicator.group) > 0) tables_.by_world_rank.insert(id);
    trace_.communicators.push_back(std::move(out));
  }
  if (trace_.communicators.empty()) trace_.communicators.push_back({world, {}, {}});
}

void Archive::take_events() {
  std::map<std::int32_t, std::int32_t> threads;  // of ranks
  std::vector<std::pair<const otf2::Definitions::Location*, std::pair<std::int32_t, std::int32_t>>> wanted;
  for (const auto& location : definitions_.locations) {
    const auto rank = rank_of_process_.find(location.group);
    if (rank == rank_of_process_.end() || !location.cpu_thread) {
      ++other_locations_;
      continue;
    }
    wanted.emplace_back(&location, std::pair(rank->second, threads[rank->second]++));
    OTF2_Reader_SelectLocation(reader_.get(), location.id);
  }
  const bool local_definitions = OTF2_Reader_OpenDefFiles(reader_.get()) == OTF2_SUCCESS;
  otf2::check(OTF2_Reader_OpenEvtFiles(reader_.get()), messages_, anchor_, "open the event files of");
  messages_.take();
  for (const auto& [location, place] : wanted) {
    if (local_definitions) {  // mappings of ids and corrections of clocks
      if (OTF2_DefReader* const local = OTF2_Reader_GetDefReader(reader_.get(), location->id)) {
        std::uint64_t count = 0;
        OTF2_Reader_ReadAllLocalDefinitions(reader_.get(), local, &count);
        OTF2_Reader_CloseDefReader(reader_.get(), local);
      }
      messages_.take();
    }
    take_thread(*location, place.first, place.second);
  }
  std::sort(trace_.threads.begin(), trace_.threads.end(), [](const TraceThread& a, const TraceThread& b) {
    return std::pair(a.rank, a.thread) < std::pair(b.rank, b.thread);
  });
  limit_times();
}

/// Times so far from the others that sums of durations would not fit into 64 bits are damaged.
void Archive::limit_times() {
  constexpr std::int64_t most = record::trace::format::most_time_ns / 2;
  std::vector<std::int64_t> starts;
  for (const TraceThread& thread : trace_.threads)
    if (!thread.events.empty()) starts.push_back(thread.events.front().time_ns);
  if (starts.empty()) return;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>((starts.size() - 1) / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  const auto limited = [&](std::int64_t time) { return std::clamp(time, *middle - most, *middle + most); };
  for (TraceThread& thread : trace_.threads) {
    for (TraceEvent& event : thread.events) {
      const std::int64_t time = limited(event.time_ns);
      counts_.impossible_times += time != event.time_ns ? 1 : 0;
      event.time_ns = time;
    }
    for (TraceSpan& span : thread.spans) {
      span.start_ns = limited(span.start_ns);
      span.end_ns = limited(span.end_ns);
    }
  }
}

void Archive::take_thread(const otf2::Definitions::Location& location, std::int32_t rank, std::int32_t thread) {
  TraceThread out{rank, thread, {}, {}};
  OTF2_EvtReader* const events = OTF2_Reader_GetEvtReader(reader_.get(), location.id);
  OTF2_ErrorCode code = OTF2_ERROR_FILE_INTERACTION;
  if (events != nullptr) {
    otf2::LocationReader reader(trace_, tables_, counts_, out);
    code = reader.read(reader_.get(), events);
    OTF2_Reader_CloseEvtReader(reader_.get(), events);
  }
  const std::string message = messages_.take();
  const fs::path file = fs::path(anchor_).replace_extension() / (std::to_string(location.id) + ".evt");
  const std::string who = "rank " + std::to_string(rank) + ", thread " + std::to_string(thread) + ": ";
  if (code != OTF2_SUCCESS) {
    trace_.notes.push_back(
        who +
        (out.events.empty() ? "no events can be read"
                            : "only the first " + count_text(out.events.size(), "event") + " can be read") +
        " from '" + file.string() + "' (" + (message.empty() ? OTF2_Error_GetDescription(code) : message) + ")");
  } else if (is_cut_off(file)) {
    trace_.notes.push_back(who + "the end of '" + file.string() + "' is missing: its last events may be wrong");
  }
  if (code != OTF2_SUCCESS || is_cut_off(file)) {
    ++trace_.damaged_chunks;
    unread_.insert(rank);
  }
  trace_.threads.push_back(std::move(out));
}

std::string Archive::property(const char* name) {
  char* value = nullptr;
  std::string out;
  if (OTF2_Reader_GetProperty(reader_.get(), name, &value) == OTF2_SUCCESS && value != nullptr) out = value;
  std::free(value);
  messages_.take();
  return out;
}

/// Reads the sampling of an archive that `effort trace export` wrote.
bool Archive::restore_sampling() {
  const std::string text = property(otf2::sampling_property);
  if (text.empty()) return false;
  try {
    sampling_from_json(nlohmann::json::parse(text), trace_);
  } catch (const std::exception& e) {
    trace_.notes.push_back("the archive's property " + std::string(otf2::sampling_property) +
                           " cannot be read, so it is not known how ranks were sampled: " + e.what());
    return false;
  }
  trace_.is_otf2 = false;
  note_rebuilt(trace_);
  std::erase_if(trace_.threads, [](const TraceThread& thread) { return thread.spans.empty(); });  // not kept
  counts_.pauses = 0;
  return true;
}

/// Makes one window with every rank, because the recording tool kept all of them.
void Archive::take_windows() {
  if (restore_sampling()) return;
  TraceWindow window;
  std::int64_t steps = 0;
  std::map<std::int32_t, KeptRank> kept;
  for (const TraceThread& thread : trace_.threads) {
    KeptRank& rank = kept.emplace(thread.rank, KeptRank{thread.rank, record::trace::reason_sample, 1, 0}).first->second;
    rank.events = rank.events || !thread.events.empty();
    rank.lost = unread_.count(thread.rank) > 0;
    if (!thread.spans.empty()) {
      const bool first = window.end_ns == 0;
      window.start_ns = first ? thread.spans[0].start_ns : std::min(window.start_ns, thread.spans[0].start_ns);
      window.end_ns = std::max(window.end_ns, thread.spans.back().end_ns);
    }
    std::int64_t count = 0;
    for (const TraceEvent& event : thread.events) count += event.kind == trace::Kind::step ? 1 : 0;
    steps = std::max(steps, count);
  }
  window.last_step = std::max<std::int64_t>(steps - 1, 0);
  window.error = 0;
  window.confidence = 1;
  for (const auto& [rank, what] : kept) window.ranks.push_back(what);
  window.strata.push_back({trace_.n_ranks, static_cast<std::int32_t>(kept.size() - unread_.size())});
  trace_.windows.push_back(std::move(window));
}

void Archive::note_counts() {
  note(other_locations_, "location", "is of other kinds (accelerator, metric, unknown process) and not used");
  const auto missing = static_cast<std::int64_t>(trace_.n_ranks) - static_cast<std::int64_t>(trace_.node_of.size());
  note(static_cast<std::uint64_t>(std::max<std::int64_t>(0, missing)), "rank",
       "has no location in the archive: in estimates, the others represent it");
  note(counts_.other_records, "record", "is of other kinds (threads, I/O, metrics, ...) and not used");
  note(counts_.impossible_times, "time stamp",
       "is more than 9 years from the others, and 9 years are taken instead: the file is probably damaged");
  note(counts_.impossible_steps, "step", "is numbered above 2^40 and not used: the file is probably damaged");
  note(counts_.undefined_regions, "region", "is not defined: its id is shown instead");
  note(counts_.unknown_peers, "message", "names an undefined communicator or peer");
  note(counts_.stray_completions, "completion", "was reported without a start before it: not used");
  note(counts_.started_before, "receive",
       "was completed without having been started: the time of the completion counts");
  note(counts_.never_completed_receives, "started receive",
       "was never completed in the archive: it is not known whether and when its message arrived");
  note(counts_.never_completed_sends, "started send", "was never completed in the archive");
  note(counts_.pauses, "time", "the recording was switched off: nothing is known about these intervals");
  note(counts_.flushes, "time",
       "the recorder wrote its buffer to disk, " + seconds_text(counts_.flush_seconds) +
           " in all, which the program had to wait for");
}

void Archive::take_size() {
  const fs::path anchor = anchor_, directory = fs::path(anchor).replace_extension();
  std::error_code ignored;
  trace_.bytes = fs::file_size(anchor, ignored);
  const auto add = [&](const fs::path& path) {
    const auto size = fs::file_size(path, ignored);
    if (!ignored) trace_.bytes += size;
  };
  add(fs::path(anchor).replace_extension(".def"));
  if (fs::is_directory(directory, ignored))
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) add(entry.path());
}

}  // namespace

bool otf2_available() { return true; }

Trace read_otf2_trace(const std::string& anchor) { return Archive(anchor).run(); }

}  // namespace effort::tools
