// Writes an OTF2 archive: events.  The definitions are in otf2_writer.cpp.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <system_error>

#include "tools/files/inputs.hpp"
#include "tools/output/usage_error.hpp"
#include "tools/trace/export/export.hpp"
#include "tools/trace/export/otf2_writer.hpp"
#include "tools/trace/export/persistent_collectives.hpp"
#include "tools/trace/export/rma_writer.hpp"
#include "tools/trace/model/call_names.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

using trace::Kind;

/// A directory beside the target that takes its place when it is complete.
class PendingDirectory {
 public:
  explicit PendingDirectory(const fs::path& target) : target_(target) {
    if (fs::exists(target_) && !replaceable())
      throw UsageError("'" + target_.string() +
                       "' exists and holds more than an OTF2 archive traces.otf2: give another name");
    if (target_.filename().empty()) target_ = target_.parent_path();
    temporary_ = target_.parent_path() / ("." + target_.filename().string() + ".part");
    old_ = temporary_.string() + ".old";
    for (const fs::path& replaced : {target_, temporary_, old_}) refuse_inputs_in(replaced);
    fs::remove_all(temporary_);
    fs::create_directory(temporary_);
  }
  ~PendingDirectory() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }
  PendingDirectory(const PendingDirectory&) = delete;
  PendingDirectory& operator=(const PendingDirectory&) = delete;

  const fs::path& at() const { return temporary_; }
  void commit() {
    if (fs::exists(target_)) {
      fs::remove_all(old_);
      fs::rename(target_, old_);
      fs::rename(temporary_, target_);
      fs::remove_all(old_);
    } else {
      fs::rename(temporary_, target_);
    }
    temporary_.clear();
  }

 private:
  /// Empty, or an older archive and nothing else.
  bool replaceable() const {
    if (!fs::is_directory(target_)) return false;
    for (const fs::directory_entry& entry : fs::directory_iterator(target_)) {
      const fs::path name = entry.path().filename();
      if (name != "traces.otf2" && name != "traces.def" && name != "traces") return false;
    }
    return fs::is_empty(target_) || fs::exists(target_ / "traces.otf2");
  }

  static void refuse_inputs_in(const fs::path& directory) {
    refuse_input(directory);
    std::error_code none;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, none)) refuse_input(entry);
  }

  fs::path target_, temporary_, old_;
};

/// Writes the events of one thread.
class ThreadWriter {
 public:
  ThreadWriter(const Trace& trace, const TraceMessages& messages, const PersistentCollectives& persistent,
               otf2::Writer& writer, std::size_t thread)
      : trace_(trace),
        messages_(messages),
        persistent_(persistent),
        writer_(writer),
        index_(thread),
        thread_(trace.threads[thread]),
        events_(writer.events(thread)),
        accesses_(trace, writer, events_, thread_.rank) {}

  /// Returns how many collectives were left out.
  std::uint64_t write() {
    for (std::size_t s = 0; s < thread_.spans.size(); ++s) {
      const TraceSpan& span = thread_.spans[s];
      const bool marked = !trace_.is_otf2 || thread_.spans.size() > 1;
      if (marked) done(OTF2_EvtWriter_MeasurementOnOff(events_, nullptr, time(span.start_ns), OTF2_MEASUREMENT_ON));
      write(span);
      if (s + 1 == thread_.spans.size()) accesses_.finish(time(span.end_ns));
      if (marked) done(OTF2_EvtWriter_MeasurementOnOff(events_, nullptr, time(span.end_ns), OTF2_MEASUREMENT_OFF));
    }
    return left_out_;
  }

 private:
  void done(OTF2_ErrorCode code) { writer_.check(code); }

  /// OTF2 requires times that never decrease.
  OTF2_TimeStamp time(std::int64_t ns) {
    last_ = std::max(last_, writer_.time(ns));
    return last_;
  }

  void write(const TraceSpan& span) {
    // Regions that began before the span, or end after it, are completed: viewers need balanced calls.
    std::vector<std::uint32_t> stack = open_at_start(thread_, span);
    for (const std::uint32_t region : stack) done(OTF2_EvtWriter_Enter(events_, nullptr, time(span.start_ns), region));
    for (std::size_t i = span.first; i < span.end; ++i) {
      const TraceEvent& event = thread_.events[i];
      if (event.kind == Kind::enter) {
        stack.push_back(event.id);
        done(OTF2_EvtWriter_Enter(events_, nullptr, time(event.time_ns), event.id));
      } else if (event.kind == Kind::leave) {
        const auto at = std::find(stack.rbegin(), stack.rend(), event.id);
        if (at == stack.rend()) continue;
        accesses_.leave(time(event.time_ns));
        for (auto open = stack.rbegin(); open != at + 1; ++open)
          done(OTF2_EvtWriter_Leave(events_, nullptr, time(event.time_ns), *open));
        stack.erase(at.base() - 1, stack.end());
      } else {
        other(event, i, stack.empty() ? -1 : static_cast<std::int64_t>(stack.back()));
      }
    }
    for (auto open = stack.rbegin(); open != stack.rend(); ++open)
      done(OTF2_EvtWriter_Leave(events_, nullptr, time(span.end_ns), *open));
  }

  void other(const TraceEvent& event, std::size_t i, std::int64_t region) {
    const std::string call = region < 0 ? "" : mpi_call(trace_.regions[static_cast<std::size_t>(region)].name);
    switch (event.kind) {
      case Kind::collective: collective(event, call); break;
      case Kind::one_sided: accesses_.write(event, call, time(event.time_ns)); break;
      case Kind::step:
        done(OTF2_EvtWriter_ParameterUnsignedInt(events_, nullptr, time(event.time_ns), otf2::Writer::step,
                                                 event.bytes));
        break;
      case Kind::rebalance:
        done(OTF2_EvtWriter_ParameterUnsignedInt(events_, nullptr, time(event.time_ns), otf2::Writer::rebalance, 1));
        break;
      case Kind::phase:
        done(OTF2_EvtWriter_ParameterString(events_, nullptr, time(event.time_ns), otf2::Writer::phase_name,
                                            writer_.phase(event.id)));
        break;
      case Kind::work: {
        const OTF2_Type type = OTF2_TYPE_DOUBLE;
        OTF2_MetricValue value;
        value.floating_point = std::bit_cast<double>(event.bytes);
        done(OTF2_EvtWriter_Metric(events_, nullptr, time(event.time_ns), event.id, 1, &type, &value));
        break;
      }
      default: message(event, i); break;
    }
  }

  /// A root without a record is left to the call's name.
  void collective(const TraceEvent& event, const std::string& call) {
    if (call == "win_fence") return accesses_.write(event, call, time(event.time_ns));
    const int operation = call.starts_with("start") ? persistent_.operation(event) : std::max(0, collective_of(call));
    const TraceCommunicator& communicator = trace_.communicators[event.id];
    if (communicator.unknown()) return;  // a note of the trace says so
    if (operation < 0) {
      ++left_out_;
      return;
    }
    const std::int64_t root = event.peer < 0 ? -1 : otf2::local_rank(communicator, event.peer, thread_.rank);
    const std::uint32_t written_root = root < 0 ? OTF2_COLLECTIVE_ROOT_NONE : static_cast<std::uint32_t>(root);
    done(OTF2_EvtWriter_MpiCollectiveBegin(events_, nullptr, time(event.time_ns)));
    done(OTF2_EvtWriter_MpiCollectiveEnd(events_, nullptr, time(event.time_ns),
                                         static_cast<OTF2_CollectiveOp>(operation), event.id, written_root, event.bytes,
                                         event.received_bytes));
  }

  void message(const TraceEvent& event, std::size_t i) {
    const std::uint32_t index = messages_.of_event[index_][i];
    if (index == TraceMessages::none) return;
    const TraceMessage& m = messages_.matched[index];
    const auto at = time(event.time_ns);
    const auto tag = static_cast<std::uint32_t>(m.tag);
    const std::uint64_t request = event.request;
    const TraceCommunicator& communicator = trace_.communicators[m.communicator];
    const std::int32_t other = thread_.rank == m.sender ? m.receiver : m.sender;
    const auto peer = static_cast<std::uint32_t>(otf2::local_rank(communicator, other, thread_.rank));
    switch (event.kind) {
      case Kind::send:
        done(OTF2_EvtWriter_MpiSend(events_, nullptr, at, peer, m.communicator, tag, event.bytes));
        break;
      case Kind::send_start:
        done(OTF2_EvtWriter_MpiIsend(events_, nullptr, at, peer, m.communicator, tag, event.bytes, request));
        break;
      case Kind::send_done: done(OTF2_EvtWriter_MpiIsendComplete(events_, nullptr, at, request)); break;
      case Kind::receive_start: done(OTF2_EvtWriter_MpiIrecvRequest(events_, nullptr, at, request)); break;
      case Kind::receive:
        done(OTF2_EvtWriter_MpiRecv(events_, nullptr, at, peer, m.communicator, tag, event.bytes));
        break;
      case Kind::receive_done: receive_done(event, m, at, peer); break;
      case Kind::request_cancelled: done(OTF2_EvtWriter_MpiRequestCancelled(events_, nullptr, at, request)); break;
      default: break;
    }
  }

  void receive_done(const TraceEvent& event, const TraceMessage& m, OTF2_TimeStamp at, std::uint32_t peer) {
    done(OTF2_EvtWriter_MpiIrecv(events_, nullptr, at, peer, m.communicator, static_cast<std::uint32_t>(m.tag),
                                 event.bytes, event.request));
  }

  const Trace& trace_;
  const TraceMessages& messages_;
  const PersistentCollectives& persistent_;
  otf2::Writer& writer_;
  std::size_t index_;
  const TraceThread& thread_;
  OTF2_EvtWriter* events_;
  otf2::RmaWriter accesses_;
  std::uint64_t left_out_ = 0;
  OTF2_TimeStamp last_ = 0;
};

}  // namespace

TraceExported export_trace_otf2(const Trace& trace, const TraceMessages& messages, const fs::path& directory) {
  PendingDirectory pending(directory);
  const PersistentCollectives persistent(trace);
  TraceExported out{trace.events(), messages.matched.size(), {(directory / "traces.otf2").string()}};
  {
    otf2::Writer writer(trace, pending.at().string());
    for (std::size_t t = 0; t < trace.threads.size(); ++t) {
      out.collectives_left_out += ThreadWriter(trace, messages, persistent, writer, t).write();
      writer.close_events(t);
    }
    writer.finish();
  }
  pending.commit();
  return out;
}

}  // namespace effort::tools
