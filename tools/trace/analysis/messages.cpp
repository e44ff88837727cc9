#include "tools/trace/analysis/messages.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

#include "tools/trace/analysis/message_order.hpp"

namespace effort::tools {

namespace {

using trace::Kind;

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
      // Requests do not survive a gap: their numbers may have been reused.
      const bool follows =
          s > 0 && trace_.windows[span.window].ordinal <= trace_.windows[thread_.spans[s - 1].window].ordinal + 1;
      const KeptRank* const kept = trace_.windows[span.window].find(thread_.rank);
      if (!follows || kept == nullptr || kept->dropped_steps > 0) starts_.clear();
      for (std::size_t i = span.first; i < span.end; ++i) take(span, i);
    }
  }

 private:
  void take(const TraceSpan& span, std::size_t i) {
    const TraceEvent& event = thread_.events[i];
    switch (event.kind) {
      case Kind::send_start: starts_[event.request] = i; [[fallthrough]];
      case Kind::send: add(sends_, span, i, event.time_ns, i, thread_.rank, event.peer); break;
      case Kind::receive_start: starts_[event.request] = i; break;
      case Kind::receive: add(receives_, span, i, event.time_ns, i, event.peer, thread_.rank); break;
      case Kind::receive_done: {
        const std::size_t start = started(event.request, i);
        // Posted in an earlier window that was not kept: it comes before everything else.
        const std::int64_t posted = start == nowhere ? span.start_ns : thread_.events[start].time_ns;
        add(receives_, span, i, posted, start == nowhere ? 0 : start, event.peer, thread_.rank);
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

  void add(std::vector<End>& ends, const TraceSpan& span, std::size_t i, std::int64_t order_ns, std::size_t order_event,
           std::int32_t sender, std::int32_t receiver) {
    const TraceEvent& event = thread_.events[i];
    if (event.peer < 0) return;  // the peer is not known
    ends.push_back({sender,
                    receiver,
                    event.id,
                    event.tag,
                    order_ns,
                    order_event,
                    {index_, i},
                    event.time_ns,
                    event.bytes,
                    span.window,
                    time_error(span, i)});
  }

  /// The coder bounds the error of a time relative to the gap before the event and to the gap after it.  Both gaps are
  /// computed from stored times, which have errors themselves, so the bound is widened slightly.
  std::int64_t time_error(const TraceSpan& span, std::size_t i) const {
    if (trace_.bound.is_exact()) return 0;
    const std::int64_t time = thread_.events[i].time_ns;
    std::size_t before = i, behind = i;
    while (before > span.first && thread_.events[before].time_ns >= time) --before;
    while (behind + 1 < span.end && thread_.events[behind].time_ns <= time) ++behind;
    const std::int64_t earlier = std::min(span.start_ns, time), later = std::max(span.end_ns, time);
    const std::int64_t gap_before = time - (before > span.first ? thread_.events[before].time_ns : earlier);
    const std::int64_t gap_behind = (behind + 1 < span.end ? thread_.events[behind].time_ns : later) - time;
    const std::int64_t gap = gap_behind > 0 ? std::min(gap_before, gap_behind) : gap_before;
    return trace_.bound.allowed(gap + gap / 16 + 2 * trace_.bound.absolute_ns);
  }

  const Trace& trace_;
  std::size_t index_;
  const TraceThread& thread_;
  std::vector<End>&sends_, &receives_;
  std::vector<std::size_t>& partner_;
  std::unordered_map<std::uint32_t, std::size_t> starts_;
};

/// Intervals in which all messages between two ranks are recorded.
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
      if (w > 0 && (!continues(w) || dropped(sender_, w) || dropped(receiver_, w))) ++segment;
      segment_[w] = segment;
    }
  }
  std::int32_t of(std::size_t window) const { return segment_[window]; }
  /// Whether it begins at the start of the run, when no message was under way.
  bool from_start(std::size_t window) const {
    return trace_.is_otf2 || (segment_[window] == 0 && trace_.windows[0].ordinal == 0 && there(0) &&
                              !dropped(sender_, 0) && !dropped(receiver_, 0));
  }
  /// Whether a rank's first steps of the segment's first window are missing.
  bool sender_dropped(std::size_t window) const { return dropped(sender_, first(window)); }
  bool receiver_dropped(std::size_t window) const { return dropped(receiver_, first(window)); }
  /// Whether nothing but such steps separates the segment from the one before.
  bool follows(std::size_t window) const { return first(window) > 0 && continues(first(window)); }

 private:
  std::size_t first(std::size_t window) const {
    while (window > 0 && segment_[window - 1] == segment_[window]) --window;
    return window;
  }
  bool continues(std::size_t w) const {
    return trace_.windows[w].ordinal == trace_.windows[w - 1].ordinal + 1 && there(w) && there(w - 1);
  }
  /// Whether the window has all messages between the two, from the last dropped step on.
  bool there(std::size_t w) const {
    if (trace_.is_otf2) return true;
    const KeptRank *const sender = trace_.windows[w].find(sender_), *const receiver = trace_.windows[w].find(receiver_);
    const auto readable = [](const KeptRank* kept) { return kept != nullptr && kept->events && !kept->lost; };
    if (!readable(sender) || !readable(receiver)) return false;
    return !sender->partner_only() || !receiver->partner_only();  // messages between two partners are not recorded
  }
  /// A ring that is full loses the oldest steps of a window.
  bool dropped(std::int32_t rank, std::size_t w) const {
    const KeptRank* const kept = trace_.windows[w].find(rank);
    return kept != nullptr && kept->dropped_steps > 0;
  }

  const Trace& trace_;
  std::int32_t sender_ = -1, receiver_ = -1;
  std::vector<std::int32_t> segment_;  ///< [windows]
};

class Matcher {
 public:
  explicit Matcher(const Trace& trace) : trace_(trace), segments_(trace) {}

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
    std::span<End> open_sends;  // behind the last matched one of the segment before
    while (s < sends.size() || r < receives.size()) {
      std::int32_t segment = s < sends.size() ? segments_.of(sends[s].window) : segments_.of(receives[r].window);
      if (r < receives.size()) segment = std::min(segment, segments_.of(receives[r].window));
      const auto end = [&](std::span<const End> ends, std::size_t at) {
        while (at < ends.size() && segments_.of(ends[at].window) <= segment) ++at;
        return at;
      };
      const std::size_t s_end = end(sends, s), r_end = end(receives, r);
      const std::span<End> sent = sends.subspan(s, s_end - s), received = receives.subspan(r, r_end - r);
      if (!sent.empty() && !received.empty()) match_in_order(sent, received);
      if (!open_sends.empty() && !received.empty() &&
          segments_.of(open_sends.back().window) + 1 == segments_.of(received[0].window))
        match_over_dropped(open_sends, received);
      open_sends = sent.last(unmatched_at_end(sent));
      s = s_end;
      r = r_end;
    }
  }

  static std::size_t unmatched_at_end(std::span<const End> ends) {
    std::size_t n = 0;
    while (n < ends.size() && !ends[ends.size() - 1 - n].matched) ++n;
    return n;
  }

  void match_in_order(std::span<End> sends, std::span<End> receives) {
    const std::size_t window = std::min(sends[0].window, receives[0].window);
    const bool from_start = segments_.from_start(window);
    // Few messages are under way when a step ends.  The sequences are therefore aligned at their beginning, or at their
    // end if the first steps of a rank are missing.
    const bool dropped = segments_.sender_dropped(window) || segments_.receiver_dropped(window);
    const std::ptrdiff_t expected =
        dropped ? static_cast<std::ptrdiff_t>(receives.size()) - static_cast<std::ptrdiff_t>(sends.size()) : 0;
    const std::int64_t clocks = clocks_ns(sends[0]);
    const std::ptrdiff_t shift = from_start ? 0 : best_shift(sends, receives, expected, clocks);
    for (std::size_t i = shift < 0 ? static_cast<std::size_t>(-shift) : 0; i < sends.size(); ++i) {
      const auto j = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + shift);
      if (j >= receives.size()) break;
      if (from_start || possible(sends[i], receives[j], clocks)) add(sends[i], receives[j]);
    }
  }

  /// Messages that were under way at the start of a window whose first steps one of the ranks has lost.  If that is the
  /// receiver, the last of them are recorded; if it is the sender, the first.
  void match_over_dropped(std::span<End> sends, std::span<End> receives) {
    const std::size_t window = receives[0].window;
    if (!segments_.follows(window) || segments_.sender_dropped(window) == segments_.receiver_dropped(window)) return;
    std::size_t n = 0;
    while (n < receives.size() && !receives[n].matched) ++n;
    const std::size_t pairs = std::min(n, sends.size());
    const bool last = segments_.receiver_dropped(window);
    const std::span<End> s = last ? sends.last(pairs) : sends.first(pairs);
    const std::span<End> r = last ? receives.subspan(n - pairs, pairs) : receives.first(pairs);
    for (std::size_t i = 0; i < pairs; ++i)
      if (possible(s[i], r[i], clocks_ns(s[i]))) add(s[i], r[i]);
  }

  /// Bound on the difference between the clocks of the two ranks.
  std::int64_t clocks_ns(const End& end) const {
    const std::int32_t node = trace_.node(end.sender);
    return node >= 0 && node == trace_.node(end.receiver) ? 0 : std::max<std::int64_t>(0, trace_.clock_bound_ns);
  }

  void add(End& send, End& receive) {
    send.matched = receive.matched = true;
    // A receive that was freed before its end has no bytes, and the time at which it was freed.
    const bool seen = receive.bytes > 0 || send.bytes == 0;
    const std::uint64_t bytes = seen ? receive.bytes : send.bytes;
    TraceMessage message{send.communicator, send.sender,   send.receiver, send.tag,       bytes,
                         send.place,        receive.place, send.time_ns,  receive.time_ns};
    if (receive.time_ns < send.time_ns) {
      message.receive_ns = send.time_ns;
      if (seen && receive.time_ns + receive.error_ns + send.error_ns < send.time_ns) {
        ++out_.clamped;
        out_.largest_clamp_ns = std::max(out_.largest_clamp_ns, send.time_ns - receive.time_ns);
      }
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
  TraceMessages out_;
};

}  // namespace

TraceMessages match_messages(const Trace& trace) { return Matcher(trace).run(); }

}  // namespace effort::tools
