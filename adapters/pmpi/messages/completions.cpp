// The completions of requests.
#include "adapters/pmpi/messages/message_call.hpp"

#include <cstring>

namespace effort::pmpi {

const char* MessageCall::statuses() const {
  if (own_status_) return reinterpret_cast<const char*>(statuses_.data());
  const int place = status_place(call_);
  return place < 0 || a_.status_ignored(place) ? nullptr : a_.pointer<const char>(place);
}

const MPI_Status* MessageCall::status(MPI_Status& copy) const {
  const char* const from = statuses();
  return from ? static_cast<const MPI_Status*>(std::memcpy(&copy, from, sizeof copy)) : nullptr;
}

/// Runs before the call, which changes the handles.  It starts from the last one: of several requests with one handle,
/// the newest is found first, and it is most likely the last in the array.
void MessageCall::claim_requests(Requests given, int status_place, bool status_array) {
  RequestTable& requests = shared().requests;
  const int n = given.n;
  if (n <= 0 || requests.size() == 0) return;
  claimed_.resize(static_cast<std::size_t>(n));
  bool statuses = false, records = false;
  for (int i = n; i-- > 0;) {
    std::uint32_t& number = claimed_[static_cast<std::size_t>(i)];
    const MPI_Request handle = a_.request(given.place, i);
    number = handle == MPI_REQUEST_NULL ? none : requests.claim(word_of(handle), slot_->number());
    if (number == none) continue;
    const Request& r = requests[number];
    if (!r.active) {
      requests.put_back(number);
      number = none;
      continue;
    }
    any_ = true;
    records |= !r.collective;
    statuses |= (!r.sends && !r.partitioned && !r.reported && (records_ || r.peer < 0)) || r.cancelled;
  }
  if (!records) return;
  open();
  if (statuses) want_status(status_place, status_array ? n : 1);
}

/// A receive is complete.
inline void MessageCall::put_received(const Request& r, std::uint32_t number, const char* raw_status) {
  MPI_Status status;
  std::memcpy(&status, raw_status, sizeof status);
  // MPICH 4.0 leaves the status of MPI_Isendrecv empty.  In that case the values that the host has asked for are used,
  // which are right.
  const bool filled = r.tag < 0 || status.MPI_TAG == r.tag;
  const int source = r.peer >= 0 ? r.peer : r.communicator->world_rank(status.MPI_SOURCE);
  put(RecordKind::receive_done, r.communicator, source, filled ? received_bytes(status) : 0,
      filled ? status.MPI_TAG : r.tag, number);
}

/// Records a receive that takes a message, of which nothing is known but what it was posted with: otherwise all later
/// messages would be taken for the ones before them.
/// @return false if it may take a message of any rank or tag
bool MessageCall::put_unseen(const Request& r, std::uint32_t number) {
  if (r.peer < 0 || r.tag < 0) return false;
  put(RecordKind::receive_done, r.communicator, r.peer, 0, r.tag, number);
  return true;
}

/// Records that a request is complete.
void MessageCall::report(std::uint32_t number, const char* raw_status) {
  Request& r = shared().requests[number];
  if (traffic_on) count_completed(r, raw_status);
  if (r.reported) return;
  r.reported = true;
  if (r.collective) return;
  ++completions_;
  if (r.companion != none) put(RecordKind::send_done, nullptr, -1, 0, 0, r.companion);
  if (r.sends && !r.cancelled) return put(RecordKind::send_done, nullptr, -1, 0, 0, number);
  MPI_Status status;
  if (raw_status) std::memcpy(&status, raw_status, sizeof status);
  int cancelled = 0;
  if (r.cancelled && raw_status) PMPI_Test_cancelled(&status, &cancelled);
  if (r.partitioned && !r.sends && !cancelled)
    return put(RecordKind::receive_done, r.communicator, r.peer, r.bytes, r.tag, number);
  if (!cancelled && !r.sends && !raw_status && put_unseen(r, number)) return;
  if (cancelled || (!r.sends && !raw_status)) return put(RecordKind::cancelled, nullptr, -1, 0, 0, number);
  if (r.sends) return put(RecordKind::send_done, nullptr, -1, 0, 0, number);
  put_received(r, number, raw_status);
}

/// The time to complete a request is divided among the messages that the call completes.
inline void MessageCall::count_completed(const Request& r, const char* raw_status) {
  if (r.cancelled) return;
  if (r.parts() != none) {
    for (Part p : shared().traffic.kept(r.parts())) {
      p.counts = false;
      parts_.push_back(p);
    }
    return;
  }
  int peer = r.peer;
  if (peer < 0 && raw_status) {
    MPI_Status status;
    std::memcpy(&status, raw_status, sizeof status);
    peer = r.communicator->world_rank(status.MPI_SOURCE);
  }
  count_time(peer, r.sends);
}

void MessageCall::forget(std::uint32_t number) {
  RequestTable& requests = shared().requests;
  const Request& r = requests[number];
  const std::uint32_t companion = r.collective ? none : r.companion;
  if (r.parts() != none) shared().traffic.drop(r.parts());
  drop(*r.communicator);
  requests.release(number);
  if (companion != none) forget(companion);
}

/// Ends a claimed request.
void MessageCall::retire(std::uint32_t number) {
  RequestTable& requests = shared().requests;
  if (!requests[number].persistent) return forget(number);
  requests[number].active = false;
  requests.put_back(number);
}

/// A claimed request is complete.
inline void MessageCall::complete_claimed(std::uint32_t number, const char* raw_status) {
  RequestTable& requests = shared().requests;
  const Request& r = requests[number];
  if (__builtin_expect(!r.ordinary() || (!r.sends && !raw_status && records_), 0)) {
    report(number, raw_status);
    return retire(number);
  }
  if (traffic_on) count_completed(r, raw_status);
  ++completions_;
  if (r.sends)
    put(RecordKind::send_done, nullptr, -1, 0, 0, number);
  else if (raw_status)
    put_received(r, number, raw_status);
  drop(*r.communicator);
  requests.release(number);
}

/// @param i  its place in the call's array
void MessageCall::complete(int i, const char* status) {
  if (i < 0 || static_cast<std::size_t>(i) >= claimed_.size()) return;
  std::uint32_t& number = claimed_[static_cast<std::size_t>(i)];
  if (number == none) return;
  complete_claimed(number, status);
  number = none;
}

/// All claimed requests are complete.
void MessageCall::complete_all(const char* statuses) {
  for (const std::uint32_t number : claimed_) {
    if (number != none) complete_claimed(number, statuses);
    if (statuses) statuses += sizeof(MPI_Status);
  }
}

void MessageCall::keep_others() {
  for (const std::uint32_t number : claimed_)
    if (number != none) shared().requests.put_back(number);
}

void MessageCall::completed(bool succeeded) {
  if (!any_) return;
  if (!succeeded) return completed_with_error();
  const char* const raw_status = statuses();
  const auto status = [&](int k) {
    return raw_status ? raw_status + static_cast<std::size_t>(k) * sizeof(MPI_Status) : nullptr;
  };
  switch (call_) {
    case Call::Test:
    case Call::Testall:
      if (a_.result(flag_place(call_)) == 0) break;
      [[fallthrough]];
    case Call::Wait:
    case Call::Waitall: return complete_all(raw_status);
    case Call::Testany:
      if (a_.result(flag_place(call_)) == 0) break;
      [[fallthrough]];
    case Call::Waitany: complete(from_zero(a_.result(2)), status(0)); break;
    case Call::Waitsome:
    case Call::Testsome: {
      const int n = a_.result(2);  // or MPI_UNDEFINED
      for (int k = 0; k < n; ++k) complete(from_zero(a_.result(3, k)), status(k));
      break;
    }
    default: break;
  }
  keep_others();
}

/// After an error, a request is finished if its handle is null.  Its status, if one has been set, holds its outcome.
void MessageCall::completed_with_error() {
  const int n = static_cast<int>(claimed_.size());
  const bool each = call_ == Call::Waitall || call_ == Call::Testall;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t number = claimed_[static_cast<std::size_t>(i)];
    if (number == none || a_.request(requests().place, i) != MPI_REQUEST_NULL) continue;
    const MPI_Status* const s = each && own_status_ ? &statuses_[static_cast<std::size_t>(i)] : nullptr;
    complete(i, s && s->MPI_ERROR == MPI_SUCCESS ? reinterpret_cast<const char*>(s) : nullptr);
  }
  keep_others();
}

// ---- local calls

/// MPI_Request_get_status: the completion is recorded here, although the request continues to exist.
void MessageCall::look_at_request() {
  RequestTable& requests = shared().requests;
  const MPI_Request handle = a_.fortran ? a_.request(0) : from_word<MPI_Request>(a_.words[0]);
  number_ = requests.claim(word_of(handle), slot_->number());
  if (number_ == none) return;
  const Request& r = requests[number_];
  if (!r.active || r.reported || r.collective) return;
  open();
  if (!r.sends || r.cancelled) want_status(1);
}

void MessageCall::looked_at_request(bool succeeded) {
  if (number_ == none) return;
  const Request& r = shared().requests[number_];
  if (succeeded && r.active && !r.reported && a_.result(1) != 0) report(number_, statuses());
  shared().requests.put_back(number_);
}

void MessageCall::cancel_request() {
  RequestTable& requests = shared().requests;
  const std::uint32_t number = requests.find(word_of(a_.request(0)));
  if (number != none) requests[number].cancelled = true;
}

void MessageCall::free_request() {
  number_ = shared().requests.claim(word_of(a_.request(0)), slot_->number());
  if (number_ == none) return;
  if (const Request& r = shared().requests[number_]; r.active && !r.collective) open();
}

/// The host does not wait for the request.  A send continues, and a receive still takes its message.
void MessageCall::freed_request(bool succeeded) {
  if (number_ == none) return;
  Request& r = shared().requests[number_];
  if (!succeeded) return shared().requests.put_back(number_);
  if (r.active && !r.reported && !r.collective && r.companion != none)
    put(RecordKind::send_done, nullptr, -1, 0, 0, r.companion);
  if (r.active && !r.reported && !r.collective && (r.sends || r.cancelled || !put_unseen(r, number_)))
    put(r.sends && !r.cancelled ? RecordKind::send_done : RecordKind::cancelled, nullptr, -1, 0, 0, number_);
  forget(number_);
}

}  // namespace effort::pmpi
