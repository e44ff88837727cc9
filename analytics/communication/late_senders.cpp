#include "analytics/communication/late_senders.hpp"

#include "analytics/communication/arrival.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace effort::communication {
namespace {

// Special values of a send's time.
constexpr std::int64_t long_ago = std::numeric_limits<std::int64_t>::min();  // before the last two windows
constexpr std::int64_t not_yet = std::numeric_limits<std::int64_t>::max();   // not in the sender's records yet

constexpr std::size_t most_requests = std::size_t{1} << 18;

}  // namespace

std::size_t LateSenders::Hash::operator()(const Key& key) const {
  const auto mixed = [](std::uint64_t a, std::uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  };
  const auto u = [](std::int32_t i) { return std::uint64_t{static_cast<std::uint32_t>(i)}; };
  std::uint64_t z = mixed(u(key.sender) << 32 | u(key.receiver), std::uint64_t{key.communicator} << 32 | u(key.tag));
  return static_cast<std::size_t>(z ^ (z >> 31));
}

LateSenders::LateSenders(std::span<const int> ranks, int n_ranks)
    : ranks_(ranks.begin(), ranks.end()), n_ranks_(n_ranks), local_(ranks.size()) {}

// ---- what ranks recorded

void LateSenders::add(int local, std::span<const MessagePart> parts) {
  for (const MessagePart& p : parts) switch (p.type) {
      case MessagePart::Type::send:
        if (p.peer >= 0)
          channel({ranks_[static_cast<std::size_t>(local)], p.peer, p.communicator, p.tag})
              .second.sent.push_back(p.begin_ns);
        break;
      case MessagePart::Type::receive_start: post(local, p); break;
      case MessagePart::Type::receive_done:
      case MessagePart::Type::receive: complete(local, p); break;
      case MessagePart::Type::cancelled: cancel(local, p); break;
    }
}

void LateSenders::post(int local, const MessagePart& part) {
  Rank& rank = local_[static_cast<std::size_t>(local)];
  const bool resolved = part.peer >= 0 && part.tag >= 0, numbered = part.request < most_requests;
  if (numbered && part.request >= rank.open.size())
    rank.open.resize(std::max<std::size_t>(64, 2 * static_cast<std::size_t>(part.request)));
  if (numbered && rank.open[part.request].is_open) {  // its end has not been recorded
    Open& before = rank.open[part.request];
    before.is_open = false;
    if (!before.channel) drop_deferred(local, before.deferred);
  }
  Open open;
  open.is_open = true;
  const std::uint32_t probe = probe_of(local, part);
  if (resolved && rank.deferred.empty()) {
    open.channel = &channel({part.peer, ranks_[static_cast<std::size_t>(local)], part.communicator, part.tag});
    open.ordinal = open.channel->second.posted++;
    add_message(*open.channel, open.ordinal, probe);
  } else if (resolved || numbered) {
    open.deferred = rank.n_passed + rank.deferred.size();
    rank.deferred.push_back({part.peer, part.tag, part.communicator, part.request, none, probe, resolved, false});
  }
  if (numbered) rank.open[part.request] = open;
  if (rank.deferred.size() > most_deferred) {  // assume that the first one never ends
    const std::uint32_t request = rank.deferred.front().request;
    if (request < rank.open.size()) rank.open[request].is_open = false;
    drop_deferred(local, rank.n_passed);
  }
}

/// A deferred receive will have no message.
void LateSenders::drop_deferred(int local, std::uint64_t number) {
  Rank& rank = local_[static_cast<std::size_t>(local)];
  Post& post = rank.deferred[number - rank.n_passed];
  post.cancelled = true;
  post.request = post.call = post.probe = none;
  pass_resolved(local);
}

/// The call that completes a receive; none if it took no time.
std::uint32_t LateSenders::call_of(int local, const MessagePart& part) {
  if (part.end_ns <= part.begin_ns) return none;
  if (calls_.empty() || calls_.back().local != local || calls_.back().begin_ns != part.begin_ns)
    calls_.push_back({local, part.step, part.begin_ns, part.end_ns});
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

/// The probe before a receive; none if there was none.
std::uint32_t LateSenders::probe_of(int local, const MessagePart& part) {
  if (part.probe_end_ns <= part.probe_begin_ns) return none;
  calls_.push_back({local, part.step, part.probe_begin_ns, part.probe_end_ns});
  calls_.back().probes = true;
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

void LateSenders::add_message(Entry& channel, std::uint64_t ordinal, std::uint32_t call) {
  if (call != none) messages_.push_back({&channel, ordinal, call});
}

void LateSenders::complete(int local, const MessagePart& part) {
  if (part.peer < 0 || part.peer >= n_ranks_ || part.tag < 0)
    return part.type == MessagePart::Type::receive_done ? cancel(local, part) : void();
  Rank& rank = local_[static_cast<std::size_t>(local)];
  const std::int32_t me = ranks_[static_cast<std::size_t>(local)];
  ++received_;
  const std::uint32_t probe = part.type == MessagePart::Type::receive ? probe_of(local, part) : none,
                      call = call_of(local, part);
  if (part.type == MessagePart::Type::receive) {
    if (!rank.deferred.empty())
      return rank.deferred.push_back({part.peer, part.tag, part.communicator, none, call, probe, true, false});
    Entry& entry = channel({part.peer, me, part.communicator, part.tag});
    const std::uint64_t ordinal = entry.second.posted++;
    add_message(entry, ordinal, probe);
    return add_message(entry, ordinal, call);
  }
  if (part.request >= rank.open.size() || !rank.open[part.request].is_open) return;  // its start was lost
  Open& open = rank.open[part.request];
  open.is_open = false;
  if (open.channel) return add_message(*open.channel, open.ordinal, call);
  Post& post = rank.deferred[open.deferred - rank.n_passed];
  post.peer = part.peer;
  post.tag = part.tag;
  post.communicator = part.communicator;
  post.resolved = true;
  post.request = none;
  post.call = call;
  pass_resolved(local);
}

/// A cancelled receive has no message, so the ordinals of later receives of its channel decrease by one.
void LateSenders::cancel(int local, const MessagePart& part) {
  Rank& rank = local_[static_cast<std::size_t>(local)];
  if (part.request >= rank.open.size() || !rank.open[part.request].is_open) return;
  Open& open = rank.open[part.request];
  open.is_open = false;
  if (!open.channel) return drop_deferred(local, open.deferred);
  --open.channel->second.posted;
  for (Open& other : rank.open)
    if (other.is_open && other.channel == open.channel && other.ordinal > open.ordinal) --other.ordinal;
  std::erase_if(messages_, [&](const Message& m) { return m.channel == open.channel && m.ordinal == open.ordinal; });
  for (Message& m : messages_)
    if (m.channel == open.channel && m.ordinal > open.ordinal) --m.ordinal;
}

/// Gives deferred receives their ordinals, up to the first whose sender or tag is unknown.
void LateSenders::pass_resolved(int local) {
  const std::deque<Post>& deferred = local_[static_cast<std::size_t>(local)].deferred;
  while (!deferred.empty() && (deferred.front().resolved || deferred.front().cancelled)) pass_first(local);
}

void LateSenders::pass_first(int local) {
  Rank& rank = local_[static_cast<std::size_t>(local)];
  const Post post = rank.deferred.front();
  rank.deferred.pop_front();
  ++rank.n_passed;
  if (post.cancelled) return;
  Entry& entry = channel({post.peer, ranks_[static_cast<std::size_t>(local)], post.communicator, post.tag});
  const std::uint64_t ordinal = entry.second.posted++;
  add_message(entry, ordinal, post.probe);
  add_message(entry, ordinal, post.call);
  if (post.request >= rank.open.size()) return;
  rank.open[post.request].channel = &entry;
  rank.open[post.request].ordinal = ordinal;
}

void LateSenders::forget(int local) {
  Rank& rank = local_[static_cast<std::size_t>(local)];
  rank = {};
}

void LateSenders::restart() {
  calls_.clear();
  messages_.clear();
  for (auto& [key, channel] : channels_) channel = {};
  for (Rank& rank : local_) {
    std::vector<Open*> open;
    for (Open& o : rank.open)
      if (o.is_open && o.channel) open.push_back(&o);
    std::sort(open.begin(), open.end(), [](const Open* a, const Open* b) { return a->ordinal < b->ordinal; });
    for (Open* o : open) o->ordinal = o->channel->second.posted++;
    for (Post& post : rank.deferred) {
      if (post.call != none) post.cancelled = true;  // it was complete before
      post.call = post.probe = none;
    }
  }
}

// ---- evaluation

void LateSenders::learn_nodes(Communicator& nodes) {
  if (nodes.size() == 1 || !node_of_.empty()) return;
  here_ = nodes.rank();
  const Gathered<int> all = nodes.allgatherv(std::span<const int>(ranks_));
  node_of_.assign(static_cast<std::size_t>(n_ranks_), 0);
  for (int node = 0; node < nodes.size(); ++node)
    for (const int rank : all.of(node)) node_of_[static_cast<std::size_t>(rank)] = node;
}

std::int64_t LateSenders::sent_at(const Channel& channel, std::uint64_t ordinal) const {
  if (ordinal < channel.base) return long_ago;
  const std::uint64_t place = ordinal - channel.base;
  return place < channel.sent.size() ? channel.sent[static_cast<std::size_t>(place)] : not_yet;
}

/// If too many messages of other nodes must be asked for, marks the calls that are left out of the sample.
void LateSenders::choose_sample(const NodeClock& clock) {
  std::vector<bool> asks(calls_.size(), false);
  std::size_t n = 0;
  for (const Message& m : messages_) {
    const Call& call = calls_[m.call];
    if (is_here(m.channel->first.sender) || call.end_ns - call.begin_ns <= clock.bound) continue;
    asks[m.call] = true;
    ++n;
  }
  int level = 0;
  while (n >> level > most_queries) ++level;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Call& call = calls_[i];
    if (level == 0 || !asks[i] || call.deferred) continue;
    call.level = level;
    call.counts = in_sample(n_calls_ + i, level);
  }
  n_calls_ += calls_.size();
}

/// When the messages were sent, on this node's clock.
std::vector<std::int64_t> LateSenders::ask(Communicator& nodes, const NodeClock& clock) {
  std::vector<std::int64_t> sent(messages_.size(), long_ago);
  std::vector<std::vector<std::size_t>> remote(static_cast<std::size_t>(nodes.size()));  // by node
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    const Call& call = calls_[m.call];
    if (!call.counts) continue;
    if (is_here(m.channel->first.sender))
      sent[i] = sent_at(m.channel->second, m.ordinal);
    else if (call.end_ns - call.begin_ns > clock.bound)
      remote[static_cast<std::size_t>(node_of_[static_cast<std::size_t>(m.channel->first.sender)])].push_back(i);
  }
  if (nodes.size() == 1) return sent;

  Gathered<Query> queries;
  queries.offsets.push_back(0);
  for (const auto& list : remote) {
    for (const std::size_t i : list) queries.values.push_back({messages_[i].channel->first, messages_[i].ordinal});
    queries.offsets.push_back(queries.values.size());
  }
  const Gathered<Query> asked = nodes.alltoallv(queries);
  Gathered<std::int64_t> answers{{}, asked.offsets};
  for (const Query& query : asked.values) {
    const auto known = channels_.find(query.key);
    const std::int64_t at = known == channels_.end() ? not_yet : sent_at(known->second, query.ordinal);
    answers.values.push_back(at == long_ago || at == not_yet ? at : at - clock.offset);
  }
  const Gathered<std::int64_t> answered = nodes.alltoallv(answers);
  std::size_t next = 0;
  for (const auto& list : remote)
    for (const std::size_t i : list) {
      const std::int64_t at = answered.values[next++];
      sent[i] = at == long_ago || at == not_yet ? at : at + clock.offset;
    }
  return sent;
}

/// Determines for each call how late the message sent last was.
void LateSenders::judge(const std::vector<std::int64_t>& sent, const NodeClock& clock) {
  const auto uncertain = [&](const Message& m) { return is_here(m.channel->first.sender) ? 0 : clock.bound; };
  const auto after = [&](std::size_t i) {
    return sent[i] != not_yet && sent[i] != long_ago &&
           sent[i] > calls_[messages_[i].call].end_ns + uncertain(messages_[i]);
  };
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (calls_[messages_[i].call].probes || !after(i)) continue;
    ++reversed_;
    messages_[i].channel->second.suspect = true;
  }
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    Call& call = calls_[m.call];
    if (sent[i] == not_yet) call.waiting = true;
    const std::int32_t sender = m.channel->first.sender;
    if (sent[i] == not_yet || sent[i] == long_ago || m.channel->second.suspect ||
        sender == ranks_[static_cast<std::size_t>(call.local)] || (call.probes && after(i)))
      continue;
    const std::int64_t late_by = sent[i] - call.begin_ns;
    if (late_by <= uncertain(m) || std::tie(late_by, sender) <= std::tie(call.late_by, call.late)) continue;
    call.late_by = late_by;
    call.late = sender;
  }
}

/// Takes the waits of calls for which all times are known.  Other calls are kept; those for which the time of a send is
/// missing, for one more window only.
std::vector<LateSender> LateSenders::take_waits(const std::vector<std::int64_t>& sent) {
  std::vector<bool> held(calls_.size(), false);
  for (const Rank& rank : local_)
    for (const Post& post : rank.deferred)
      for (const std::uint32_t call : {post.call, post.probe})
        if (call != none) held[call] = true;
  std::vector<LateSender> out;
  std::vector<Call> kept;
  std::vector<std::uint32_t> place(calls_.size(), none);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Call& call = calls_[i];
    if (held[i] || (call.waiting && !call.deferred)) {
      call.deferred = true;
      call.waiting = false;
      place[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(call);
    } else if (call.late >= 0 && call.counts) {
      out.push_back(
          {call.local, call.late, call.step, std::min(call.late_by, call.end_ns - call.begin_ns), call.level});
    }
  }
  std::vector<Message> open;
  for (std::size_t i = 0; i < messages_.size(); ++i)
    if (sent[i] == not_yet && place[messages_[i].call] != none)
      open.push_back({messages_[i].channel, messages_[i].ordinal, place[messages_[i].call]});
  for (Rank& rank : local_)
    for (Post& post : rank.deferred)
      for (std::uint32_t* const call : {&post.call, &post.probe})
        if (*call != none) *call = place[*call];
  calls_ = std::move(kept);
  messages_ = std::move(open);
  return out;
}

/// Drops sends that are older than the preceding window; their receives are no longer expected.
void LateSenders::forget_old_sends() {
  for (auto& [key, channel] : channels_) {
    channel.sent.erase(channel.sent.begin(), channel.sent.begin() + static_cast<std::ptrdiff_t>(channel.old));
    channel.base += channel.old;
    channel.old = channel.sent.size();
    if (!channel.suspect) continue;
    // Its first receive belongs to a send that was not counted.
    channel.suspect = false;
    if (channel.posted > 0) --channel.posted;
  }
}

void LateSenders::shift_suspects() {
  for (Rank& rank : local_)
    for (Open& open : rank.open)
      if (open.is_open && open.channel && open.channel->second.suspect && open.ordinal > 0) --open.ordinal;
  for (Message& m : messages_)
    if (m.channel->second.suspect && m.ordinal > 0) --m.ordinal;
}

std::vector<LateSender> LateSenders::find(Communicator& nodes, const NodeClock& clock) {
  learn_nodes(nodes);
  choose_sample(clock);
  const std::vector<std::int64_t> sent = ask(nodes, clock);
  judge(sent, clock);
  std::vector<LateSender> out = take_waits(sent);
  shift_suspects();
  forget_old_sends();
  return out;
}

}  // namespace effort::communication
