#include "tools/communication/operation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/trace/model/call_names.hpp"

namespace effort::tools {

using communication::Operation;

namespace {

/// By OTF2_CollectiveOp: barrier, bcast, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall,
/// alltoallv, alltoallw, allreduce, reduce, reduce_scatter, scan, exscan, reduce_scatter_block.
constexpr std::array<Operation, 17> operations = {
    Operation::barrier,   Operation::from_root, Operation::to_root, Operation::to_root, Operation::from_root,
    Operation::from_root, Operation::nxn,       Operation::nxn,     Operation::nxn,     Operation::nxn,
    Operation::nxn,       Operation::nxn,       Operation::to_root, Operation::nxn,     Operation::scan,
    Operation::scan,      Operation::nxn};

struct Named {
  std::string_view call;
  Operation operation;
};
/// Calls that move no data themselves, such as MPI_Send_init, are not listed.
constexpr std::array named = {
    Named{"send", Operation::send},
    Named{"ssend", Operation::send},
    Named{"bsend", Operation::send},
    Named{"rsend", Operation::send},
    Named{"isend", Operation::send_start},
    Named{"issend", Operation::send_start},
    Named{"ibsend", Operation::send_start},
    Named{"irsend", Operation::send_start},
    Named{"start", Operation::send_start},
    Named{"startall", Operation::send_start},
    Named{"recv", Operation::receive},
    Named{"mrecv", Operation::receive},
    Named{"irecv", Operation::receive_start},
    Named{"imrecv", Operation::receive_start},
    Named{"sendrecv", Operation::send_receive},
    Named{"sendrecv_replace", Operation::send_receive},
    Named{"isendrecv", Operation::send_start},
    Named{"isendrecv_replace", Operation::send_start},
    Named{"wait", Operation::wait},
    Named{"test", Operation::wait},
    Named{"waitany", Operation::wait},
    Named{"testany", Operation::wait},
    Named{"request_get_status", Operation::wait},
    Named{"waitall", Operation::wait_all},
    Named{"testall", Operation::wait_all},
    Named{"waitsome", Operation::wait_all},
    Named{"testsome", Operation::wait_all},
    Named{"put", Operation::one_sided},
    Named{"get", Operation::one_sided},
    Named{"accumulate", Operation::one_sided},
    Named{"get_accumulate", Operation::one_sided},
    Named{"fetch_and_op", Operation::one_sided},
    Named{"compare_and_swap", Operation::one_sided},
    Named{"rput", Operation::one_sided},
    Named{"rget", Operation::one_sided},
    Named{"raccumulate", Operation::one_sided},
    Named{"rget_accumulate", Operation::one_sided},
    Named{"win_fence", Operation::barrier},
};

}  // namespace

Operation operation_of_call(const std::string& call) {
  if (call.empty()) return Operation::user;
  const auto at = std::find_if(named.begin(), named.end(), [&](const Named& n) { return n.call == call; });
  if (at != named.end()) return at->operation;
  if (call.ends_with("_init")) return Operation::other;
  const int collective = collective_of(call);
  if (collective < 0) return Operation::other;
  const bool neighbour = call.starts_with("neighbor_") || call.starts_with("ineighbor_");
  return neighbour ? Operation::neighbour : operations[static_cast<std::size_t>(collective)];
}

bool starts_only(const std::string& call) {
  if (call == "start" || call == "startall") return true;
  return call.starts_with('i') && !call.ends_with("_init") && collective_of(call) >= 0;
}

namespace {

Operation operation_of_collective(const TraceEvent& event, std::int32_t rank) {
  if (event.peer < 0) return event.bytes + event.received_bytes > 0 ? Operation::nxn : Operation::barrier;
  const bool sends = event.bytes > 0;
  return sends == (event.peer == rank) ? Operation::from_root : Operation::to_root;
}

}  // namespace

Operation operation_of_event(const TraceEvent& event, std::int32_t rank) {
  switch (event.kind) {
    case trace::Kind::send: return Operation::send;
    case trace::Kind::send_start: return Operation::send_start;
    case trace::Kind::receive: return Operation::receive;
    case trace::Kind::receive_start: return Operation::receive_start;
    case trace::Kind::send_done:
    case trace::Kind::receive_done: return Operation::wait_all;
    case trace::Kind::collective: return operation_of_collective(event, rank);
    case trace::Kind::one_sided: return Operation::one_sided;
    default: return Operation::other;
  }
}

}  // namespace effort::tools
