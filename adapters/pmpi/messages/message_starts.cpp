// The starts of messages, requests and collectives, and new communicators.
#include "adapters/pmpi/messages/collective_bytes.hpp"
#include "adapters/pmpi/messages/message_call.hpp"
#include "adapters/pmpi/messages/traffic_rules.hpp"

namespace effort::pmpi {
namespace {

constexpr std::size_t most_found = 4096;

int tag_of(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }
int peer_of(const Communicator& c, int rank) { return rank == MPI_ANY_SOURCE ? -1 : c.world_rank(rank); }

}  // namespace

// ---- blocking

void MessageCall::send() {
  const int rank = a_.integer(3);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  open();
  put(What::send, c, c->world_rank(rank), a_.bytes(1, 2), a_.integer(4), 0);
}

void MessageCall::receive() {
  const int place = call_ == Call::Sendrecv ? 8 : call_ == Call::Sendrecv_replace ? 5 : 3;
  if (a_.integer(place) == MPI_PROC_NULL) return;
  communicator_ = communicator_at(info(call_).comm);
  if (!communicator_) return;
  use(*communicator_);
  open();
  want_status(1);
}

/// A blocking receive is complete.
void MessageCall::received(bool succeeded) {
  if (!communicator_) return;
  MPI_Status copy;
  const MPI_Status* const s = succeeded ? status(copy) : nullptr;
  ++completions_;
  if (s) put(What::receive, communicator_, communicator_->world_rank(s->MPI_SOURCE), received_bytes(*s), s->MPI_TAG, 0);
  drop(*communicator_);
}

// ---- requests

/// A request of this call, number_; null if there are too many.
MessageCall::Request* MessageCall::add(Communicator& c, int rank, int tag, bool sends) {
  number_ = shared().requests.add();
  if (number_ == none) return nullptr;
  use(c);
  Request& r = shared().requests[number_];
  r.communicator = &c;
  r.peer = peer_of(c, rank);
  r.tag = tag_of(tag);
  r.sends = sends;
  r.thread = slot_->number();
  return &r;
}

void MessageCall::start(bool sends) {
  const int rank = a_.integer(3);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(5);
  if (!c) return;
  const int tag = a_.integer(4);
  add(*c, rank, tag, sends);
  open();
  put(sends ? What::send_start : What::receive_start, c, peer_of(*c, rank), sends ? a_.bytes(1, 2) : 0, tag_of(tag),
      number_);
}

/// Enters the number_-th request under its handle.
void MessageCall::bind(MPI_Request handle) {
  RequestTable& requests = shared().requests;
  const Word word = word_of(handle);
  if (__builtin_expect(requests.bind_alone(number_, word), 1)) return;
  const std::uint32_t before = requests.find(word);
  // Only completed sends share a handle.  Anything else was completed by a call that was not seen.
  if (before != none && (requests[before].persistent || !requests[before].sends || !requests[number_].sends)) {
    requests.claim(word, requests[before].thread);
    if (requests[before].active) put(What::cancelled, nullptr, -1, 0, 0, before);
    forget(before);
  }
  if (requests.bind(number_, word)) return;
  put(What::send_done, nullptr, -1, 0, 0, number_);
  forget(number_);
}

void MessageCall::started(bool succeeded) {
  if (number_ == none) return;
  const MPI_Request handle = succeeded ? a_.request(call_ == Call::Imrecv ? 4 : 6) : MPI_REQUEST_NULL;
  if (handle != MPI_REQUEST_NULL) return bind(handle);
  put(What::cancelled, nullptr, -1, 0, 0, number_);
  forget(number_);
}

void MessageCall::persistent(bool sends) {
  const int rank = a_.integer(3);
  if (rank == MPI_PROC_NULL) return;
  Communicator* const c = communicator_at(5);
  if (!c) return;
  Request* const r = add(*c, rank, a_.integer(4), sends);
  if (!r) return;
  if (sends) r->bytes = a_.bytes(1, 2);
  r->persistent = true;
  r->active = false;
  bind(a_.request(6));
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
    put(r.sends ? What::send_start : What::receive_start, r.communicator, r.peer, r.bytes, r.tag, number);
  }
}

/// The call has failed.  Which of the requests it has started is not known.
void MessageCall::not_started() {
  RequestTable& requests = shared().requests;
  const Requests given = this->requests();
  for (int i = 0; i < given.n; ++i) {
    const std::uint32_t number = requests.find(word_of(a_.request(given.place, i)));
    if (number == none || !requests[number].persistent || !requests[number].active) continue;
    requests[number].active = false;
    put(What::cancelled, nullptr, -1, 0, 0, number);
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
  communicator_ = known->second.communicator;  // and its use
  shared().found.erase(known);
  open();
  want_status(1);
}

void MessageCall::start_found() {
  const auto known = shared().found.find(word_of(a_.message(3)));
  if (known == shared().found.end()) return;
  const Found found = known->second;
  shared().found.erase(known);
  add(*found.communicator, found.source, found.tag, false);
  open();
  put(What::receive_start, found.communicator, peer_of(*found.communicator, found.source), 0, tag_of(found.tag),
      number_);
  drop(*found.communicator);
}

// ---- collectives and communicators

void MessageCall::collective() {
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  open();
  if (!slot_->events.on()) return;
  const Exchanged e = exchanged(call_, a_, *c);
  put(What::collective, c, e.root, e.sent, e.received);
}

void MessageCall::made_communicator(bool succeeded) {
  const int place = new_communicator_place(call_);
  if (place < 0) return;
  const MPI_Comm made = succeeded ? pointed_at(a_, place) : MPI_COMM_NULL;
  saw_new(call_, a_.communicator(0), made, call_ == Call::Comm_create_group ? a_.integer(2) : 0);
}

}  // namespace effort::pmpi
