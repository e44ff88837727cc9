// A call whose messages are followed, from before it begins until after it has ended.
#pragma once

#include "adapters/pmpi/messages/call_messages.hpp"
#include "adapters/pmpi/messages/communicators.hpp"
#include "adapters/pmpi/messages/message_arguments.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "adapters/pmpi/messages/request_table.hpp"
#include "adapters/pmpi/messages/traffic.hpp"
#include "runtime/measure/careful.hpp"

#include "effort/effort.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace effort::pmpi {

/// A message that MPI_Mprobe has found.
struct Found {
  Communicator* communicator;
  int source, tag;
};

/// The state that all threads share.
struct Shared {
  std::mutex mutex;
  bool concurrent = true;  ///< MPI_THREAD_MULTIPLE; otherwise the host's calls of MPI follow each other
  RequestTable requests;
  Traffic traffic;
  std::unordered_map<Word, Found> found;            ///< by message
  std::unordered_map<Word, Communicator*> windows;  ///< by window; used as long as it exists
};
extern __attribute__((visibility("hidden"))) Shared* shared_by_threads;  ///< never freed, because calls may come late
inline Shared& shared() { return *shared_by_threads; }

/// Locks the state that threads share.
class SharedLock {
 public:
  SharedLock() {
    if (shared().concurrent) shared().mutex.lock();
  }
  ~SharedLock() {
    if (shared().concurrent) shared().mutex.unlock();
  }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;
};

inline MPI_Comm pointed_at(const Arguments& a, int place) {
  return a.fortran ? PMPI_Comm_f2c(*a.pointer<MPI_Fint>(place)) : *a.pointer<MPI_Comm>(place);
}

/// Follows one thread's calls, one at a time.  before() and after() are called with the slot's gate closed.
class MessageCall {
 public:
  /// Before the call: records what it starts, and notes what it may complete.  If the host ignores statuses that are
  /// needed to learn what was received, the call gets statuses of this library.
  /// @param words  the call's arguments, of which it may replace the status
  /// @param begun  the call has a region of its own, which has just been begun
  template <Call call>
  void before(Word* words, bool fortran, measure::ThreadSlot& slot, effort_region_id region, bool begun) noexcept;
  /// After the call: records what has been completed, and counts the call in the communication matrix.
  /// @param error  what the call has returned
  /// @param ticks  spent in the call
  template <Call call>
  void after(int error, std::uint64_t ticks) noexcept;
  /// How many completions the present call has recorded.
  std::uint32_t completions() const { return completions_; }

 private:
  static constexpr std::uint32_t none = RequestTable::none;
  using RecordKind = recording::RecordKind;
  using Request = RequestTable::Request;

  // message_starts.cpp
  void send();
  void receive();
  void received(bool succeeded);
  void received_part();
  Request* add(Communicator& c, int peer, int tag, bool sends);
  void start(bool sends);
  void bind(MPI_Request handle);
  void start_exchange();
  void started(bool succeeded, int request_place);
  void persistent(bool sends);
  void persistent_collective();
  void start_persistent();
  void not_started();
  void collective();
  void keep_parts(Request& r, Communicator& c);
  void started_collective(bool succeeded);
  void with_doublings(int count_place);
  void found_message();
  void receive_found();
  void start_found();
  void made_communicator(bool succeeded);

  // accesses.cpp
  void access(int target, std::uint64_t sent, std::uint64_t received);
  void access();
  void made_window(bool succeeded);
  void free_window();
  void synchronise();

  // completions.cpp
  struct Requests {
    int place, n;
  };
  Requests requests() const;
  void claim_requests(Requests given, int status_place, bool status_array);
  void completed(bool succeeded);
  void completed_with_error();
  void complete(int i, const char* status);
  void complete_all(const char* statuses);
  void complete_claimed(std::uint32_t number, const char* status);
  void keep_others();
  /// Converts an index from the call to one that starts at 0.
  int from_zero(int place) const { return a_.fortran ? place - 1 : place; }
  void look_at_request();
  void looked_at_request(bool succeeded);
  void free_request();
  void freed_request(bool succeeded);
  void cancel_request();
  void report(std::uint32_t number, const char* status);
  void put_received(const Request& r, std::uint32_t number, const char* status);
  bool put_unseen(const Request& r, std::uint32_t number);
  void retire(std::uint32_t number);
  void forget(std::uint32_t number);
  void count_completed(const Request& r, const char* status);
  /// The first status, of whatever alignment; null if there is none.
  const char* statuses() const;
  /// Copies the first status to `copy`; null if there is none.
  const MPI_Status* status(MPI_Status& copy) const;

  template <Call call>
  void start_as();
  template <Call call>
  void end_as(bool succeeded);
  template <Call call>
  void count_call(bool succeeded, std::uint64_t ticks);
  void close();

  /// A part of the call in the communication matrix.  Messages of a rank to itself do not count.
  void count(int peer, bool sends, bool counts, std::uint64_t bytes, float weight = 1) {
    if (peer >= 0 && peer != shared().traffic.me()) parts_.push_back({peer, weight, bytes, sends, counts});
  }
  void count_message(int to, std::uint64_t bytes, float weight = 1) { count(to, true, true, bytes, weight); }
  void count_time(int peer, bool sends) { count(peer, sends, false, 0); }

  /// Records need the time of the call's boundaries.  Adds them if the call has no region of its own.
  void open() {
    if (__builtin_expect(!begun_ && !apart_, 0)) begin_apart();
  }
  void begin_apart();
  void put(RecordKind what, Communicator* c, int peer, Word second, Word third) {
    if (!slot_->events.on()) return;  // do not register an id that nothing uses
    slot_->events.message(recording::message(what, c ? id_of(*c) : 0, peer), second, third);
  }
  void put(RecordKind what, Communicator* c, int peer, std::uint64_t bytes, int tag, std::uint32_t request) {
    put(what, c, peer, bytes, static_cast<std::uint32_t>(tag) | static_cast<Word>(request) << 32);
  }
  Communicator* communicator_at(int place) { return communicator(a_.communicator(place)); }
  /// Replaces the status or the `n` statuses that the host does not want.
  void want_status(int n) { want_status(status_place(call_), n); }
  void want_status(int place, int n);

  Call call_ = Call::count;
  DataArguments a_{};
  Word* words_ = nullptr;
  measure::ThreadSlot* slot_ = nullptr;
  bool begun_ = false;       ///< the call has a region of its own
  bool apart_ = false;       ///< its boundaries have been recorded here instead
  bool own_status_ = false;  ///< the statuses are in statuses_
  std::uint32_t region_ = 0;
  Communicator* communicator_ = nullptr;  ///< of a receive; used until it is over
  int found_source_ = 0, found_tag_ = 0;  ///< of the message that MPI_Mrecv receives
  int error_ = MPI_SUCCESS;
  std::uint32_t number_ = none;  ///< of the request that the call is about
  bool any_ = false;
  bool records_ = false;  ///< into the trace
  std::uint32_t completions_ = 0;
  std::vector<std::uint32_t> claimed_;  ///< if any_: by position among the call's requests
  std::vector<MPI_Status> statuses_;
  std::vector<Part> parts_;  ///< of the present call in the matrix
};

template <Call call>
inline void MessageCall::start_as() {
  constexpr Role role = info(call).role;
  if constexpr (role == Role::send) send();
  if constexpr (role == Role::receive) receive();
  if constexpr (role == Role::exchange) send(), receive();
  if constexpr (role == Role::isend) start(true);
  if constexpr (role == Role::ireceive) start(false);
  if constexpr (role == Role::iexchange) start_exchange();
  if constexpr (role == Role::put) access();
  if constexpr (role == Role::start_persistent) start_persistent();
  if constexpr (role == Role::complete) claim_requests(requests(), status_place(call), has_status_array(call));
  if constexpr (role == Role::poll) {
    if constexpr (call == Call::Improbe)
      want_status(1);
    else if constexpr (call == Call::Request_get_status)
      look_at_request();
    else
      claim_requests(requests(), status_place(call), has_status_array(call));
  }
  if constexpr (role == Role::sync || role == Role::rooted || starts_collective(call)) {
    if constexpr (blocking(call) == Call::Allreduce || blocking(call) == Call::Barrier)
      with_doublings(blocking(call) == Call::Barrier ? -1 : 2);
    else
      collective();
  }
  if constexpr (call == Call::Imrecv) start_found();
  if constexpr (role == Role::free) saw_freed(pointed_at(a_, 0));
  if constexpr (role == Role::quiet) call == Call::Cancel ? cancel_request() : free_request();
  if constexpr (call == Call::Mrecv) receive_found();
  if constexpr (call == Call::Mprobe) want_status(1);
  if constexpr (call == Call::Mprobe || call == Call::Probe) open();  // it may wait for a late sender
  if constexpr (call == Call::Win_free) free_window();
  if constexpr (synchronised_window_place(call) >= 0) synchronise();
}

/// The requests among the arguments.
inline MessageCall::Requests MessageCall::requests() const {
  switch (call_) {
    case Call::Wait:
    case Call::Test:
    case Call::Start: return {0, 1};
    case Call::Startall:
    case Call::Waitany:
    case Call::Waitall:
    case Call::Waitsome:
    case Call::Testany:
    case Call::Testall:
    case Call::Testsome: return {1, a_.integer(0)};
    default: return {0, 0};
  }
}

/// As collective(), for collectives that exchange `count` elements of a type several times, or nothing.
__attribute__((always_inline)) inline void MessageCall::with_doublings(int count_place) {
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  open();
  const std::uint64_t bytes = count_place < 0 ? 0 : c->doublings * a_.bytes(count_place, count_place + 1);
  put(RecordKind::collective, c, -1, bytes, bytes);
}

template <Call call>
inline void MessageCall::end_as(bool succeeded) {
  constexpr Role role = info(call).role;
  if constexpr (role == Role::receive || role == Role::exchange || call == Call::Mrecv)
    received(succeeded);
  else if constexpr (role == Role::isend || role == Role::ireceive || role == Role::iexchange || call == Call::Imrecv)
    started(succeeded, new_request_place(call));
  else if constexpr (starts_collective(call))
    started_collective(succeeded);
  else if constexpr (role == Role::persistent_send || role == Role::persistent_receive)
    succeeded ? persistent(role == Role::persistent_send) : void();
  else if constexpr (role == Role::persistent_collective)
    succeeded ? persistent_collective() : void();
  else if constexpr (new_window_place(call) >= 0)
    made_window(succeeded);
  else if constexpr (role == Role::start_persistent)
    succeeded ? void() : not_started();
  else if constexpr (call == Call::Improbe)
    succeeded&& a_.result(3) != 0 ? found_message() : void();
  else if constexpr (call == Call::Mprobe)
    succeeded ? found_message() : void();
  else if constexpr (call == Call::Request_get_status)
    looked_at_request(succeeded);
  else if constexpr (role == Role::complete || role == Role::poll)
    completed(succeeded);
  else if constexpr (role == Role::quiet)
    freed_request(succeeded);
  else
    made_communicator(succeeded);
}

template <Call given>
inline void MessageCall::before(Word* words, bool fortran, measure::ThreadSlot& slot, effort_region_id region,
                                bool begun) noexcept {
  constexpr Call call = plain(given);
  call_ = call;
  words_ = words;
  a_ = {Arguments::of(given, words, fortran)};
  slot_ = &slot;
  begun_ = begun;
  apart_ = own_status_ = any_ = false;
  records_ = slot.events.on();
  region_ = static_cast<std::uint32_t>(region);
  communicator_ = nullptr;
  number_ = none;
  completions_ = 0;
  parts_.clear();
  if constexpr (acts_before(call)) {
    try {
      const SharedLock held;
      start_as<call>();
    } catch (const std::exception&) {
      end_messages();
    }
  }
}

template <Call call>
inline void MessageCall::count_call(bool succeeded, std::uint64_t ticks) {
  constexpr Role role = info(call).role;
  Traffic& traffic = shared().traffic;
  if constexpr (role == Role::sync || role == Role::rooted || starts_collective(call)) {
    Communicator* const c = succeeded ? communicator_at(info(call).comm) : nullptr;
    if (c) traffic.add(region_, call, a_, *c, ticks);
  } else if (!parts_.empty()) {
    if (succeeded) traffic.add(region_, parts_, ticks);
  }
}

template <Call given>
inline void MessageCall::after(int error, std::uint64_t ticks) noexcept {
  constexpr Call call = plain(given);
  const bool succeeded = error == MPI_SUCCESS;
  if constexpr (acts_before(call))
    if (__builtin_expect(apart_, 0)) close();
  if constexpr (acts_after(call) || counts_in_matrix(call)) {
    if (!messages_on) return;
    if constexpr (!acts_after(call))
      if (!traffic_on) return;
    try {
      const SharedLock held;
      error_ = error;
      if constexpr (acts_after(call)) end_as<call>(succeeded);
      if constexpr (counts_in_matrix(call))
        if (traffic_on) count_call<call>(succeeded, ticks);
    } catch (const std::exception&) {
      end_messages();
    }
  }
}

}  // namespace effort::pmpi
