// Records of one-sided communication.
#include "tools/trace/input/otf2_location.hpp"

namespace effort::tools::otf2 {

/// In a struct, so that they reach the members.
struct LocationReader::RmaCallbacks {
  using Attributes = OTF2_AttributeList*;
  static LocationReader& of(void* data) { return static_cast<LocationReader*>(data)->handled(); }

  static OTF2_CallbackCode put(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                               OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
    of(data).add_access(time, window, remote, bytes, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode get(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                               OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
    of(data).add_access(time, window, remote, 0, bytes);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode atomic(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                  OTF2_RmaWinRef window, std::uint32_t remote, OTF2_RmaAtomicType, std::uint64_t sent,
                                  std::uint64_t received, std::uint64_t) {
    of(data).add_access(time, window, remote, sent, received);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode sync(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                OTF2_RmaWinRef window, std::uint32_t remote, OTF2_RmaSyncType) {
    of(data).add_access(time, window, remote, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode lock(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t, OTF2_LockType) {
    of(data).add_access(time, window, remote, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode unlock(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                  OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t) {
    of(data).add_access(time, window, remote, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode group_sync(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                      OTF2_RmaSyncLevel, OTF2_RmaWinRef window, OTF2_GroupRef) {
    of(data).add_access(time, window, std::nullopt, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode collective(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data, Attributes,
                                      OTF2_CollectiveOp, OTF2_RmaSyncLevel, OTF2_RmaWinRef window, std::uint32_t root,
                                      std::uint64_t sent, std::uint64_t received) {
    LocationReader& r = of(data);
    r.add_collective(time, r.communicator_of(window), root, sent, received);
    return OTF2_CALLBACK_SUCCESS;
  }
  // The others are implied: an access by its start, a lock by its acquisition.
  static OTF2_CallbackCode wanted_lock(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes,
                                       OTF2_RmaWinRef, std::uint32_t, std::uint64_t, OTF2_LockType) {
    of(data);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode of_access(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes,
                                     OTF2_RmaWinRef, std::uint64_t) {
    of(data);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode of_window(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes,
                                     OTF2_RmaWinRef) {
    of(data);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode begin(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, Attributes) {
    of(data);
    return OTF2_CALLBACK_SUCCESS;
  }
};

void LocationReader::set_rma_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  using C = RmaCallbacks;
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, C::put);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, C::get);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks, C::atomic);
  OTF2_EvtReaderCallbacks_SetRmaSyncCallback(callbacks, C::sync);
  OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(callbacks, C::lock);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, C::unlock);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, C::group_sync);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(callbacks, C::begin);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, C::collective);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, C::wanted_lock);
  OTF2_EvtReaderCallbacks_SetRmaTryLockCallback(callbacks, C::wanted_lock);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(callbacks, C::of_access);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks, C::of_access);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, C::of_access);
  OTF2_EvtReaderCallbacks_SetRmaOpTestCallback(callbacks, C::of_access);
  OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(callbacks, C::of_window);
  OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(callbacks, C::of_window);
  OTF2_EvtReaderCallbacks_SetRmaWaitChangeCallback(callbacks, C::of_window);
}

std::uint32_t LocationReader::communicator_of(std::uint32_t window) const {
  const auto at = tables_.definitions.windows.find(window);
  return at == tables_.definitions.windows.end() ? OTF2_UNDEFINED_COMM : at->second;
}

void LocationReader::add_access(OTF2_TimeStamp time, std::uint32_t window, std::optional<std::uint32_t> target,
                                std::uint64_t sent, std::uint64_t received) {
  TraceEvent& event = add(trace::Kind::one_sided, time);
  const std::uint32_t communicator = communicator_of(window);
  const auto at = tables_.communicators.find(communicator);
  event.id = at == tables_.communicators.end() ? 0 : at->second;
  event.bytes = sent;
  event.received_bytes = received;
  if (!target) return;
  event.peer = world_rank(communicator, *target);
  counts_.unknown_peers += event.peer < 0 ? 1 : 0;
}

}  // namespace effort::tools::otf2
