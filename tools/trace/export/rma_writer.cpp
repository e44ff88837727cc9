#include "tools/trace/export/rma_writer.hpp"

#include <string_view>

namespace effort::tools::otf2 {

namespace {

bool synchronises(const TraceEvent& event, const std::string& call) {
  return call.empty() ? event.bytes == 0 && event.received_bytes == 0 : call.starts_with("win_");
}

enum class Operation : std::uint8_t { put, get, atomic };

/// The kind of an access; if its call is not known, from the directions of its data.
Operation operation_of(const TraceEvent& event, std::string_view call) {
  if (call.empty())
    return event.received_bytes == 0 ? Operation::put : event.bytes == 0 ? Operation::get : Operation::atomic;
  if (call == "put" || call == "rput") return Operation::put;
  return call == "get" || call == "rget" ? Operation::get : Operation::atomic;
}

OTF2_RmaAtomicType atomic_of(std::string_view call) {
  if (call == "accumulate" || call == "raccumulate") return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
  if (call == "compare_and_swap") return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
  return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
}

}  // namespace

void RmaWriter::write(const TraceEvent& event, const std::string& call, OTF2_TimeStamp time) {
  const bool several = event.peer < 0;
  const std::int64_t target = several ? -1 : local_rank(trace_.communicators[event.id], event.peer, rank_);
  if (!several && target < 0) return;  // not a member, in a damaged file
  writer_.use_window(event.id);
  if (created_.insert(event.id).second) done(OTF2_EvtWriter_RmaWinCreate(events_, nullptr, time, event.id));
  if (!several && !synchronises(event, call)) return access(event, call, static_cast<std::uint32_t>(target), time);
  synchronise(event, target, time);
  window_ = event.id;
  target_ = event.peer;
  if (call.starts_with("win_flush_local"))
    completes_ = Completes::here;
  else if (call.starts_with("win_flush") || call.starts_with("win_unlock") || call == "win_fence" ||
           call == "win_complete")
    completes_ = Completes::everywhere;
}

void RmaWriter::access(const TraceEvent& event, const std::string& call, std::uint32_t target, OTF2_TimeStamp time) {
  const std::uint64_t number = accesses_++;
  switch (operation_of(event, call)) {
    case Operation::put:
      done(OTF2_EvtWriter_RmaPut(events_, nullptr, time, event.id, target, event.bytes, number));
      break;
    case Operation::get:
      done(OTF2_EvtWriter_RmaGet(events_, nullptr, time, event.id, target, event.received_bytes, number));
      break;
    case Operation::atomic:
      done(OTF2_EvtWriter_RmaAtomic(events_, nullptr, time, event.id, target, atomic_of(call), event.bytes,
                                    event.received_bytes, number));
      break;
  }
  pending_.push_back({event.id, event.peer, number});
}

/// A trace does not have the type of a lock, which OTF2's lock records require.
void RmaWriter::synchronise(const TraceEvent& event, std::int64_t target, OTF2_TimeStamp time) {
  constexpr OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
  if (event.kind == trace::Kind::collective) {
    done(OTF2_EvtWriter_RmaCollectiveBegin(events_, nullptr, time));
    done(OTF2_EvtWriter_RmaCollectiveEnd(events_, nullptr, time, OTF2_COLLECTIVE_OP_BARRIER, level, event.id,
                                         OTF2_COLLECTIVE_ROOT_NONE, event.bytes, event.received_bytes));
  } else if (target < 0) {
    done(OTF2_EvtWriter_RmaGroupSync(events_, nullptr, time, level, event.id, writer_.group(event.id)));
  } else {
    done(OTF2_EvtWriter_RmaSync(events_, nullptr, time, event.id, static_cast<std::uint32_t>(target),
                                OTF2_RMA_SYNC_TYPE_MEMORY));
  }
}

void RmaWriter::leave(OTF2_TimeStamp time) {
  if (completes_ == Completes::nothing) return;
  std::erase_if(pending_, [&](Access& access) {
    if (access.window != window_ || (target_ >= 0 && access.target != target_)) return false;
    if (!access.here)
      done(OTF2_EvtWriter_RmaOpCompleteNonBlocking(events_, nullptr, time, access.window, access.number));
    access.here = true;
    if (completes_ == Completes::here) return false;
    done(OTF2_EvtWriter_RmaOpCompleteRemote(events_, nullptr, time, access.window, access.number));
    return true;
  });
  completes_ = Completes::nothing;
}

void RmaWriter::finish(OTF2_TimeStamp time) {
  for (const std::uint32_t window : created_) done(OTF2_EvtWriter_RmaWinDestroy(events_, nullptr, time, window));
}

}  // namespace effort::tools::otf2
