#include "tools/trace/input/otf2_location.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "record/trace/format.hpp"
#include "tools/trace/model/call_names.hpp"

namespace effort::tools::otf2 {

using trace::Kind;

namespace {

// Later times, or their differences, would not fit into nanoseconds with a sign.  Some tools count them from 1970.
constexpr std::uint64_t most_seconds = static_cast<std::uint64_t>(record::trace::format::most_unix_ns) / 1'000'000'000;

}  // namespace

/// In a struct, so that they reach the members.
struct LocationReader::Callbacks {
  using Attributes = OTF2_AttributeList*;
  static LocationReader& of(void* data) { return static_cast<LocationReader*>(data)->handled(); }

  static OTF2_CallbackCode enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                 OTF2_RegionRef region) {
    LocationReader& r = of(data);
    r.add(Kind::enter, time).id = r.region(region);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode leave(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                 OTF2_RegionRef region) {
    LocationReader& r = of(data);
    r.add(Kind::leave, time).id = r.region(region);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode send(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag,
                                std::uint64_t bytes) {
    of(data).add_message(Kind::send, time, receiver, communicator, tag, bytes, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode isend(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                 std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag,
                                 std::uint64_t bytes, std::uint64_t request) {
    LocationReader& r = of(data);
    r.add_message(Kind::send_start, time, receiver, communicator, tag, bytes, r.start(request, true));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode isend_complete(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                          std::uint64_t request) {
    LocationReader& r = of(data);
    std::uint32_t number = 0;
    if (r.complete(request, true, number)) {
      r.add(Kind::send_done, time).request = number;
    } else {
      ++r.counts_.stray_completions;
    }
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode irecv_request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                         std::uint64_t request) {
    LocationReader& r = of(data);
    TraceEvent& event = r.add(Kind::receive_start, time);
    event.tag = -1;
    event.request = r.start(request, false);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode recv(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag,
                                std::uint64_t bytes) {
    of(data).add_message(Kind::receive, time, sender, communicator, tag, bytes, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode irecv(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                 std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag,
                                 std::uint64_t bytes, std::uint64_t request) {
    LocationReader& r = of(data);
    std::uint32_t number = 0;
    const bool started = r.complete(request, false, number);
    r.counts_.started_before += started ? 0 : 1;
    r.add_message(started ? Kind::receive_done : Kind::receive, time, sender, communicator, tag, bytes, number);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode cancelled(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                     std::uint64_t request) {
    LocationReader& r = of(data);
    std::uint32_t number = 0;
    if (r.complete(request, true, number) || r.complete(request, false, number)) {
      r.add(Kind::request_cancelled, time).request = number;
    } else {
      ++r.counts_.stray_completions;
    }
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode collective(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                      OTF2_CollectiveOp, OTF2_CommRef communicator, std::uint32_t root,
                                      std::uint64_t sent, std::uint64_t received) {
    of(data).add_collective(time, communicator, root, sent, received);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode late_collective(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                           OTF2_CollectiveOp, OTF2_CommRef communicator, std::uint32_t root,
                                           std::uint64_t sent, std::uint64_t received, std::uint64_t) {
    of(data).add_collective(time, communicator, root, sent, received);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode plain(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes) {
    of(data);  // implied by other records, such as the start of a collective
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode request_only(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes,
                                        std::uint64_t) {
    of(data);  // a test that found nothing, or the start of a collective
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode thread_begin(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes,
                                        OTF2_CommRef, std::uint64_t) {
    of(data);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode flush(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                 OTF2_TimeStamp stop) {
    LocationReader& r = of(data);
    ++r.counts_.flushes;
    r.counts_.flush_seconds += 1e-9 * static_cast<double>(r.ns(stop) - r.ns(time));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_off(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                  OTF2_MeasurementMode mode) {
    of(data).switch_recording(time, mode == OTF2_MEASUREMENT_ON);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode number(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                  OTF2_ParameterRef parameter, std::uint64_t value) {
    auto& r = *static_cast<LocationReader*>(data);
    const auto at = r.tables_.definitions.parameters.find(parameter);
    if (at == r.tables_.definitions.parameters.end()) return OTF2_CALLBACK_SUCCESS;
    if (at->second == step_parameter) of(data).add_step(time, value);
    if (at->second == rebalance_parameter) of(data).add(Kind::rebalance, time);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode text(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                OTF2_ParameterRef parameter, OTF2_StringRef string) {
    auto& r = *static_cast<LocationReader*>(data);
    const auto at = r.tables_.definitions.parameters.find(parameter);
    if (at == r.tables_.definitions.parameters.end() || at->second != phase_parameter) return OTF2_CALLBACK_SUCCESS;
    const std::string& name = r.tables_.definitions.text(string);
    const auto [phase, fresh] = r.tables_.phases.emplace(name, static_cast<std::uint32_t>(r.trace_.phases.size()));
    if (fresh) r.trace_.phases.push_back(name);
    of(data).add(Kind::phase, time).id = phase->second;
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                  OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type*,
                                  const OTF2_MetricValue* values) {
    auto& r = *static_cast<LocationReader*>(data);
    const auto at = r.tables_.definitions.work_metrics.find(metric);
    if (at == r.tables_.definitions.work_metrics.end() || count != 1) return OTF2_CALLBACK_SUCCESS;
    const auto [unit, fresh] = r.tables_.units.emplace(at->second, static_cast<std::uint32_t>(r.trace_.units.size()));
    if (fresh) r.trace_.units.push_back(at->second);
    TraceEvent& event = of(data).add(Kind::work, time);
    event.id = unit->second;
    event.bytes = std::bit_cast<std::uint64_t>(values[0].floating_point);
    return OTF2_CALLBACK_SUCCESS;
  }

  static void set(OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(callbacks, request_only);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, plain);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, request_only);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, late_collective);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(callbacks, thread_begin);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(callbacks, thread_begin);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks, flush);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(callbacks, on_off);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, number);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(callbacks, text);
    OTF2_EvtReaderCallbacks_SetMetricCallback(callbacks, metric);
  }
};

OTF2_ErrorCode LocationReader::read(OTF2_Reader* reader, OTF2_EvtReader* events) {
  const std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)> callbacks(
      OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  Callbacks::set(callbacks.get());
  set_rma_callbacks(callbacks.get());
  OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks.get(), this);
  std::uint64_t count = 0;
  if (code == OTF2_SUCCESS) code = OTF2_Reader_ReadAllLocalEvents(reader, events, &count);
  counts_.other_records += count > handled_ ? count - handled_ : 0;
  finish();
  return code;
}

std::int64_t LocationReader::ns(OTF2_TimeStamp time) {
  const Definitions& d = tables_.definitions;
  const std::uint64_t ticks = time > d.offset ? time - d.offset : 0;
  const std::uint64_t whole = ticks / d.ticks_per_second, rest = ticks % d.ticks_per_second;
  if (whole >= most_seconds) return static_cast<std::int64_t>(most_seconds) * 1'000'000'000;
  if (d.ticks_per_second == 1'000'000'000) return static_cast<std::int64_t>(ticks);
  return static_cast<std::int64_t>(whole) * 1'000'000'000 +
         static_cast<std::int64_t>(static_cast<long double>(rest) * 1e9L /
                                   static_cast<long double>(d.ticks_per_second));
}

TraceEvent& LocationReader::add(Kind kind, OTF2_TimeStamp time) {
  TraceEvent event;
  event.time_ns = ns(time);
  event.kind = kind;
  if (thread_.spans.empty() || (switched_ && !on_))
    thread_.spans.push_back({0, thread_.events.size(), 0, event.time_ns, event.time_ns});
  switched_ = switched_ && on_;
  thread_.events.push_back(event);
  thread_.spans.back().end = thread_.events.size();
  thread_.spans.back().end_ns = std::max(thread_.spans.back().end_ns, event.time_ns);
  return thread_.events.back();
}

std::uint32_t LocationReader::region(std::uint32_t id) {
  const auto [at, fresh] = tables_.regions.emplace(id, static_cast<std::uint32_t>(trace_.regions.size()));
  if (fresh) {
    ++counts_.undefined_regions;
    trace_.regions.push_back({"region " + std::to_string(id)});
  }
  return at->second;
}

void LocationReader::switch_recording(OTF2_TimeStamp time, bool on) {
  if (on) {
    thread_.spans.push_back({0, thread_.events.size(), thread_.events.size(), ns(time), ns(time)});
    switched_ = false;
  } else {
    ++counts_.pauses;
    switched_ = true;
    if (!thread_.spans.empty()) thread_.spans.back().end_ns = std::max(thread_.spans.back().end_ns, ns(time));
  }
  on_ = on;
}

std::int32_t LocationReader::world_rank(std::uint32_t communicator, std::uint32_t rank) const {
  const auto at = tables_.communicators.find(communicator);
  if (at == tables_.communicators.end()) return -1;
  if (tables_.by_world_rank.count(communicator) > 0)
    return rank < static_cast<std::uint32_t>(trace_.n_ranks) ? static_cast<std::int32_t>(rank) : -1;
  const TraceCommunicator& c = trace_.communicators[at->second];
  if (c.self && rank == 0) return thread_.rank;
  // Ranks of an intercommunicator are those of the other group.
  const bool here = std::find(c.members.begin(), c.members.end(), thread_.rank) != c.members.end();
  const std::vector<std::int32_t>& ranks = c.remote.empty() || !here ? c.members : c.remote;
  return rank < ranks.size() ? ranks[rank] : -1;
}

void LocationReader::add_step(OTF2_TimeStamp time, std::uint64_t step) {
  if (step <= static_cast<std::uint64_t>(record::trace::format::most_steps))
    add(Kind::step, time).bytes = step;
  else
    ++counts_.impossible_steps;
}

void LocationReader::add_message(Kind kind, OTF2_TimeStamp time, std::uint32_t peer, std::uint32_t communicator,
                                 std::uint32_t tag, std::uint64_t bytes, std::uint32_t request) {
  TraceEvent& event = add(kind, time);
  const auto at = tables_.communicators.find(communicator);
  event.id = at == tables_.communicators.end() ? 0 : at->second;
  event.peer = world_rank(communicator, peer);
  event.tag = static_cast<std::int32_t>(tag);
  event.bytes = bytes;
  event.request = request;
  counts_.unknown_peers += event.peer < 0 ? 1 : 0;
}

void LocationReader::add_collective(OTF2_TimeStamp time, std::uint32_t communicator, std::uint32_t root,
                                    std::uint64_t sent, std::uint64_t received) {
  TraceEvent& event = add(Kind::collective, time);
  const auto at = tables_.communicators.find(communicator);
  event.id = at == tables_.communicators.end() ? 0 : at->second;
  event.bytes = sent;
  event.received_bytes = received;
  if (root == OTF2_COLLECTIVE_ROOT_SELF) event.peer = thread_.rank;
  if (root < OTF2_COLLECTIVE_ROOT_THIS_GROUP) event.peer = world_rank(communicator, root);
}

std::uint32_t LocationReader::start(std::uint64_t request, bool send) {
  std::deque<Active>& list = active_[request];
  // A receive whose request is started again was completed without a record; sends may share one (Open MPI).
  if (!send && !list.empty() && !list.back().send) {
    ++counts_.never_completed_receives;
    free_.insert(list.back().number);
    list.pop_back();
  }
  std::uint32_t number = next_;
  if (free_.empty()) {
    ++next_;
  } else {
    number = *free_.begin();
    free_.erase(free_.begin());
  }
  list.push_back({number, send});
  return number;
}

bool LocationReader::complete(std::uint64_t request, bool send, std::uint32_t& number) {
  const auto at = active_.find(request);
  if (at == active_.end()) return false;
  std::deque<Active>& list = at->second;
  const auto first = std::find_if(list.begin(), list.end(), [&](const Active& a) { return a.send == send; });
  if (first == list.end()) return false;
  number = first->number;
  free_.insert(number);
  list.erase(first);
  if (list.empty()) active_.erase(at);
  return true;
}

void LocationReader::place_messages() {
  std::vector<TraceEvent>& events = thread_.events;
  std::size_t enter = events.size();  // of the call that is open; no call is inside another
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::enter) enter = i;
    if (events[i].kind != Kind::leave || enter >= events.size()) continue;
    const bool call = events[enter].id == events[i].id && !mpi_call(trace_.regions[events[i].id].name).empty();
    for (std::size_t m = enter + 1; call && m < i; ++m) {
      const Kind kind = events[m].kind;
      const bool starts =
          kind == Kind::send || kind == Kind::send_start || kind == Kind::receive_start || kind == Kind::one_sided;
      const bool ends = kind == Kind::receive || kind == Kind::receive_done || kind == Kind::send_done;
      if (starts) events[m].time_ns = events[enter].time_ns;
      if (ends) events[m].time_ns = events[i].time_ns;
      // Starts before completions, so that times never go back.
      if (starts)
        std::rotate(std::find_if(events.begin() + static_cast<std::ptrdiff_t>(enter) + 1,
                                 events.begin() + static_cast<std::ptrdiff_t>(m),
                                 [&](const TraceEvent& e) { return e.time_ns > events[m].time_ns; }),
                    events.begin() + static_cast<std::ptrdiff_t>(m),
                    events.begin() + static_cast<std::ptrdiff_t>(m) + 1);
    }
    enter = events.size();
  }
}

void LocationReader::finish() {
  place_messages();
  for (const auto& [request, list] : active_)
    for (const Active& active : list)
      ++(active.send ? counts_.never_completed_sends : counts_.never_completed_receives);
}

}  // namespace effort::tools::otf2
