#include "runtime/collect/message_waits.hpp"

#include <utility>

namespace effort::engine {

using measure::Definition;

MessageWaits::MessageWaits(std::span<const int> ranks, int n_ranks, node::Segment& segment, const Collector& collector,
                           const NameUnion& names, const std::function<std::int64_t(std::uint64_t)>& node_ns)
    : messages_(ranks, n_ranks) {
  for (int l = 0; l < segment.n_local(); ++l)
    readers_.emplace_back(
        segment.trace(l),
        MessageReader::Translate{
            node_ns,
            [&, l](std::uint32_t communicator) -> std::int64_t {
              NodeId id{};
              if (!collector.find(l, Definition::communicator, communicator, id) ||
                  !names.is_shared(Definition::communicator, id))
                return -1;
              return static_cast<std::int64_t>(names.global(Definition::communicator, id));
            },
            [&, l](std::uint32_t region) -> std::string {
              NodeId id{};
              if (!collector.find(l, Definition::region, region, id) || !names.is_shared(Definition::region, id))
                return "";
              const std::string& name = names.run().at(Definition::region, names.global(Definition::region, id)).name;
              return name.substr(0, name.find(' '));
            }});
}

bool MessageWaits::find(Communicator& nodes, const communication::NodeClock& clock, std::int64_t last) {
  ++looks_;
  waits_.clear();
  inside_.clear();
  if (given_up_) return false;
  std::int64_t news[3] = {0, 0,
                          0};  // records were lost; there are too many pairs of ranks and tags; there are messages
  for (std::size_t l = 0; l < readers_.size(); ++l) {
    MessageReader& reader = readers_[l];
    const auto local = static_cast<int>(l);
    if (!reader.read(last)) {
      news[0] = 1;
      messages_.forget(local);
    }
    messages_.add(local, reader.parts());
    news[2] |= !reader.parts().empty();
    for (const MessageReader::Inside& i : reader.inside()) inside_.push_back({local, i.step, i.seconds});
  }
  news[1] = messages_.is_full();
  nodes.allreduce(std::span<std::int64_t>(news), ReduceOp::max);
  given_up_ = news[1] != 0;
  any_ = any_ || news[2] != 0;
  if (news[0] != 0 || given_up_) {
    ++incomplete_;
    messages_.restart();
    return false;
  }
  waits_ = messages_.find(nodes, clock);
  return true;
}

std::string MessageWaits::account(Communicator& nodes) const {
  std::int64_t n[2] = {static_cast<std::int64_t>(messages_.received()),
                       static_cast<std::int64_t>(messages_.reversed())};
  nodes.allreduce(std::span<std::int64_t>(n), ReduceOp::sum);
  if (n[0] == 0) return "";
  std::string out = "; " + std::to_string(n[0]) + " messages were examined for late senders";
  if (n[1] > 0) out += ", " + std::to_string(n[1]) + " messages seemed to arrive before they were sent";
  if (given_up_)
    out += ", but not in " + std::to_string(incomplete_) + " of " + std::to_string(looks_) +
           " windows, because messages have too many different tags";
  else if (incomplete_ > 0)
    out += ", but not in " + std::to_string(incomplete_) + " of " + std::to_string(looks_) +
           " windows, because TRACE_MEMORY was too small for the records of a rank";
  return out;
}

}  // namespace effort::engine
