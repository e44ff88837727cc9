// The role of a call for messages, by its name alone.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"
#include "adapters/pmpi/messages/collective_rules.hpp"
#include "adapters/pmpi/messages/message_arguments.hpp"

namespace effort::pmpi {

/// The place of the new communicator among the arguments; -1: the call makes none.
constexpr int new_communicator_place(Call call) {
  switch (plain(call)) {
    case Call::Comm_dup:
    case Call::Comm_idup: return 1;
    case Call::Comm_dup_with_info:
    case Call::Comm_create:
    case Call::Cart_sub:
    case Call::Intercomm_merge: return 2;
    case Call::Comm_create_group:
    case Call::Comm_split: return 3;
    case Call::Comm_split_type: return 4;
    case Call::Cart_create:
    case Call::Graph_create:
    case Call::Intercomm_create: return 5;
    case Call::Dist_graph_create: return 8;
    case Call::Dist_graph_create_adjacent: return 9;
    default: return -1;
  }
}

/// The place of the window that a call makes; -1: it makes none.
constexpr int new_window_place(Call call) {
  switch (call) {
    case Call::Win_create_dynamic: return 2;
    case Call::Win_create:
    case Call::Win_allocate:
    case Call::Win_allocate_shared: return 5;
    default: return -1;
  }
}
/// The place of the window of a call that synchronises with a rank or with several; -1: it does not.
constexpr int synchronised_window_place(Call call) {
  switch (call) {
    case Call::Win_complete:
    case Call::Win_wait:
    case Call::Win_unlock_all:
    case Call::Win_flush_all:
    case Call::Win_flush_local_all: return 0;
    case Call::Win_fence:
    case Call::Win_lock_all:
    case Call::Win_unlock:
    case Call::Win_flush:
    case Call::Win_flush_local: return 1;
    case Call::Win_start:
    case Call::Win_post: return 2;
    case Call::Win_lock: return 3;
    default: return -1;
  }
}
/// The place of the rank that such a call synchronises with; -1: with several.
constexpr int synchronised_rank_place(Call call) {
  switch (call) {
    case Call::Win_unlock:
    case Call::Win_flush:
    case Call::Win_flush_local: return 0;
    case Call::Win_lock: return 1;
    default: return -1;
  }
}
constexpr bool polls_requests(Call call) {
  return info(call).role == Role::poll && call != Call::Iprobe && call != Call::Win_test && call != Call::Parrived;
}

/// Whether a call concerns messages, before or after it.
constexpr bool acts_before(Call call) {
  switch (info(call).role) {
    case Role::send:
    case Role::receive:
    case Role::exchange:
    case Role::put:
    case Role::isend:
    case Role::ireceive:
    case Role::iexchange:
    case Role::start_persistent:
    case Role::complete:
    case Role::sync:
    case Role::rooted:
    case Role::free:
    case Role::quiet: return true;
    case Role::poll: return polls_requests(call);
    case Role::start: return call == Call::Imrecv || starts_collective(call);
    case Role::other:
      return call == Call::Mrecv || call == Call::Mprobe || call == Call::Probe || call == Call::Win_free ||
             synchronised_window_place(call) >= 0;
    default: return false;
  }
}
constexpr bool acts_after(Call call) {
  switch (info(call).role) {
    case Role::receive:
    case Role::exchange:
    case Role::isend:
    case Role::ireceive:
    case Role::iexchange:
    case Role::persistent_send:
    case Role::persistent_receive:
    case Role::persistent_collective:
    case Role::start_persistent:
    case Role::complete:
    case Role::quiet: return true;
    case Role::poll: return polls_requests(call);
    case Role::start: return call == Call::Imrecv || call == Call::Comm_idup || starts_collective(call);
    case Role::other:
      return call == Call::Mrecv || call == Call::Mprobe || new_communicator_place(call) >= 0 ||
             new_window_place(call) >= 0;
    default: return false;
  }
}

/// Whether a call counts in the communication matrix.
constexpr bool counts_in_matrix(Call call) {
  switch (info(call).role) {
    case Role::free:
    case Role::quiet: return false;
    case Role::other: return call == Call::Mrecv;
    default: return acts_before(call);
  }
}

/// The place of the request that a call starts or prepares; -1: it does not.
constexpr int new_request_place(Call call) {
  switch (info(call).role) {
    case Role::isend:
    case Role::ireceive:
    case Role::iexchange: return info(call).comm + 1;
    case Role::start: return call == Call::Imrecv ? 4 : -1;
    default: return -1;
  }
}
/// Whether a call has an array of statuses, one for each request.
constexpr bool has_status_array(Call call) {
  return call == Call::Waitall || call == Call::Testall || call == Call::Waitsome || call == Call::Testsome;
}

}  // namespace effort::pmpi
