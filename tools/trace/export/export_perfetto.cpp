#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "record/text.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/output.hpp"
#include "tools/trace/export/export.hpp"
#include "tools/trace/export/protobuf.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

namespace {

using trace::Kind;

/// Field numbers of protos/perfetto/trace (github.com/google/perfetto), by message.
namespace field {
inline constexpr int packet = 1;  // Trace
inline constexpr int timestamp = 8, sequence = 10, track_event = 11, interned = 12, sequence_flags = 13,
                     track_descriptor = 60;                                                       // TracePacket
inline constexpr int uuid = 1, track_name = 2, process = 3, thread = 4, parent = 5, counter = 8;  // TrackDescriptor
inline constexpr int pid = 1, process_name = 6;                                                   // ProcessDescriptor
inline constexpr int tid = 2, thread_name = 5;                                                    // ThreadDescriptor
inline constexpr int unit = 3;                                                                    // CounterDescriptor
inline constexpr int category_iid = 3, annotation = 4, type = 9, name_iid = 10, track_uuid = 11, name = 23,
                     counter_value = 30, flow = 47, flow_end = 48;                 // TrackEvent
inline constexpr int event_categories = 1, event_names = 2, annotation_names = 3;  // InternedData
inline constexpr int iid = 1, text = 2;                             // EventCategory, EventName, DebugAnnotationName
inline constexpr int annotation_name_iid = 1, annotation_uint = 3;  // DebugAnnotation
}  // namespace field

enum Type : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter_set = 4 };
constexpr std::uint64_t state_cleared = 1, needs_state = 2, unit_time_ns = 1;
constexpr std::uint64_t name_send = 1, name_receive = 2, name_rebalance = 3, name_put = 4, name_get = 5,
                        name_update = 6, first_name = 8;
constexpr std::uint64_t note_peer = 1, note_tag = 2, note_bytes = 3, note_received = 4;

std::uint64_t process_uuid(std::int32_t rank) { return (static_cast<std::uint64_t>(rank) + 1) << 20; }
std::uint64_t load_uuid(std::int32_t rank) { return process_uuid(rank) + 1; }
std::uint64_t thread_uuid(const TraceThread& thread) {
  return process_uuid(thread.rank) + 2 + static_cast<std::uint64_t>(thread.thread);
}

/// "rank 17 (stratum 2, node 3)": the stratum in which it was kept last.
std::string process_name(const Trace& trace, std::int32_t rank) {
  std::int32_t stratum = -1;
  std::size_t strata = 0;
  for (const TraceWindow& window : trace.windows) {
    const KeptRank* const kept = window.find(rank);
    if (kept != nullptr && kept->stratum >= 0) stratum = kept->stratum, strata = window.strata.size();
  }
  std::string where;
  if (stratum >= 0 && (strata > 1 || !trace.is_otf2)) where = "stratum " + std::to_string(stratum);
  if (trace.node(rank) >= 0) where += (where.empty() ? "" : ", ") + ("node " + std::to_string(trace.node(rank)));
  return "rank " + std::to_string(rank) + (where.empty() ? "" : " (" + where + ")");
}

/// One file of the export.
class Part {
 public:
  Part(const Trace& trace, const std::filesystem::path& out) : trace_(trace), file_(out), path_(out.string()) {}

  /// Begins the packets of one thread.
  void begin(const TraceThread& thread) {
    ++sequence_;
    Protobuf track;
    track.varint(field::uuid, process_uuid(thread.rank));
    Protobuf process;
    process.varint(field::pid, static_cast<std::uint64_t>(thread.rank));
    process.text(field::process_name, process_name(trace_, thread.rank));
    track.message(field::process, process);
    Protobuf first;
    first.varint(field::sequence_flags, state_cleared);
    first.message(field::interned, interned());
    first.message(field::track_descriptor, track);
    packet(first);
    describe_thread(thread);
    if (thread.thread == 0) describe_load(thread.rank);
  }

  void event(std::int64_t time, const Protobuf& event) {
    Protobuf out;
    out.varint(field::timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(0, time)));
    out.varint(field::sequence_flags, needs_state);
    out.message(field::track_event, event);
    packet(out);
  }

  std::uint64_t bytes() const { return file_.size() + buffer_.bytes().size(); }
  const std::string& path() const { return path_; }
  void flush() {
    file_.write(buffer_.bytes());
    buffer_.clear();
  }
  void commit() { file_.commit(); }

 private:
  void packet(Protobuf& packet) {
    packet.varint(field::sequence, sequence_);
    buffer_.message(field::packet, packet);
    if (buffer_.bytes().size() > (std::size_t{1} << 20)) flush();
  }

  void describe_thread(const TraceThread& thread) {
    Protobuf inner;
    inner.varint(field::pid, static_cast<std::uint64_t>(thread.rank));
    // The first thread has the process's number, by which Perfetto recognises the main thread.
    inner.varint(field::tid, thread.thread == 0 ? static_cast<std::uint64_t>(thread.rank)
                                                : (static_cast<std::uint64_t>(thread.rank) + 1) * 4096 +
                                                      static_cast<std::uint64_t>(thread.thread));
    inner.text(field::thread_name, "thread " + std::to_string(thread.thread));
    Protobuf track;
    track.varint(field::uuid, thread_uuid(thread));
    track.varint(field::parent, process_uuid(thread.rank));
    track.message(field::thread, inner);
    Protobuf out;
    out.message(field::track_descriptor, track);
    packet(out);
  }

  void describe_load(std::int32_t rank) {
    Protobuf counter;
    counter.varint(field::unit, unit_time_ns);
    Protobuf track;
    track.varint(field::uuid, load_uuid(rank));
    track.varint(field::parent, process_uuid(rank));
    track.text(field::track_name, "load per step");
    track.message(field::counter, counter);
    Protobuf out;
    out.message(field::track_descriptor, track);
    packet(out);
  }

  /// All names: a sequence must define what it uses.
  Protobuf interned() const {
    Protobuf out;
    const auto add = [&](int which, std::uint64_t iid, const std::string& text) {
      Protobuf entry;
      entry.varint(field::iid, iid);
      entry.text(field::text, text);
      out.message(which, entry);
    };
    const char* const kinds[] = {"compute", "comm", "wait", "io"};
    for (std::uint64_t i = 0; i < 4; ++i) add(field::event_categories, i + 1, kinds[i]);
    add(field::event_names, name_send, "send");
    add(field::event_names, name_receive, "receive");
    add(field::event_names, name_rebalance, "rebalance");
    add(field::event_names, name_put, "put");
    add(field::event_names, name_get, "get");
    add(field::event_names, name_update, "get and update");
    for (std::size_t i = 0; i < trace_.regions.size(); ++i)
      add(field::event_names, first_name + i, valid_utf8(trace_.regions[i].name));
    const char* const notes[] = {"peer", "tag", "bytes", "bytes received"};
    for (std::uint64_t i = 0; i < 4; ++i) add(field::annotation_names, i + 1, notes[i]);
    return out;
  }

  const Trace& trace_;
  OutputFile file_;
  std::string path_;
  Protobuf buffer_;
  std::uint64_t sequence_ = 0;
};

void annotate(Protobuf& event, std::uint64_t name, std::uint64_t value) {
  Protobuf note;
  note.varint(field::annotation_name_iid, name);
  note.varint(field::annotation_uint, value);
  event.message(field::annotation, note);
}

/// Writes the events of one span.
class SpanWriter {
 public:
  SpanWriter(const Trace& trace, const TraceMessages& messages, Part& part, std::size_t thread)
      : trace_(trace), messages_(messages), part_(part), index_(thread), thread_(trace.threads[thread]) {}

  void write(const TraceSpan& span) {
    std::vector<std::uint32_t> stack = open_at_start(thread_, span);
    for (const std::uint32_t region : stack) begin(span.start_ns, region);
    for (std::size_t i = span.first; i < span.end; ++i) {
      const TraceEvent& event = thread_.events[i];
      if (event.kind == Kind::enter) {
        stack.push_back(event.id);
        begin(event.time_ns, event.id);
      } else if (event.kind == Kind::leave) {
        const auto at = std::find(stack.rbegin(), stack.rend(), event.id);
        if (at == stack.rend()) continue;
        for (auto open = stack.rbegin(); open != at + 1; ++open) end(event.time_ns);
        stack.erase(at.base() - 1, stack.end());
      } else {
        other(event, i);
      }
    }
    for (std::size_t i = 0; i < stack.size(); ++i) end(span.end_ns);
    if (thread_.thread == 0) loads(span);
  }

 private:
  Protobuf event_of(Type type) const {
    Protobuf event;
    event.varint(field::type, type);
    event.varint(field::track_uuid, thread_uuid(thread_));
    return event;
  }
  void begin(std::int64_t time, std::uint32_t region) {
    Protobuf event = event_of(slice_begin);
    event.varint(field::category_iid, trace_.regions[region].kind + std::uint64_t{1});
    event.varint(field::name_iid, first_name + region);
    part_.event(time, event);
  }
  void end(std::int64_t time) { part_.event(time, event_of(slice_end)); }

  void other(const TraceEvent& event, std::size_t i) {
    const bool sends = event.kind == Kind::send || event.kind == Kind::send_start;
    const bool receives = event.kind == Kind::receive || event.kind == Kind::receive_done;
    if (event.kind == Kind::rebalance) {
      Protobuf out = event_of(instant);
      out.varint(field::name_iid, name_rebalance);
      part_.event(event.time_ns, out);
    }
    if (event.kind == Kind::one_sided) access(event);
    if (!sends && !receives) return;
    Protobuf out = event_of(instant);
    out.varint(field::name_iid, sends ? name_send : name_receive);
    if (event.peer >= 0) annotate(out, note_peer, static_cast<std::uint64_t>(event.peer));
    if (event.tag >= 0) annotate(out, note_tag, static_cast<std::uint64_t>(event.tag));
    annotate(out, note_bytes, event.bytes);
    const std::uint32_t message = messages_.of_event[index_][i];
    if (message != TraceMessages::none) out.fixed64(sends ? field::flow : field::flow_end, message + std::uint64_t{1});
    part_.event(event.time_ns, out);
  }

  /// No arrow is drawn, because the target records no event.
  void access(const TraceEvent& event) {
    if (event.bytes == 0 && event.received_bytes == 0) return;  // a synchronisation, which the call's slice shows
    Protobuf out = event_of(instant);
    out.varint(field::name_iid, event.received_bytes == 0 ? name_put : event.bytes == 0 ? name_get : name_update);
    if (event.peer >= 0) annotate(out, note_peer, static_cast<std::uint64_t>(event.peer));
    annotate(out, note_bytes, event.bytes);
    annotate(out, note_received, event.received_bytes);
    part_.event(event.time_ns, out);
  }

  /// Time per step outside of communication, waiting and I/O.
  void loads(const TraceSpan& span) {
    struct Visitor {
      const Trace& trace;
      const TraceThread& thread;
      CallPaths& paths;
      std::vector<std::int64_t> steps;                              ///< begin
      std::vector<std::pair<std::int64_t, std::int64_t>> not_load;  ///< intervals
      void event(std::size_t i, std::int32_t) {
        if (thread.events[i].kind == Kind::step) steps.push_back(thread.events[i].time_ns);
      }
      void end(const Call& call) {
        if (trace.regions[paths.region(call.path)].kind != 0) not_load.emplace_back(call.begin_ns, call.end_ns);
      }
    };
    CallPaths paths(trace_);
    Visitor visitor{trace_, thread_, paths, {}, {}};
    walk_calls(thread_, span, paths, visitor);
    visitor.steps.push_back(span.end_ns);
    std::sort(visitor.not_load.begin(), visitor.not_load.end());
    std::size_t at = 0;
    std::int64_t covered = 0;  // until here, intervals are counted
    for (std::size_t s = 0; s + 1 < visitor.steps.size(); ++s) {
      const std::int64_t first = visitor.steps[s], last = visitor.steps[s + 1];
      std::int64_t load = last - first;
      covered = std::max(covered, first);
      for (; at < visitor.not_load.size() && visitor.not_load[at].first < last; ++at) {
        const std::int64_t from = std::max(covered, visitor.not_load[at].first);
        const std::int64_t to = std::min(last, visitor.not_load[at].second);
        if (to > from) load -= to - from, covered = to;
        if (visitor.not_load[at].second > last) break;
      }
      count(first, load);
    }
    if (visitor.steps.size() > 1) count(span.end_ns, 0);
  }
  void count(std::int64_t time, std::int64_t load) {
    Protobuf event;
    event.varint(field::type, counter_set);
    event.varint(field::track_uuid, load_uuid(thread_.rank));
    event.varint(field::counter_value, static_cast<std::uint64_t>(std::max<std::int64_t>(0, load)));
    part_.event(time, event);
  }

  const Trace& trace_;
  const TraceMessages& messages_;
  Part& part_;
  std::size_t index_;
  const TraceThread& thread_;
};

}  // namespace

TraceExported export_trace_perfetto(const Trace& trace, const TraceMessages& messages, const std::filesystem::path& out,
                                    std::uint64_t part_bytes) {
  std::vector<std::unique_ptr<Part>> parts;
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    bool begun = false;
    for (const TraceSpan& span : trace.threads[t].spans) {
      // An event takes at most 80 bytes; a span is never divided.
      const std::uint64_t most = 80 * (span.end - span.first + 64);
      if (parts.empty() || (parts.back()->bytes() + most > part_bytes && parts.back()->bytes() > 0)) {
        const std::string number = parts.empty() ? "" : "." + std::to_string(parts.size() + 1);
        if (!parts.empty()) parts.back()->flush();
        parts.push_back(std::make_unique<Part>(trace, out.string() + number));
        begun = false;
      }
      if (!begun) parts.back()->begin(trace.threads[t]);
      begun = true;
      SpanWriter(trace, messages, *parts.back(), t).write(span);
    }
  }
  if (parts.empty()) parts.push_back(std::make_unique<Part>(trace, out));
  TraceExported done{trace.events(), messages.matched.size(), {}};
  parts.back()->flush();
  for (const std::unique_ptr<Part>& part : parts) {
    part->commit();
    done.paths.push_back(part->path());
  }
  return done;
}

}  // namespace effort::tools
