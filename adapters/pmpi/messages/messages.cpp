#include "adapters/pmpi/messages/messages.hpp"

#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/message_call.hpp"

namespace effort::pmpi {

bool messages_on = false, messages_traced = false;

Shared* shared_by_threads = nullptr;

namespace {

/// Runs `body`.  If it throws (out of memory), no more messages are followed, and the host continues.
template <typename Body>
void stop_on_error(const Body& body) noexcept {
  try {
    body();
  } catch (const std::exception&) {
    end_messages();
  }
}

}  // namespace

void begin_messages() {
  const config::Settings* settings = port().settings();
  if (messages_on || !settings || (!settings->trace.on && !settings->comm_matrix)) return;
  stop_on_error([&] {
    if (!shared_by_threads) shared_by_threads = new Shared;
    shared().requests = {};  // they refer to communicators that are forgotten below
    shared().found.clear();
    shared().windows.clear();
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    shared().concurrent = level == MPI_THREAD_MULTIPLE;
    find_fortran_addresses();
    begin_communicators();
    begin_traffic(*settings);
    messages_traced = settings->trace.on;
    messages_on = true;
  });
}

void renew_messages() {
  const config::Settings* settings = port().settings();
  if (!settings || (!settings->trace.on && !settings->comm_matrix)) messages_on = traffic_on = messages_traced = false;
  if (!messages_on) return begin_messages();
  stop_on_error([&] {
    const SharedLock held;
    renew_ids();
    begin_traffic(*settings);
    messages_traced = settings->trace.on;
  });
}

void end_messages() noexcept {
  messages_on = messages_traced = traffic_on = false;
  note([] {
    return "out of memory while recording the messages of this rank: its trace and COMM_MATRIX lack all later ones";
  });
}

// ---- a call

/// Records the call's end if open() has recorded its begin.
void MessageCall::close() {
  if (slot_->events.on()) slot_->events.boundary(RecordKind::leave, region_, port().ticks());
}

void MessageCall::begin_apart() {
  apart_ = true;
  if (slot_->events.on()) slot_->events.boundary(RecordKind::enter, region_, port().ticks());
}

void MessageCall::want_status(int place, int n) {
  if (place < 0 || !a_.status_ignored(place)) return;
  if (statuses_.size() < static_cast<std::size_t>(n)) statuses_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) statuses_[static_cast<std::size_t>(i)].MPI_ERROR = MPI_ERR_PENDING;
  words_[place] = word_of(statuses_.data());
  own_status_ = true;
}

}  // namespace effort::pmpi
