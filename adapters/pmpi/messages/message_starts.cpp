// The starts of messages, requests and collectives, and new communicators.
#include "adapters/pmpi/messages/collective_bytes.hpp"
#include "adapters/pmpi/messages/message_call.hpp"

#include <algorithm>

namespace effort::pmpi {
namespace {

constexpr std::size_t most_found = 4096;

int tag_of(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }
int peer_of(const Communicator& c, int rank) { return rank == MPI_ANY_SOURCE ? -1 : c.world_rank(rank); }

/// Whether a receive failed because the message was too long.  It has taken the message nevertheless.
bool is_truncated(int error) {
  int kind = MPI_SUCCESS;
  return error != MPI_SUCCESS && PMPI_Error_class(error, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE;
}

}  // namespace

// ---- blocking

void MessageCall::send() {
  const int rank = a_.integer(3);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  open();
  const int peer = c->world_rank(rank);
  const std::uint64_t bytes = a_.bytes(1, 2);
  put(RecordKind::send, c, peer, bytes, a_.integer(4), 0);
  // The time of an exchange is charged to the rank received from.
  if (traffic_on)
    count_message(peer, bytes,
                  info(call_).role == Role::exchange && a_.integer(source_place(call_)) != MPI_PROC_NULL ? 0.0f : 1.0f);
}

void MessageCall::receive() {
  if (a_.integer(source_place(call_)) == MPI_PROC_NULL) return;
  communicator_ = communicator_at(info(call_).comm);
  if (!communicator_) return;
  use(*communicator_);
  open();
  if (records_ || a_.integer(source_place(call_)) == MPI_ANY_SOURCE) want_status(1);
}

/// A blocking receive is complete.
void MessageCall::received(bool succeeded) {
  if (!communicator_) return;
  MPI_Status copy;
  const MPI_Status* const s = succeeded ? status(copy) : nullptr;
  ++completions_;
  if (s)
    put(RecordKind::receive, communicator_, communicator_->world_rank(s->MPI_SOURCE), received_bytes(*s), s->MPI_TAG,
        0);
  else if (is_truncated(error_))
    received_part();
  if (traffic_on) {
    const int source = s ? s->MPI_SOURCE : call_ == Call::Mrecv ? MPI_ANY_SOURCE : a_.integer(source_place(call_));
    count_time(communicator_->world_rank(source), false);
  }
  drop(*communicator_);
}

/// A blocking receive has failed although it has taken its message.  Not every implementation fills the status then.
void MessageCall::received_part() {
  const bool found = call_ == Call::Mrecv;
  const int source = peer_of(*communicator_, found ? found_source_ : a_.integer(source_place(call_)));
  const int tag = tag_of(found ? found_tag_ : a_.integer(source_place(call_) + 1));
  if (source >= 0 && tag >= 0) put(RecordKind::receive, communicator_, source, 0, tag, 0);
}

// ---- requests

/// Adds a request for this call and sets number_; null if there are too many.
/// @param peer, tag  as records have them
inline MessageCall::Request* MessageCall::add(Communicator& c, int peer, int tag, bool sends) {
  number_ = shared().requests.add();
  if (number_ == none) return nullptr;
  use(c);
  Request& r = shared().requests[number_];
  r.communicator = &c;
  r.peer = peer;
  r.tag = tag;
  r.sends = sends;
  r.thread = slot_->number();
  return &r;
}

void MessageCall::start(bool sends) {
  const int rank = a_.integer(3);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(5);
  if (!c) return;
  const int peer = peer_of(*c, rank), tag = tag_of(a_.integer(4));
  add(*c, peer, tag, sends);
  open();
  const std::uint64_t bytes = sends ? a_.bytes(1, 2) : 0;
  put(sends ? RecordKind::send_start : RecordKind::receive_start, c, peer, bytes, tag, number_);
  if (traffic_on) count(peer, sends, sends, bytes);
}

/// Enters the number_-th request under its handle.
void MessageCall::bind(MPI_Request handle) {
  RequestTable& requests = shared().requests;
  const Word word = word_of(handle);
  if (__builtin_expect(requests.bind_alone(number_, word), 1)) return;
  const std::uint32_t before = requests.find(word);
  // Only completed sends share a handle.  Any other request must have been completed by a call that was not
  // intercepted.
  if (before != none && (requests[before].persistent || !requests[before].sends || !requests[number_].sends)) {
    requests.claim(word, requests[before].thread);
    if (requests[before].active) put(RecordKind::cancelled, nullptr, -1, 0, 0, before);
    forget(before);
  }
  if (requests.bind(number_, word)) return;
  put(RecordKind::send_done, nullptr, -1, 0, 0, number_);
  forget(number_);
}

/// The call starts a send and a receive under one request.  The request is recorded as that of the receive, or of the
/// send if the call receives from MPI_PROC_NULL.
void MessageCall::start_exchange() {
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  const int to = a_.integer(3), place = source_place(call_), from = a_.integer(place);
  if (to != MPI_PROC_NULL) {
    add(*c, c->world_rank(to), a_.integer(4), true);
    open();
    const std::uint64_t bytes = a_.bytes(1, 2);
    put(RecordKind::send_start, c, c->world_rank(to), bytes, a_.integer(4), number_);
    if (traffic_on) count_message(c->world_rank(to), bytes);
  }
  if (from == MPI_PROC_NULL) return;
  const std::uint32_t send = number_;
  const int peer = peer_of(*c, from), tag = tag_of(a_.integer(place + 1));
  if (Request* const r = add(*c, peer, tag, false)) r->companion = send;
  open();
  put(RecordKind::receive_start, c, peer, 0, tag, number_);
  if (number_ == none) number_ = send;
}

void MessageCall::started(bool succeeded, int request_place) {
  if (number_ == none) return;
  const MPI_Request handle = succeeded ? a_.request(request_place) : MPI_REQUEST_NULL;
  if (handle != MPI_REQUEST_NULL) return bind(handle);
  put(RecordKind::cancelled, nullptr, -1, 0, 0, number_);
  if (const std::uint32_t send = shared().requests[number_].companion; send != none)
    put(RecordKind::cancelled, nullptr, -1, 0, 0, send);
  forget(number_);
}

void MessageCall::persistent(bool sends) {
  const MessagePlaces at = message_places(call_);
  const int rank = a_.integer(at.rank);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(at.comm);
  if (!c) return;
  Request* const r = add(*c, peer_of(*c, rank), tag_of(a_.integer(at.tag)), sends);
  if (!r) return;
  r->partitioned = is_partitioned(call_);
  if (sends || r->partitioned) r->bytes = a_.bytes(at.count, at.type);
  if (r->partitioned) r->bytes *= static_cast<std::uint64_t>(std::max(a_.integer(1), 0));
  r->persistent = true;
  r->active = false;
  bind(a_.request(at.request));
}

void MessageCall::persistent_collective() {
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  const Exchanged e = exchanged(call_, a_, *c);
  Request* const r = add(*c, e.root, 0, true);
  if (!r) return;
  r->bytes = e.sent;
  r->received = e.received;
  r->persistent = r->collective = true;
  r->active = false;
  keep_parts(*r, *c);
  bind(a_.request(info(call_).comm + 2));
}

void MessageCall::start_persistent() {
  RequestTable& requests = shared().requests;
  const Requests given = this->requests();
  for (int i = 0; i < given.n; ++i) {
    const std::uint32_t number = requests.find(word_of(a_.request(given.place, i)));
    if (number == none || !requests[number].persistent || requests[number].active) continue;
    Request& r = requests[number];
    r.active = true;
    r.cancelled = r.reported = false;
    r.thread = slot_->number();
    open();
    if (r.collective)
      put(RecordKind::collective, r.communicator, r.peer, r.bytes, r.received);
    else
      put(r.sends ? RecordKind::send_start : RecordKind::receive_start, r.communicator, r.peer, r.sends ? r.bytes : 0,
          r.tag, number);
    if (!traffic_on) continue;
    if (r.parts() != none)
      for (const Part& p : shared().traffic.kept(r.parts())) parts_.push_back(p);
    else if (!r.collective)
      count(r.peer, r.sends, r.sends, r.bytes);
  }
}

/// The call has failed, and it is unknown which of the requests it has started.
void MessageCall::not_started() {
  RequestTable& requests = shared().requests;
  const Requests given = this->requests();
  for (int i = 0; i < given.n; ++i) {
    const std::uint32_t number = requests.find(word_of(a_.request(given.place, i)));
    if (number == none || !requests[number].persistent || !requests[number].active) continue;
    requests[number].active = false;
    if (!requests[number].collective) put(RecordKind::cancelled, nullptr, -1, 0, 0, number);
  }
}

// ---- matched probes

void MessageCall::found_message() {
  const MPI_Message message = a_.message(call_ == Call::Mprobe ? 3 : 4);
  MPI_Status copy;
  const MPI_Status* const s = status(copy);
  if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC || !s) return;
  Communicator* const c = communicator_at(2);
  if (!c || shared().found.size() >= most_found) return;
  if (shared().found.insert_or_assign(word_of(message), Found{c, s->MPI_SOURCE, s->MPI_TAG}).second) use(*c);
}

void MessageCall::receive_found() {
  const auto known = shared().found.find(word_of(a_.message(3)));
  if (known == shared().found.end()) return;
  communicator_ = known->second.communicator;  // takes over the use count
  found_source_ = known->second.source;
  found_tag_ = known->second.tag;
  shared().found.erase(known);
  open();
  want_status(1);
}

void MessageCall::start_found() {
  const auto known = shared().found.find(word_of(a_.message(3)));
  if (known == shared().found.end()) return;
  const Found found = known->second;
  shared().found.erase(known);
  const int peer = peer_of(*found.communicator, found.source), tag = tag_of(found.tag);
  add(*found.communicator, peer, tag, false);
  open();
  put(RecordKind::receive_start, found.communicator, peer, 0, tag, number_);
  drop(*found.communicator);
}

// ---- collectives and communicators

void MessageCall::collective() {
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  open();
  if (!slot_->events.on()) return;
  const Exchanged e = exchanged(call_, a_, *c);
  put(RecordKind::collective, c, e.root, e.sent, e.received);
}

/// Keeps the parts, so that the time of its completion counts for the same pairs of ranks.
void MessageCall::keep_parts(Request& r, Communicator& c) {
  if (!traffic_on) return;
  std::vector<Part> parts;
  add_parts(parts, call_, a_, c, size_of(call_, a_, c));
  {
    const AmountScope scope;
    const double all = AmountScope::amount(static_cast<double>(parts.size()));
    for (Part& p : parts) p.weight = static_cast<float>(1 / all);
  }
  if (!parts.empty()) r.companion = shared().traffic.keep(std::move(parts));
}

/// In the trace, a collective ends where it starts.
void MessageCall::started_collective(bool succeeded) {
  if (!traffic_on || !succeeded) return;
  Communicator* const c = communicator_at(info(call_).comm);
  const MPI_Request handle = c ? a_.request(info(call_).comm + 1) : MPI_REQUEST_NULL;
  if (handle == MPI_REQUEST_NULL) return;
  Request* const r = add(*c, -1, 0, true);
  if (!r) return;
  r->collective = true;
  keep_parts(*r, *c);
  bind(handle);
}

void MessageCall::made_communicator(bool succeeded) {
  const int place = new_communicator_place(call_);
  if (place < 0) return;
  const MPI_Comm made = succeeded ? pointed_at(a_, place) : MPI_COMM_NULL;
  saw_new(call_, a_.communicator(0), made, call_ == Call::Comm_create_group ? a_.integer(2) : 0);
}

}  // namespace effort::pmpi
