#include "adapters/pmpi/messages.hpp"

#include "adapters/pmpi/message_call.hpp"
#include "adapters/pmpi/port.hpp"
#include "adapters/pmpi/traffic_rules.hpp"

namespace effort::pmpi {

bool messages_on = false;

Shared* shared_by_threads = nullptr;

namespace {

/// Runs `body`.  If it throws (memory), no more messages are recorded; the host goes on.
template <typename Body>
void stop_on_error(const Body& body) noexcept {
  try {
    body();
  } catch (const std::exception&) {
    messages_on = false;
    port().note("there was no memory to follow the messages of this rank: its trace has none from then on");
  }
}

}  // namespace

void begin_messages() {
  const config::Settings* settings = port().settings();
  if (messages_on || !settings || !settings->trace.on) return;
  stop_on_error([&] {
    if (!shared_by_threads) shared_by_threads = new Shared;
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    shared().concurrent = level == MPI_THREAD_MULTIPLE;
    find_fortran_addresses();
    begin_communicators();
    messages_on = true;
  });
}

void renew_messages() {
  const config::Settings* settings = port().settings();
  if (!settings || !settings->trace.on) messages_on = false;
  if (!messages_on) return begin_messages();
  const Together held;
  renew_ids();
}

void before_call(Call call, Word* words, bool fortran, Thread& thread, const Site& site) noexcept {
  if (!messages_on) return;
  stop_on_error([&] {
    if (!thread.message_call) thread.message_call = std::make_shared<MessageCall>();
    const Together held;
    thread.message_call->before(call, words, fortran, thread, site);
  });
}

void after_call(const Word* words, bool succeeded, Thread& thread) noexcept {
  if (!messages_on || !thread.message_call) return;
  stop_on_error([&] {
    const Together held;
    thread.message_call->after(words, succeeded);
  });
}

// ---- a call

void MessageCall::before(Call call, Word* words, bool fortran, const Thread& thread, const Site& site) {
  call_ = call;
  words_ = words;
  a_ = {{words, fortran}};
  slot_ = measure::this_thread_slot();
  begun_ = thread.begun && slot_ && (slot_->current.load(std::memory_order_relaxed) & measure::skipped) == 0;
  apart_ = own_status_ = any_ = false;
  region_ = static_cast<std::uint32_t>(site.region);
  communicator_ = nullptr;
  number_ = none;
  if (!slot_) return;
  switch (info(call).role) {
    case Role::send: return send();
    case Role::receive: return receive();
    case Role::exchange: return send(), receive();
    case Role::isend: return start(true);
    case Role::ireceive: return start(false);
    case Role::start_persistent: return start_persistent();
    case Role::complete: return claim_requests();
    case Role::poll:
      if (call == Call::Improbe) return want_status(1);
      return call == Call::Request_get_status ? look_at_request() : claim_requests();
    case Role::sync:
    case Role::rooted: return collective();
    case Role::start:
      if (call == Call::Imrecv) return start_found();
      if (starts_collective(call)) return collective();
      return;
    case Role::free: return saw_freed(pointed_at(a_, 0));
    case Role::quiet: return call == Call::Cancel ? cancel_request() : free_request();
    case Role::other:
      if (call == Call::Mrecv) return receive_found();
      if (call == Call::Mprobe) return want_status(1);
      return;
    default: return;
  }
}

void MessageCall::after(const Word* words, bool succeeded) {
  a_.words = words;
  if (!slot_) return;
  if (apart_) {
    const measure::Busy way(*slot_);
    if (slot_->events.on()) slot_->events.boundary(What::leave, region_, port().ticks());
  }
  switch (info(call_).role) {
    case Role::receive:
    case Role::exchange: return received(succeeded);
    case Role::isend:
    case Role::ireceive: return started(succeeded);
    case Role::persistent_send: return succeeded ? persistent(true) : void();
    case Role::persistent_receive: return succeeded ? persistent(false) : void();
    case Role::start_persistent: return succeeded ? void() : not_started();
    case Role::poll:
      if (call_ == Call::Improbe) return succeeded && a_.result(3) != 0 ? found_message() : void();
      return call_ == Call::Request_get_status ? looked_at_request(succeeded) : completed(succeeded);
    case Role::complete: return completed(succeeded);
    case Role::start:
      if (call_ == Call::Imrecv) return started(succeeded);
      if (call_ == Call::Comm_idup) return made_communicator(succeeded);
      return;
    case Role::quiet: return freed_request(succeeded);
    case Role::other:
      if (call_ == Call::Mrecv) return received(succeeded);
      if (call_ == Call::Mprobe) return succeeded ? found_message() : void();
      return made_communicator(succeeded);
    default: return;
  }
}

void MessageCall::open() {
  if (begun_ || apart_) return;
  apart_ = true;
  const measure::Busy way(*slot_);
  if (slot_->events.on()) slot_->events.boundary(What::enter, region_, port().ticks());
}

void MessageCall::put(Word first, Word second, Word third) {
  const measure::Busy way(*slot_);
  if (slot_->events.on()) slot_->events.message(first, second, third);
}

void MessageCall::put(What what, Communicator* c, int peer, std::uint64_t bytes, int tag, std::uint32_t request) {
  if (!slot_->events.on()) return;  // then its id is of no use
  put(recording::message(what, c ? id_of(*c) : 0, peer), bytes,
      static_cast<std::uint32_t>(tag) | static_cast<Word>(request) << 32);
}

void MessageCall::want_status(int n) {
  const int place = status_place(call_);
  if (place < 0 || !a_.status_ignored(place)) return;
  if (statuses_.size() < static_cast<std::size_t>(n)) statuses_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) statuses_[static_cast<std::size_t>(i)].MPI_ERROR = MPI_ERR_PENDING;
  words_[place] = word_of(statuses_.data());
  own_status_ = true;
}

}  // namespace effort::pmpi
