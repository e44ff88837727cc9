#include "adapters/pmpi/messages/traffic.hpp"

#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/message_call.hpp"

#include <exception>
#include <utility>

namespace effort::pmpi {

bool traffic_on = false;

void Traffic::begin(int me) {
  me_ = me;
  steps_ = 0;
  take(0);
}

void Traffic::grow() {
  std::vector<Cell> before(2 * cells_.size());
  cells_.swap(before);
  const std::size_t mask = cells_.size() - 1;
  for (const Cell& c : before) {
    if (c.kind == 0) continue;
    std::size_t i = place(c.region, c.peer, c.kind);
    while (cells_[i & mask].kind != 0) ++i;
    cells_[i & mask] = c;
  }
}

void Traffic::add(std::uint32_t region, Call call, const DataArguments& a, Communicator& c, std::uint64_t ticks) {
  const CollectiveSize size = size_of(call, a, c);
  if (!size.takes_part) return;
  if (collective_rule(blocking(call)).differs) {
    parts_.clear();
    add_parts(parts_, call, a, c, size);
    return add(region, parts_, ticks);
  }
  Repeated& r = repeated_[region % repeated_.size()];
  if (r.region != region || r.call != call || r.communicator != c.hash || r.size != size) {
    settle(r);
    r.parts.clear();
    r.call = Call::count;  // remains if allocating the parts fails
    add_parts(r.parts, call, a, c, size);
    r.region = region;
    r.call = call;
    r.communicator = c.hash;
    r.size = size;
  }
  ++r.times;
  r.ticks += ticks;
}

/// Enters the calls into the cells.
void Traffic::settle(Repeated& r) {
  const AmountScope scope;
  const double ticks = AmountScope::amount(static_cast<double>(r.ticks));
  for (const Part& p : r.parts) {
    Cell& c = cell(r.region, p);
    c.messages += r.times;
    c.bytes += r.times * p.bytes;
    c.ticks += ticks / static_cast<double>(r.parts.size());
  }
  r.times = r.ticks = 0;
}

std::uint32_t Traffic::keep(std::vector<Part> parts) {
  if (free_.empty()) {
    kept_.emplace_back();
    free_.reserve(kept_.size());  // drop() does not throw
    free_.push_back(static_cast<std::uint32_t>(kept_.size() - 1));
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  kept_[number] = std::move(parts);
  return number;
}

void Traffic::drop(std::uint32_t number) {
  std::vector<Part>().swap(kept_[number]);
  free_.push_back(number);
}

std::vector<measure::Flow> Traffic::take(double tick) {
  for (Repeated& r : repeated_)
    if (r.times > 0) settle(r);
  std::vector<measure::Flow> flows;
  flows.reserve(used_);
  for (Cell& c : cells_) {
    if (c.kind == 0) continue;
    const bool sends = (c.kind - 1) % 2 != 0;
    flows.push_back({sends ? me_ : c.peer, sends ? c.peer : me_, c.region,
                     static_cast<std::int32_t>((c.kind - 1) / 2) - 1, static_cast<double>(c.messages),
                     static_cast<double>(c.bytes), c.ticks * tick});
    c = {};
  }
  used_ = 0;
  return flows;
}

void begin_traffic(const config::Settings& settings) {
  traffic_on = settings.comm_matrix;
  if (!traffic_on) return;
  int me = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &me);
  shared().traffic.begin(me);
}

void traffic_step(bool last) {
  try {
    const SharedLock held;
    if (!shared().traffic.ends_window(port().settings()->tile_steps()) && !last) return;
    port().traffic(shared().traffic.take(port().seconds_per_tick()));
  } catch (const std::exception&) {
    end_messages();
  }
}

}  // namespace effort::pmpi
