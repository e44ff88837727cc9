// One-sided communication.
#include "adapters/pmpi/messages/message_call.hpp"

namespace effort::pmpi {

/// Records an access to a rank of the current window's communicator_.
void MessageCall::access(int target, std::uint64_t sent, std::uint64_t received) {
  if (target == MPI_PROC_NULL) return;
  open();
  put(RecordKind::one_sided, communicator_, communicator_->world_rank(target), sent, received);
}

void MessageCall::access() {
  const AccessPlaces at = access_places(call_);
  const auto known = shared().windows.find(word_of(a_.window(at.window)));
  if (known == shared().windows.end()) return;
  communicator_ = known->second;
  const auto bytes = [&](int count_place, int type_place) {
    if (type_place < 0) return std::uint64_t{0};
    return count_place < 0 ? type_size(a_.type(type_place)) : a_.bytes(count_place, type_place);
  };
  const bool sends = sends_to_target(a_, at);
  const std::uint64_t sent = sends ? bytes(at.sent_count, at.sent_type) : 0;
  const std::uint64_t received = bytes(at.received_count, at.received_type);
  access(a_.integer(at.target), sent, received);
  if (!traffic_on) return;
  const int target = communicator_->world_rank(a_.integer(at.target));
  if (sends) count(target, true, true, sent);
  if (at.received_type >= 0) count(target, false, true, received);
}

void MessageCall::synchronise() {
  const auto known = shared().windows.find(word_of(a_.window(synchronised_window_place(call_))));
  if (known == shared().windows.end()) return;
  communicator_ = known->second;
  if (const int rank = synchronised_rank_place(call_); rank >= 0) return access(a_.integer(rank), 0, 0);
  open();
  put(call_ == Call::Win_fence ? RecordKind::collective : RecordKind::one_sided, communicator_, -1, 0, 0);
}

void MessageCall::made_window(bool succeeded) {
  if (!succeeded) return;
  Communicator* const c = communicator_at(info(call_).comm);
  if (!c) return;
  const int place = new_window_place(call_);
  const MPI_Win made = a_.fortran ? PMPI_Win_f2c(*a_.pointer<MPI_Fint>(place)) : *a_.pointer<MPI_Win>(place);
  auto [at, fresh] = shared().windows.try_emplace(word_of(made), c);
  use(*c);
  if (fresh) return;
  drop(*at->second);  // freed by a call that was not seen
  at->second = c;
}

void MessageCall::free_window() {
  const MPI_Win window = a_.fortran ? PMPI_Win_f2c(*a_.pointer<MPI_Fint>(0)) : *a_.pointer<MPI_Win>(0);
  const auto known = shared().windows.find(word_of(window));
  if (known == shared().windows.end()) return;
  drop(*known->second);
  shared().windows.erase(known);
}

}  // namespace effort::pmpi
