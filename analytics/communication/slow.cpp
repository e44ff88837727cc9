#include "analytics/communication/slow.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "analytics/communication/outliers.hpp"

namespace effort::communication {

namespace {

/// A rank's time outside its calls, between its first and last event.
struct Pause {
  std::int64_t total_ns = 0;
  std::int32_t rank = 0;
  std::int64_t resumed_ns = 0;  ///< end of its longest pause
};

/// Answers questions about the events of an instance.
class Inside {
 public:
  Inside(const Record& record, const Patterns& patterns, std::size_t instance)
      : record_(record),
        patterns_(patterns),
        instance_(patterns.instances[instance]),
        events_(
            std::span(patterns.events).subspan(instance_.first_event, instance_.end_event - instance_.first_event)) {}

  /// The longest pause of any rank.
  Pause pause() const {
    Pause longest;
    longest.rank = events_.front().rank;
    for_ranks([&](std::span<const Event> own) {
      const Pause pause = pause_of(own);
      if (pause.total_ns > longest.total_ns) longest = pause;
    });
    return longest;
  }

  /// The cause, if others waited for a rank that began, or continued, at this time.
  SlowCause cause(std::int32_t late, std::int64_t since_ns) const {
    const Event* first = nullptr;
    for (const Event& e : events_) {
      if (e.rank == late && begin_of(record_, e) >= since_ns &&
          (first == nullptr || begin_of(record_, e) < begin_of(record_, *first)))
        first = &e;
    }
    if (first == nullptr || first->kind == Event::Kind::collective) return SlowCause::late_partner;
    bool waits_to_send = false;
    for (const Event& e : events_) {
      if (e.kind == Event::Kind::collective || e.peer != late || !waits(e, since_ns)) continue;
      if (e.kind == Event::Kind::receive) return SlowCause::late_sender;
      waits_to_send = true;
    }
    if (waits_to_send) return SlowCause::late_receiver;
    return first->kind == Event::Kind::send ? SlowCause::late_sender : SlowCause::late_receiver;
  }

  void describe(SlowInstance& slow) const {
    std::int64_t first = 0, last = 0, shortest = 0, longest = 0;
    bool any = false;
    for_ranks([&](std::span<const Event> own) {
      std::int64_t end = end_of(record_, own.front());
      for (const Event& e : own) {
        const std::int64_t time = end_of(record_, e) - begin_of(record_, e);
        const auto index = static_cast<std::size_t>(&e - patterns_.events.data());
        const bool very_first = !any && &e == &own.front();
        if (very_first || time < shortest) shortest = time, slow.shortest = index;
        if (very_first || time > longest) longest = time, slow.longest = index;
        end = std::max(end, end_of(record_, e));
      }
      if (!any || end < first) first = end, slow.first_done = own.front().rank;
      if (!any || end > last) last = end, slow.last_done = own.front().rank;
      any = true;
    });
  }

 private:
  template <typename Do>
  void for_ranks(const Do& perform) const {
    for (std::size_t first = 0, end = 0; first < events_.size(); first = end) {
      while (end < events_.size() && events_[end].rank == events_[first].rank) ++end;
      perform(events_.subspan(first, end - first));
    }
  }

  Pause pause_of(std::span<const Event> own) const {
    struct Busy {
      std::int64_t begin, end;
    };
    std::vector<Busy> busy;
    const auto add = [&](std::uint32_t call) {
      if (call != none) busy.push_back({record_.calls[call].begin_ns, record_.calls[call].end_ns});
    };
    for (const Event& e : own) add(e.start), add(e.done);
    std::sort(busy.begin(), busy.end(), [](const Busy& a, const Busy& b) { return a.begin < b.begin; });
    Pause pause{0, own.front().rank, 0};
    std::int64_t until = busy.front().end, longest = 0;
    for (const Busy& call : busy) {
      const std::int64_t gap = call.begin - until;
      if (gap > 0) pause.total_ns += gap;
      if (gap > longest) longest = gap, pause.resumed_ns = call.begin;
      until = std::max(until, call.end);
    }
    return pause;
  }

  /// Whether an event's last call was already waiting when the other rank arrived.
  bool waits(const Event& e, std::int64_t since_ns) const {
    const Call& call = record_.calls[e.done == none ? e.start : e.done];
    return call.begin_ns < since_ns && call.end_ns >= since_ns;
  }

  const Record& record_;
  const Patterns& patterns_;
  const Instance& instance_;
  std::span<const Event> events_;
};

/// Instances of one pattern and size.
class Class {
 public:
  Class(const Record& record, const Patterns& patterns, std::span<const std::size_t> members)
      : record_(record), patterns_(patterns), members_(members) {}

  void find_slow(double cutoff, std::vector<SlowInstance>& out) {
    std::vector<double> durations;
    for (const std::size_t i : members_) durations.push_back(static_cast<double>(patterns_.instances[i].duration_ns()));
    const std::vector<double> scores = modified_z_scores(durations);
    if (*std::max_element(scores.begin(), scores.end()) <= cutoff) return;
    const double typical = median(durations);
    measure();
    const std::size_t before = out.size();
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (scores[m] <= cutoff) continue;
      out.push_back({members_[m], scores[m], typical});
      blame(m, durations[m] - typical, out.back());
      Inside(record_, patterns_, members_[m]).describe(out.back());
    }
    look_for_repeated_noise(std::span(out).subspan(before));
  }

 private:
  void measure() {
    std::vector<double> late, paused;
    for (const std::size_t i : members_) {
      const Instance& instance = patterns_.instances[i];
      pauses_.push_back(Inside(record_, patterns_, i).pause());
      late.push_back(static_cast<double>(instance.last_start_ns - instance.start_ns));
      paused.push_back(static_cast<double>(pauses_.back().total_ns));
    }
    usual_lateness_ = median(late);
    usual_pause_ = median(paused);
  }

  void blame(std::size_t member, double excess, SlowInstance& slow) {
    const Instance& instance = patterns_.instances[members_[member]];
    const Inside inside(record_, patterns_, members_[member]);
    slow.last_rank = instance.last_rank;
    const auto late = static_cast<double>(instance.last_start_ns - instance.start_ns);
    if (late - usual_lateness_ >= excess / 2) {
      slow.cause = inside.cause(slow.last_rank, instance.last_start_ns);
    } else if (static_cast<double>(pauses_[member].total_ns) - usual_pause_ >= excess / 2) {
      slow.cause = SlowCause::noise;
      slow.last_rank = pauses_[member].rank;
    } else {
      slow.cause = SlowCause::transfer;
    }
  }

  /// A rank that is held up more than once is late.
  void look_for_repeated_noise(std::span<SlowInstance> slow) {
    std::vector<std::int32_t> ranks;
    for (const SlowInstance& s : slow) {
      if (s.cause == SlowCause::noise) ranks.push_back(s.last_rank);
    }
    std::sort(ranks.begin(), ranks.end());
    for (SlowInstance& s : slow) {
      if (s.cause != SlowCause::noise) continue;
      const auto [first, end] = std::equal_range(ranks.begin(), ranks.end(), s.last_rank);
      if (end - first < 2) continue;
      const auto member = std::lower_bound(members_.begin(), members_.end(), s.instance) - members_.begin();
      s.cause = Inside(record_, patterns_, s.instance)
                    .cause(s.last_rank, pauses_[static_cast<std::size_t>(member)].resumed_ns);
    }
  }

  const Record& record_;
  const Patterns& patterns_;
  std::span<const std::size_t> members_;  ///< ascending
  std::vector<Pause> pauses_;             ///< of the members
  double usual_lateness_ = 0, usual_pause_ = 0;
};

}  // namespace

const char* slow_cause_name(SlowCause cause) {
  switch (cause) {
    case SlowCause::late_sender: return "late_sender";
    case SlowCause::late_receiver: return "late_receiver";
    case SlowCause::late_partner: return "late_partner";
    case SlowCause::transfer: return "transfer";
    case SlowCause::noise: return "noise";
  }
  return "";
}

std::vector<SlowInstance> find_slow(const Record& record, const Patterns& patterns, double cutoff) {
  std::vector<std::size_t> order(patterns.instances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::pair(patterns.instances[i].pattern, patterns.instances[i].bytes); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<SlowInstance> out;
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && key(order[end]) == key(order[first])) ++end;
    if (end - first < smallest_class) continue;
    Class(record, patterns, std::span(order).subspan(first, end - first)).find_slow(cutoff, out);
  }
  std::sort(out.begin(), out.end(),
            [](const SlowInstance& a, const SlowInstance& b) { return a.instance < b.instance; });
  return out;
}

}  // namespace effort::communication
