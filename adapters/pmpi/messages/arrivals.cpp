#include "adapters/pmpi/messages/arrivals.hpp"

#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/communicators.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "runtime/measure/frame.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <unordered_map>

namespace effort::pmpi {

bool arrivals_on = false;
LastLog last_log = {};

namespace {

constexpr std::size_t first_room = 64, most_room = 8192;  // arrivals of a communicator in a step
constexpr std::size_t most_logs = 1024;                   // communicators at a time

using Logs = std::unordered_map<std::uint64_t, std::unique_ptr<ArrivalLog>>;  // by the communicator's hash
Logs& logs() {
  static Logs* all = new Logs;  // calls may come while static objects are destroyed
  return *all;
}
bool knows_communicators = false;

/// Runs `body` under the lock.  If memory runs out, no more arrivals are noted; the other ranks notice that they are
/// missing.
template <typename Body>
void locked(const Body& body) noexcept {
  try {
    if (!shared_by_threads) shared_by_threads = new Shared;
    const SharedLock held;
    body();
  } catch (const std::exception&) {
    arrivals_on = false;
    note([] {
      return "out of memory while recording when this rank arrived at collectives: COMM_WAITS lacks all later ones";
    });
  }
}

/// The log of a communicator; null if there are too many.
ArrivalLog* find_log(Communicator& c) {
  const auto known = logs().find(c.hash);
  if (known != logs().end()) return known->second.get();
  const std::uint32_t id = id_of(c);
  if (c.shares_id || logs().size() >= most_logs) return nullptr;
  auto log = std::make_unique<ArrivalLog>();
  log->id = id;
  log->me = c.me;
  log->size = c.size;
  return (logs()[c.hash] = std::move(log)).get();
}

}  // namespace

void begin_arrivals() {
  const config::Settings* settings = port().settings();
  arrivals_on = false;
  if (!settings || !settings->comm_waits) return;
  locked([] {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    shared().concurrent = level == MPI_THREAD_MULTIPLE;
    if (!messages_on && !knows_communicators)
      begin_communicators();
    else if (!messages_on)
      renew_ids();
    knows_communicators = true;
    last_log.log = nullptr;
    logs().clear();
    arrivals_on = true;
  });
}

bool make_room(ArrivalLog& log) noexcept {
  if (log.words.size() < most_room) {
    try {
      log.words.resize(std::max(first_room, 2 * log.words.size()));
      return true;
    } catch (const std::exception&) {
      if (log.words.empty()) return false;
    }
  }
  std::uint32_t kept = 0, read = 0;
  for (std::uint64_t i = log.first; read < log.noted; ++i) {
    if (!communication::in_sample(i, log.level)) continue;
    if (communication::in_sample(i, log.level + 1)) log.words[kept++] = log.words[read];
    ++read;
  }
  ++log.level;
  log.noted = kept;
  return kept < log.words.size();
}

void note_arrival_carefully(Meeting meeting, MPI_Comm comm, Word handle, bool fortran, int root, std::uint64_t entered,
                            std::uint64_t left) noexcept {
  locked([&] {
    Communicator* const c = communicator(comm);
    if (!c || c->inter || c->size < 2) return;
    ArrivalLog* const log = find_log(*c);
    if (!log) return;
    note_in(*log, meeting, root, entered, left);
    if (!shared().concurrent) last_log = {handle, fortran, log};
  });
}

void arrivals_saw_new(Call call, const Arguments& a) noexcept {
  locked([&] {
    last_log.log = nullptr;
    if (messages_on) return;
    saw_new(call, a.communicator(0), pointed_at(a, new_communicator_place(call)),
            call == Call::Comm_create_group ? a.integer(2) : 0);
  });
}

void arrivals_before_free(MPI_Comm comm) noexcept {
  locked([&] {
    last_log.log = nullptr;
    Communicator* const c = communicator(comm);
    if (!c) return;
    const auto known = logs().find(c->hash);
    if (known != logs().end()) known->second->freed = true;
    if (!messages_on) saw_freed(comm);
  });
}

void arrivals_step() {
  locked([] {
    for (auto at = logs().begin(); at != logs().end();) {
      ArrivalLog& log = *at->second;
      if (log.next > log.first)
        port().arrivals(
            {{}, log.id, log.me, log.size, static_cast<std::uint32_t>(log.level), log.first, log.next, log.inside},
            std::span<const std::uint64_t>(log.words.data(), log.noted));
      log.first = log.next;
      log.inside = 0;
      log.noted = 0;
      log.level = 0;
      if (log.freed) last_log.log = nullptr;
      at = log.freed ? logs().erase(at) : std::next(at);
    }
  });
}

}  // namespace effort::pmpi
