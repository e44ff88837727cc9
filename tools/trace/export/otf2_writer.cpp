#include "tools/trace/export/otf2_writer.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "analytics/number_text.hpp"
#include "tools/output/output.hpp"
#include "tools/trace/model/call_names.hpp"
#include "tools/trace/otf2/sampling_json.hpp"

namespace effort::tools::otf2 {

namespace {

/// The library clears a chunk for every location, so it should be small.  A group of all ranks must fit into one of
/// definitions, with up to 9 bytes a rank.
std::uint64_t definition_chunk(std::int32_t ranks) {
  constexpr std::uint64_t others = std::uint64_t{64} << 10;
  return std::clamp<std::uint64_t>(others + 10 * static_cast<std::uint64_t>(ranks), OTF2_CHUNK_SIZE_MIN,
                                   OTF2_CHUNK_SIZE_MAX);
}

OTF2_FlushType always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

std::uint64_t location_of(std::int32_t rank, std::int32_t thread) {
  return static_cast<std::uint64_t>(thread) << 32 | static_cast<std::uint64_t>(rank);
}

OTF2_RegionRole role_of(const TraceRegion& region) {
  if (region.loop) return OTF2_REGION_ROLE_LOOP;
  const std::string call = mpi_call(region.name);
  if (call.empty()) return region.kind == 3 ? OTF2_REGION_ROLE_FILE_IO : OTF2_REGION_ROLE_FUNCTION;
  switch (collective_of(call)) {
    case -1: break;
    case OTF2_COLLECTIVE_OP_BARRIER: return OTF2_REGION_ROLE_BARRIER;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV: return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE: return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN: return OTF2_REGION_ROLE_COLL_OTHER;
    default: return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
  if (is_point_to_point(call)) return OTF2_REGION_ROLE_POINT2POINT;
  return call.starts_with("file_") ? OTF2_REGION_ROLE_FILE_IO : OTF2_REGION_ROLE_FUNCTION;
}

/// "steps 0-99: sample, probability 0.125; steps 200-299: medoid" of a rank.
std::string kept_text(const Trace& trace, std::int32_t rank) {
  std::string out;
  for (const TraceWindow& window : trace.windows) {
    const KeptRank* const kept = window.find(rank);
    if (kept == nullptr) continue;
    out += (out.empty() ? "steps " : "; steps ") + std::to_string(window.first_step) + "-" +
           std::to_string(window.last_step) + ":";
    for (int i = 0; i < record::trace::n_reasons; ++i)
      if ((kept->reasons & 1 << i) != 0) out += std::string(" ") + record::trace::reason_text(i);
    if (kept->sampled()) out += ", probability " + number_text(kept->probability);
    if (out.size() > 4000) return out + "; ...";
  }
  return out;
}

}  // namespace

std::int64_t local_rank(const TraceCommunicator& communicator, std::int32_t world_rank, std::int32_t own) {
  if (communicator.self) return world_rank == own ? 0 : world_rank;
  if (communicator.unknown()) return world_rank;  // it is written as one of all ranks
  std::int64_t index = 0;
  for (const auto* const group : {&communicator.members, &communicator.remote}) {
    const auto at = std::find(group->begin(), group->end(), world_rank);
    index += at - group->begin();
    if (at != group->end()) return index;
  }
  return -1;
}

Writer::Writer(const Trace& trace, const std::string& directory)
    : trace_(trace), name_(directory + "/traces.otf2"), written_(trace.threads.size(), 0) {
  find_times();
  number_groups();
  archive_ = OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                               definition_chunk(trace.n_ranks), OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) fail(OTF2_SUCCESS, messages_, name_, "write");
  static const OTF2_FlushCallbacks flush = {always, nullptr};
  check(OTF2_Archive_SetFlushCallbacks(archive_, &flush, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_SetCreator(archive_,
                                ("effort " EFFORT_VERSION_TEXT " (from a trace of " + trace_.recorder + ")").c_str()));
  check(OTF2_Archive_OpenEvtFiles(archive_));
  definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (definitions_ == nullptr) fail(OTF2_SUCCESS, messages_, name_, "write");
  string("");
  for (const std::string& phase : trace_.phases) phase_strings_.push_back(string(phase));
}

Writer::~Writer() {
  if (archive_ != nullptr) OTF2_Archive_Close(archive_);
}

void Writer::find_times() {
  first_ns_ = std::numeric_limits<std::int64_t>::max();
  for (const TraceThread& thread : trace_.threads) {
    for (const TraceSpan& span : thread.spans) {
      first_ns_ = std::min(first_ns_, span.start_ns);
      last_ns_ = std::max(last_ns_, span.end_ns);
      if (span.end > span.first) first_ns_ = std::min(first_ns_, thread.events[span.first].time_ns);
    }
  }
  first_ns_ = std::min(first_ns_, last_ns_);
}

/// In the order in which groups are written: OTF2's tools warn of others.  Group 0 has all locations.
void Writer::number_groups() {
  OTF2_GroupRef next = 1, self = 0;
  for (std::uint32_t i = 0; i < trace_.communicators.size(); ++i) {
    if (is_self(i) && self == 0) self = next++;
    groups_.push_back(is_self(i) ? self : next++);
  }
}

bool Writer::is_self(std::uint32_t communicator) const { return trace_.communicators[communicator].self; }

OTF2_StringRef Writer::string(const std::string& text) {
  const auto [at, fresh] = strings_.emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (fresh) check(OTF2_GlobalDefWriter_WriteString(definitions_, at->second, valid_utf8(text).c_str()));
  return at->second;
}

OTF2_EvtWriter* Writer::events(std::size_t thread) {
  OTF2_EvtWriter* const writer =
      OTF2_Archive_GetEvtWriter(archive_, location_of(trace_.threads[thread].rank, trace_.threads[thread].thread));
  if (writer == nullptr) fail(OTF2_SUCCESS, messages_, name_, "write");
  return writer;
}

void Writer::close_events(std::size_t thread) {
  OTF2_EvtWriter* const writer = events(thread);
  check(OTF2_EvtWriter_GetNumberOfEvents(writer, &written_[thread]));
  check(OTF2_Archive_CloseEvtWriter(archive_, writer));
}

void Writer::write_clock() {
  std::uint64_t started = OTF2_UNDEFINED_TIMESTAMP;
  if (trace_.started_unix_ns > 0) started = static_cast<std::uint64_t>(trace_.started_unix_ns + first_ns_);
  check(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, 0, time(last_ns_) + 1, started));
}

/// Machine, nodes, a process per rank, a location per thread.  Ranks that were not kept have a location without events,
/// because OTF2 counts ranks by their locations.
void Writer::write_system() {
  const auto machine = string("machine"), node_class = string("node");
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  std::map<std::int32_t, std::uint32_t> node_refs;
  for (const auto& [rank, node] : trace_.node_of)
    if (node >= 0) node_refs.emplace(node, static_cast<std::uint32_t>(node_refs.size() + 1));
  for (const auto& [node, ref] : node_refs)
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, ref, string("node " + std::to_string(node)),
                                                   node_class, 0));
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> threads;  // and their records
  for (std::int32_t rank = 0; rank < trace_.n_ranks; ++rank) threads[{rank, 0}] = 0;
  for (std::size_t t = 0; t < trace_.threads.size(); ++t)
    threads[{trace_.threads[t].rank, trace_.threads[t].thread}] = written_[t];
  std::int32_t last = -1;
  for (const auto& [place, records] : threads) {
    const auto [rank, thread] = place;
    if (rank != last) {
      const auto at = node_refs.find(trace_.node(rank));
      check(OTF2_GlobalDefWriter_WriteLocationGroup(
          definitions_, static_cast<OTF2_LocationGroupRef>(rank), string("rank " + std::to_string(rank)),
          OTF2_LOCATION_GROUP_TYPE_PROCESS, at == node_refs.end() ? 0 : at->second, OTF2_UNDEFINED_LOCATION_GROUP));
    }
    last = rank;
    check(OTF2_GlobalDefWriter_WriteLocation(definitions_, location_of(rank, thread),
                                             string("thread " + std::to_string(thread)), OTF2_LOCATION_TYPE_CPU_THREAD,
                                             records, static_cast<OTF2_LocationGroupRef>(rank)));
  }
}

void Writer::write_regions() {
  for (std::size_t i = 0; i < trace_.regions.size(); ++i) {
    const TraceRegion& region = trace_.regions[i];
    const OTF2_StringRef name = string(region.name);
    const bool mpi = !mpi_call(region.name).empty();
    check(OTF2_GlobalDefWriter_WriteRegion(definitions_, static_cast<OTF2_RegionRef>(i), name, name, string(""),
                                           role_of(region), mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                           OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
  }
}

// An intercommunicator is written as one of both groups: python3-otf2 3.0 fails on definitions of such, and OTF2 before
// 3.0 has none.
void Writer::write_communicators() {
  const auto group = [&](std::uint32_t ref, const std::string& name, OTF2_GroupType type,
                         const std::vector<std::uint64_t>& members) {
    check(OTF2_GlobalDefWriter_WriteGroup(definitions_, ref, string(name), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()),
                                          members.data()));
  };
  std::vector<std::uint64_t> locations;
  for (std::int32_t rank = 0; rank < trace_.n_ranks; ++rank) locations.push_back(location_of(rank, 0));
  group(0, "MPI", OTF2_GROUP_TYPE_COMM_LOCATIONS, locations);
  bool self = false;
  for (std::uint32_t i = 0; i < trace_.communicators.size(); ++i) {
    const TraceCommunicator& communicator = trace_.communicators[i];
    if (is_self(i) && !self) group(this->group(i), "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, {});
    self = self || is_self(i);
    std::vector<std::uint64_t> members(communicator.members.begin(), communicator.members.end());
    members.insert(members.end(), communicator.remote.begin(), communicator.remote.end());
    if (members.empty())
      for (std::int32_t rank = 0; rank < trace_.n_ranks; ++rank) members.push_back(static_cast<std::uint64_t>(rank));
    if (!is_self(i)) group(this->group(i), communicator.name, OTF2_GROUP_TYPE_COMM_GROUP, members);
    check(OTF2_GlobalDefWriter_WriteComm(definitions_, i, string(communicator.name), this->group(i),
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  }
}

void Writer::write_windows() {
  for (const std::uint32_t i : windows_)
    check(OTF2_GlobalDefWriter_WriteRmaWin(definitions_, i, string("windows of " + trace_.communicators[i].name), i,
                                           OTF2_RMA_WIN_FLAG_NONE));
}

/// The substitutes for events that OTF2 does not have.
void Writer::write_other() {
  check(OTF2_GlobalDefWriter_WriteParameter(definitions_, step, string(step_parameter), OTF2_PARAMETER_TYPE_UINT64));
  check(OTF2_GlobalDefWriter_WriteParameter(definitions_, phase_name, string(phase_parameter),
                                            OTF2_PARAMETER_TYPE_STRING));
  check(OTF2_GlobalDefWriter_WriteParameter(definitions_, rebalance, string(rebalance_parameter),
                                            OTF2_PARAMETER_TYPE_UINT64));
  for (std::size_t i = 0; i < trace_.units.size(); ++i) {
    const auto ref = static_cast<std::uint32_t>(i);
    check(OTF2_GlobalDefWriter_WriteMetricMember(definitions_, ref, string(trace_.units[i]), string(work_description),
                                                 OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                                                 OTF2_BASE_DECIMAL, 0, string("")));
    check(OTF2_GlobalDefWriter_WriteMetricClass(definitions_, ref, 1, &ref, OTF2_METRIC_ASYNCHRONOUS,
                                                OTF2_RECORDER_KIND_CPU));
  }
}

void Writer::write_properties() {
  if (trace_.is_otf2) return;
  const std::string text = json_text(sampling_json(trace_));
  check(OTF2_Archive_SetProperty(archive_, sampling_property, text.c_str(), true));
  std::int32_t last = -1;
  for (const TraceThread& thread : trace_.threads) {
    if (thread.rank == last) continue;
    last = thread.rank;
    const std::string kept = kept_text(trace_, thread.rank);
    if (kept.empty()) continue;
    OTF2_AttributeValue value;
    value.stringRef = string(kept);
    check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(definitions_, static_cast<OTF2_LocationGroupRef>(thread.rank),
                                                          string("effort: why kept"), OTF2_TYPE_STRING, value));
  }
}

std::set<std::pair<std::int32_t, std::int32_t>> Writer::threads() const {
  std::set<std::pair<std::int32_t, std::int32_t>> out;
  for (std::int32_t rank = 0; rank < trace_.n_ranks; ++rank) out.emplace(rank, 0);
  for (const TraceThread& thread : trace_.threads) out.emplace(thread.rank, thread.thread);
  return out;
}

void Writer::finish() {
  // The library reports every missing file when it reads, so ranks that were not kept have empty ones.
  const std::set<std::pair<std::int32_t, std::int32_t>> all = threads();
  for (const std::pair<std::int32_t, std::int32_t>& place : all) {
    const auto has = [&](const TraceThread& t) { return std::pair(t.rank, t.thread) == place; };
    if (std::any_of(trace_.threads.begin(), trace_.threads.end(), has)) continue;
    OTF2_EvtWriter* const empty = OTF2_Archive_GetEvtWriter(archive_, location_of(place.first, place.second));
    if (empty == nullptr) fail(OTF2_SUCCESS, messages_, name_, "write");
    check(OTF2_Archive_CloseEvtWriter(archive_, empty));
  }
  check(OTF2_Archive_CloseEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (const auto& [rank, thread] : all) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, location_of(rank, thread));
    if (local == nullptr) fail(OTF2_SUCCESS, messages_, name_, "write");
    check(OTF2_Archive_CloseDefWriter(archive_, local));
  }
  check(OTF2_Archive_CloseDefFiles(archive_));
  write_clock();
  write_system();
  write_regions();
  write_communicators();
  write_windows();
  write_other();
  write_properties();
  OTF2_Archive* const archive = archive_;
  archive_ = nullptr;
  check(OTF2_Archive_Close(archive));
}

}  // namespace effort::tools::otf2
