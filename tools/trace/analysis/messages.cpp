#include "tools/trace/analysis/messages.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <unordered_map>

namespace effort::tools {

namespace {

using trace::Kind;

/// One end of a message.
struct End {
  std::int32_t sender = 0, receiver = 0;
  std::uint32_t communicator = 0;
  std::int32_t tag = 0;
  std::int64_t order_ns = 0;  ///< when the send began or the receive was posted
  EventPlace place;
  std::int64_t time_ns = 0;  ///< when the send began or the receive was complete
  std::uint64_t bytes = 0;
  std::size_t window = 0;
  bool matched = false;

  auto channel() const { return std::tuple(sender, receiver, communicator, tag); }
  auto pair() const { return std::tuple(sender, receiver, tag); }
  auto key() const { return std::tuple(channel(), order_ns, place.thread, place.event); }
};

constexpr std::size_t nowhere = ~std::size_t{0};

/// Collects the ends of one thread, and which start belongs to which completion.
class Collector {
 public:
  Collector(const Trace& trace, std::size_t thread, std::vector<End>& sends, std::vector<End>& receives,
            std::vector<std::size_t>& partner)
      : trace_(trace),
        index_(thread),
        thread_(trace.threads[thread]),
        sends_(sends),
        receives_(receives),
        partner_(partner) {
    partner_.assign(thread_.events.size(), nowhere);
  }

  void run() {
    for (std::size_t s = 0; s < thread_.spans.size(); ++s) {
      const TraceSpan& span = thread_.spans[s];
      // Requests do not survive what was not kept: their numbers may mean others by now.
      const bool follows =
          s > 0 && trace_.windows[span.window].ordinal <= trace_.windows[thread_.spans[s - 1].window].ordinal + 1;
      if (!follows) starts_.clear();
      for (std::size_t i = span.first; i < span.end; ++i) take(span, i);
    }
  }

 private:
  void take(const TraceSpan& span, std::size_t i) {
    const TraceEvent& event = thread_.events[i];
    switch (event.kind) {
      case Kind::send_start: starts_[event.request] = i; [[fallthrough]];
      case Kind::send: add(sends_, span, i, event.time_ns, thread_.rank, event.peer); break;
      case Kind::receive_start: starts_[event.request] = i; break;
      case Kind::receive: add(receives_, span, i, event.time_ns, event.peer, thread_.rank); break;
      case Kind::receive_done: {
        const std::size_t start = started(event.request, i);
        // Posted in an earlier window that is not there: before everything else.
        const std::int64_t posted = start == nowhere ? span.start_ns : thread_.events[start].time_ns;
        add(receives_, span, i, posted, event.peer, thread_.rank);
        break;
      }
      case Kind::send_done:
      case Kind::request_cancelled: started(event.request, i); break;
      default: break;
    }
  }

  std::size_t started(std::uint32_t request, std::size_t completion) {
    const auto at = starts_.find(request);
    if (at == starts_.end()) return nowhere;
    const std::size_t start = at->second;
    partner_[start] = completion;
    partner_[completion] = start;
    starts_.erase(at);
    return start;
  }

  void add(std::vector<End>& ends, const TraceSpan& span, std::size_t i, std::int64_t order, std::int32_t sender,
           std::int32_t receiver) {
    const TraceEvent& event = thread_.events[i];
    if (event.peer < 0) return;  // to or from nobody
    ends.push_back(
        {sender, receiver, event.id, event.tag, order, {index_, i}, event.time_ns, event.bytes, span.window});
  }

  const Trace& trace_;
  std::size_t index_;
  const TraceThread& thread_;
  std::vector<End>&sends_, &receives_;
  std::vector<std::size_t>& partner_;
  std::unordered_map<std::uint32_t, std::size_t> starts_;
};

/// Intervals in which everything between two ranks is there.
class Segments {
 public:
  explicit Segments(const Trace& trace) : trace_(trace) {}

  void choose(std::int32_t sender, std::int32_t receiver) {
    if (sender == sender_ && receiver == receiver_ && !segment_.empty()) return;
    sender_ = sender;
    receiver_ = receiver;
    segment_.assign(trace_.windows.size(), 0);
    std::int32_t segment = 0;
    for (std::size_t w = 0; w < trace_.windows.size(); ++w) {
      const bool follows = w > 0 && trace_.windows[w].ordinal == trace_.windows[w - 1].ordinal + 1;
      if (w > 0 && (!follows || !whole_in(w) || !whole_in(w - 1))) ++segment;
      segment_[w] = segment;
    }
  }
  std::int32_t of(std::size_t window) const { return segment_[window]; }
  /// Whether it begins where the run does, so that nothing was under way.
  bool from_start(std::size_t window) const {
    return trace_.is_otf2 || (segment_[window] == 0 && trace_.windows[0].ordinal == 0 && whole_in(0));
  }

 private:
  bool whole_in(std::size_t w) const {
    if (trace_.is_otf2) return true;
    const KeptRank *const sender = trace_.windows[w].find(sender_), *const receiver = trace_.windows[w].find(receiver_);
    if (!whole(sender) || !whole(receiver)) return false;
    return !sender->partner_only() || !receiver->partner_only();  // messages of two partners are not there
  }
  static bool whole(const KeptRank* kept) {
    return kept != nullptr && kept->events && !kept->lost && kept->dropped_steps == 0;
  }

  const Trace& trace_;
  std::int32_t sender_ = -1, receiver_ = -1;
  std::vector<std::int32_t> segment_;  ///< [windows]
};

bool possible(const End& send, const End& receive, std::int64_t tolerance) {
  return receive.bytes == send.bytes && receive.time_ns + tolerance >= send.time_ns;
}

/// How well two sequences fit if the first `shift` receives have no send, or the first -shift sends no receive.
struct Fit {
  std::ptrdiff_t pairs = 0, bad = 0;  ///< bad: of different sizes, or complete before being sent
  double spread = 0;                  ///< standard deviation of the transfer times

  double bad_share() const { return pairs == 0 ? 1 : static_cast<double>(bad) / static_cast<double>(pairs); }
};

Fit fit(std::span<const End> sends, std::span<const End> receives, std::ptrdiff_t shift, std::int64_t tolerance) {
  Fit out;
  double sum = 0, squares = 0;
  const auto n = static_cast<std::ptrdiff_t>(sends.size()), m = static_cast<std::ptrdiff_t>(receives.size());
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, -shift); i < n && i + shift < m; ++i) {
    const End &send = sends[static_cast<std::size_t>(i)], &receive = receives[static_cast<std::size_t>(i + shift)];
    ++out.pairs;
    out.bad += possible(send, receive, tolerance) ? 0 : 1;
    const auto transfer = static_cast<double>(receive.time_ns - send.time_ns);
    sum += transfer;
    squares += transfer * transfer;
  }
  const auto pairs = static_cast<double>(std::max<std::ptrdiff_t>(1, out.pairs));
  out.spread = std::sqrt(std::max(0.0, squares / pairs - sum / pairs * (sum / pairs)));
  return out;
}

/// The receive of the first send, counted from the first receive; negative: the first sends have none.  Of the shifts
/// that are possible, that whose transfers take the most even time: a wrong one adds the scatter of the sends to them.
/// As long as that is not clear, the smallest: few messages are under way when a step ends.
std::ptrdiff_t best_shift(std::span<const End> sends, std::span<const End> receives, std::int64_t tolerance) {
  constexpr std::ptrdiff_t most = 64, fewest_pairs = 4;
  constexpr double clear = 0.7;
  const auto n = static_cast<std::ptrdiff_t>(sends.size()), m = static_cast<std::ptrdiff_t>(receives.size());
  const std::ptrdiff_t enough = std::min(std::min(n, m), std::max(fewest_pairs, std::min(n, m) / 2));
  std::ptrdiff_t best = 0;
  Fit best_fit = fit(sends, receives, 0, tolerance);
  const auto try_shift = [&](std::ptrdiff_t shift) {
    if (shift <= -n || shift >= m) return;
    const Fit other = fit(sends, receives, shift, tolerance);
    if (other.pairs < enough && best_fit.bad_share() < 1) return;
    const bool more_possible = other.bad_share() < best_fit.bad_share() - 1e-9;
    const bool as_possible = other.bad_share() <= best_fit.bad_share() + 1e-9;
    if (more_possible || (as_possible && other.pairs >= fewest_pairs && other.spread < clear * best_fit.spread))
      best = shift, best_fit = other;
  };
  for (std::ptrdiff_t distance = 1; distance <= most; ++distance) {
    try_shift(distance);
    try_shift(-distance);
  }
  return best;
}

class Matcher {
 public:
  explicit Matcher(const Trace& trace) : trace_(trace), segments_(trace) {
    tolerance_ns_ = std::max<std::int64_t>(0, trace.clock_bound_ns) + 2 * trace.bound.absolute_ns;
  }

  TraceMessages run() {
    std::vector<End> sends, receives;
    std::vector<std::vector<std::size_t>> partners(trace_.threads.size());
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) Collector(trace_, t, sends, receives, partners[t]).run();
    const auto by_key = [](const End& a, const End& b) { return a.key() < b.key(); };
    std::sort(sends.begin(), sends.end(), by_key);
    std::sort(receives.begin(), receives.end(), by_key);
    match_channels(sends, receives);
    if (trace_.is_otf2) match_without_communicator(sends, receives);
    out_.unmatched_sends = sends.size() - out_.matched.size();
    out_.unmatched_receives = receives.size() - out_.matched.size();
    std::sort(out_.matched.begin(), out_.matched.end(), [](const TraceMessage& a, const TraceMessage& b) {
      return std::tuple(a.send_ns, a.sender, a.send.event) < std::tuple(b.send_ns, b.sender, b.send.event);
    });
    mark(partners);
    return std::move(out_);
  }

 private:
  void match_channels(std::span<End> sends, std::span<End> receives) {
    std::size_t s = 0, r = 0;
    while (s < sends.size() && r < receives.size()) {
      if (sends[s].channel() < receives[r].channel()) {
        ++s;
      } else if (receives[r].channel() < sends[s].channel()) {
        ++r;
      } else {
        const auto channel = sends[s].channel();
        segments_.choose(sends[s].sender, sends[s].receiver);
        const auto s_end = end_of(sends, s, channel), r_end = end_of(receives, r, channel);
        match_segments(sends.subspan(s, s_end - s), receives.subspan(r, r_end - r));
        s = s_end;
        r = r_end;
      }
    }
  }

  template <typename Channel>
  static std::size_t end_of(std::span<const End> ends, std::size_t at, const Channel& channel) {
    while (at < ends.size() && ends[at].channel() == channel) ++at;
    return at;
  }

  void match_without_communicator(std::vector<End>& sends, std::vector<End>& receives) {
    const auto left = [](std::vector<End>& ends) {
      std::vector<End*> out;
      for (End& end : ends)
        if (!end.matched) out.push_back(&end);
      std::sort(out.begin(), out.end(), [](const End* a, const End* b) {
        return std::tuple(a->pair(), a->order_ns, a->place.event) < std::tuple(b->pair(), b->order_ns, b->place.event);
      });
      return out;
    };
    const std::vector<End*> s = left(sends), r = left(receives);
    const auto same_pair = [](const std::vector<End*>& ends, std::size_t at) {
      std::size_t end = at;
      while (end < ends.size() && ends[end]->pair() == ends[at]->pair()) ++end;
      return end - at;
    };
    for (std::size_t i = 0, j = 0; i < s.size() && j < r.size();) {
      const std::size_t n = same_pair(s, i), m = same_pair(r, j);
      if (s[i]->pair() < r[j]->pair()) {
        i += n;
      } else if (r[j]->pair() < s[i]->pair()) {
        j += m;
      } else {
        bool equal = n == m;
        for (std::size_t k = 0; equal && k < n; ++k) equal = s[i + k]->bytes == r[j + k]->bytes;
        for (std::size_t k = 0; equal && k < n; ++k) add(*s[i + k], *r[j + k]);
        out_.other_communicator += equal ? n : 0;
        i += n;
        j += m;
      }
    }
  }

  /// Of one channel.
  void match_segments(std::span<End> sends, std::span<End> receives) {
    std::size_t s = 0, r = 0;
    while (s < sends.size() && r < receives.size()) {
      const std::int32_t segment = std::min(segments_.of(sends[s].window), segments_.of(receives[r].window));
      const auto end = [&](std::span<const End> ends, std::size_t at) {
        while (at < ends.size() && segments_.of(ends[at].window) <= segment) ++at;
        return at;
      };
      const std::size_t s_end = end(sends, s), r_end = end(receives, r);
      if (s < s_end && r < r_end) match_in_order(sends.subspan(s, s_end - s), receives.subspan(r, r_end - r));
      s = s_end;
      r = r_end;
    }
  }

  void match_in_order(std::span<End> sends, std::span<End> receives) {
    const bool from_start = segments_.from_start(sends[0].window);
    const std::ptrdiff_t shift = from_start ? 0 : best_shift(sends, receives, tolerance_ns_);
    for (std::size_t i = shift < 0 ? static_cast<std::size_t>(-shift) : 0; i < sends.size(); ++i) {
      const auto j = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + shift);
      if (j >= receives.size()) break;
      if (from_start || possible(sends[i], receives[j], tolerance_ns_)) add(sends[i], receives[j]);
    }
  }

  void add(End& send, End& receive) {
    send.matched = receive.matched = true;
    TraceMessage message{send.communicator, send.sender,   send.receiver, send.tag,       receive.bytes,
                         send.place,        receive.place, send.time_ns,  receive.time_ns};
    if (receive.time_ns < send.time_ns) {
      ++out_.clamped;
      out_.largest_clamp_ns = std::max(out_.largest_clamp_ns, send.time_ns - receive.time_ns);
      message.receive_ns = send.time_ns;
    }
    out_.matched.push_back(message);
  }

  void mark(const std::vector<std::vector<std::size_t>>& partners) {
    for (const TraceThread& thread : trace_.threads)
      out_.of_event.emplace_back(thread.events.size(), TraceMessages::none);
    for (std::size_t m = 0; m < out_.matched.size(); ++m) {
      for (const EventPlace& place : {out_.matched[m].send, out_.matched[m].receive}) {
        std::vector<std::uint32_t>& of_event = out_.of_event[place.thread];
        of_event[place.event] = static_cast<std::uint32_t>(m);
        const std::size_t partner = partners[place.thread][place.event];
        if (partner != nowhere) of_event[partner] = static_cast<std::uint32_t>(m);
      }
    }
  }

  const Trace& trace_;
  Segments segments_;
  std::int64_t tolerance_ns_ = 0;
  TraceMessages out_;
};

}  // namespace

TraceMessages match_messages(const Trace& trace) { return Matcher(trace).run(); }

}  // namespace effort::tools
