#include "program.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace effort::communication::test {

Program::Program(std::int32_t ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

void Program::meet() {
  std::int64_t latest = 0;
  for (const Rank& rank : ranks_) latest = std::max(latest, rank.clock_ns);
  for (Rank& rank : ranks_) rank.clock_ns = latest;
}

std::uint32_t Program::region(const std::string& name) {
  const auto known = std::find(regions_.begin(), regions_.end(), name);
  if (known != regions_.end()) return static_cast<std::uint32_t>(known - regions_.begin());
  regions_.push_back(name);
  return static_cast<std::uint32_t>(regions_.size() - 1);
}

std::uint32_t Program::call(std::int32_t rank, const std::string& name, Operation operation, std::int64_t ns) {
  Rank& r = at(rank);
  r.calls.push_back({r.clock_ns, r.clock_ns + ns, region(name), r.open.empty() ? none : r.open.back(), operation});
  r.clock_ns += ns;
  return static_cast<std::uint32_t>(r.calls.size() - 1);
}

void Program::enter(std::int32_t rank, const std::string& function) {
  const std::uint32_t index = call(rank, function, Operation::user, 0);
  at(rank).open.push_back(index);
}

void Program::leave(std::int32_t rank) {
  at(rank).calls[at(rank).open.back()].end_ns = at(rank).clock_ns;
  at(rank).open.pop_back();
}

void Program::start_send(std::int32_t rank, std::int32_t to, std::uint64_t bytes) {
  const std::uint32_t c = call(rank, "MPI_Isend", Operation::send_start, 100);
  at(rank).pending_sends.push_back(at(rank).sends.size());
  at(rank).sends.push_back({rank, to, bytes, c, none});
}

void Program::start_receive(std::int32_t rank, std::int32_t from) {
  const std::uint32_t c = call(rank, "MPI_Irecv", Operation::receive_start, 100);
  at(rank).pending_receives.push_back(at(rank).receives.size());
  at(rank).receives.push_back({from, rank, 0, c, none});
}

void Program::send(std::int32_t rank, std::int32_t to, std::uint64_t bytes, std::int64_t ns) {
  const std::uint32_t c = call(rank, "MPI_Send", Operation::send, ns);
  at(rank).sends.push_back({rank, to, bytes, c, c});
}

void Program::receive(std::int32_t rank, std::int32_t from, std::int64_t ns) {
  const std::uint32_t c = call(rank, "MPI_Recv", Operation::receive, ns);
  at(rank).receives.push_back({from, rank, 0, c, c});
}

void Program::send_receive(std::int32_t rank, std::int32_t to, std::int32_t from, std::uint64_t bytes) {
  const std::uint32_t c = call(rank, "MPI_Sendrecv", Operation::send_receive, 100);
  at(rank).sends.push_back({rank, to, bytes, c, c});
  at(rank).receives.push_back({from, rank, 0, c, c});
}

void Program::wait_all(std::int32_t rank, std::int64_t ns) {
  const std::uint32_t c = call(rank, "MPI_Waitall", Operation::wait_all, ns);
  for (const std::size_t s : std::exchange(at(rank).pending_sends, {})) at(rank).sends[s].done = c;
  for (const std::size_t r : std::exchange(at(rank).pending_receives, {})) at(rank).receives[r].done = c;
}

void Program::collective(const std::string& name, Operation operation, const std::vector<std::int32_t>& members,
                         std::int32_t root, std::int64_t until, std::uint64_t bytes) {
  std::vector<std::int64_t> ends;
  for (const std::int32_t rank : members) ends.push_back(until == 0 ? now(rank) + 100 : until);
  collective(name, operation, members, root, ends, bytes);
}

void Program::collective(const std::string& name, Operation operation, const std::vector<std::int32_t>& members,
                         std::int32_t root, const std::vector<std::int64_t>& until, std::uint64_t bytes) {
  Together together{operation, root, bytes, {}};
  for (std::size_t i = 0; i < members.size(); ++i)
    together.parts.push_back({members[i], call(members[i], name, operation, until[i] - now(members[i]))});
  collectives_.push_back(together);
}

Record Program::record() const {
  Record out;
  out.n_ranks = ranks();
  out.node_of.assign(ranks_.size(), 0);
  out.regions = regions_;
  std::vector<std::uint32_t> first;
  const auto moved = [](std::uint32_t call, std::uint32_t by) { return call == none ? none : call + by; };
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto begin = static_cast<std::uint32_t>(out.calls.size());
    first.push_back(begin);
    for (Call call : ranks_[r].calls) {
      call.parent = moved(call.parent, begin);
      out.calls.push_back(call);
    }
    if (out.calls.size() > begin) out.locations.push_back({static_cast<std::int32_t>(r), 0, begin, out.calls.size()});
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const End*>> receives;
  for (const Rank& rank : ranks_) {
    for (const End& end : rank.receives) receives[{end.sender, end.receiver}].push_back(&end);
    out.unmatched_receives += rank.receives.size();
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> used;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const End& send : ranks_[r].sends) {
      const auto& partners = receives[{send.sender, send.receiver}];
      const std::size_t k = used[{send.sender, send.receiver}]++;
      if (k >= partners.size()) {
        ++out.unmatched_sends;
        continue;
      }
      --out.unmatched_receives;
      const std::uint32_t there = first[static_cast<std::size_t>(send.receiver)];
      out.messages.push_back({send.sender, send.receiver, 0, 0, send.bytes, moved(send.start, first[r]),
                              moved(send.done, first[r]), moved(partners[k]->start, there),
                              moved(partners[k]->done, there)});
    }
  }
  std::stable_sort(out.messages.begin(), out.messages.end(), [&](const Message& a, const Message& b) {
    return out.calls[a.send_start].begin_ns < out.calls[b.send_start].begin_ns;
  });
  for (const Together& c : collectives_) {
    const std::size_t begin = out.participations.size();
    for (const Part& part : c.parts) {
      const std::uint32_t call = first[static_cast<std::size_t>(part.rank)] + part.call;
      Participation participation;
      participation.rank = part.rank;
      participation.start = participation.done = call;
      participation.sent = participation.received = c.bytes;
      out.participations.push_back(participation);
    }
    Collective collective;
    collective.operation = c.operation;
    collective.root = c.root;
    collective.first = begin;
    collective.end = out.participations.size();
    out.collectives.push_back(collective);
  }
  return out;
}

}  // namespace effort::communication::test
