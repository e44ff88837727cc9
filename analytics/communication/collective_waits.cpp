#include "analytics/communication/collective_waits.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace effort::communication {
namespace {

// Instances evaluated at a time; more are sampled.
constexpr std::uint64_t most_instances = std::uint64_t{1} << 16;
// Instances of a communicator that may wait for a member.  A member that falls further behind is assumed to have
// stopped.
constexpr std::uint64_t most_waiting = std::uint64_t{1} << 14;

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

/// Entries of the exchanged row of a communicator, which is reduced to the maxima over nodes.
enum { least_end, most_end, highest_level, full_size, has_scans, row_size };

/// A time and a rank in one integer, ordered by time.
class Packing {
 public:
  Packing(int n_ranks, std::int64_t base)
      : bits_(static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(n_ranks, 2) - 1)))), base_(base) {}

  std::int64_t pack(std::int64_t ns, int rank) const { return time(ns) << bits_ | rank; }
  std::int64_t time(std::int64_t ns) const {
    return std::clamp<std::int64_t>(ns - base_, 0, std::numeric_limits<std::int64_t>::max() >> bits_);
  }
  std::int64_t time_of(std::int64_t packed) const { return packed >> bits_; }
  int rank_of(std::int64_t packed) const { return static_cast<int>(packed & ((std::int64_t{1} << bits_) - 1)); }

 private:
  int bits_;
  std::int64_t base_;
};

/// The latest of consecutive places of a communicator that are on one node.
struct ScanRun {
  std::uint64_t instance;
  std::int32_t place, node;
  std::int64_t latest;  ///< packed
};

/// A wait in a scan, charged to the rank that was waited for.
struct Charge {
  std::uint64_t instance;
  std::int64_t ns;
  std::int32_t rank, reserved;
};

}  // namespace

struct CollectiveWaits::Shared {
  std::vector<std::int64_t> rows;  ///< [communicators][row_size]
  std::vector<std::int64_t> members;
  std::int64_t base = 0;  ///< the earliest time of the waiting arrivals
  std::int64_t at(std::size_t communicator, int what) const {
    return rows[communicator * row_size + static_cast<std::size_t>(what)];
  }
  bool scans() const {
    for (std::size_t i = has_scans; i < rows.size(); i += row_size)
      if (rows[i] > 0) return true;
    return false;
  }
};

/// Instances [first, end) of a communicator.
struct CollectiveWaits::Range {
  std::uint32_t communicator;
  std::uint64_t first, end;
  int level;
  std::size_t begin;                    ///< position of the first sampled one among those of all ranges
  std::vector<std::uint64_t> ordinals;  ///< of the sampled ones
};

/// One call of find().
class CollectiveWaits::Evaluation {
 public:
  Evaluation(const CollectiveWaits& all, Packing packing, const NodeClock& clock, bool wants_edges)
      : all_(all), packing_(packing), clock_(clock), wants_edges_(wants_edges) {}

  void find(Communicator& nodes, const std::vector<Range>& ranges, bool scans) {
    for (const Range& r : ranges) collect(r);
    instances_ = ranges.empty() ? 0 : ranges.back().begin + ranges.back().ordinals.size();
    if (instances_ == 0) return;
    levels_.resize(instances_);
    for (const Range& r : ranges)
      std::fill_n(levels_.begin() + static_cast<std::ptrdiff_t>(r.begin), r.ordinals.size(), r.level);
    find_last(nodes);
    if (scans) find_in_scans(nodes);
  }

  std::vector<CollectiveWait> take() {
    std::vector<CollectiveWait> out;
    for (const auto& [key, wait] : found_) out.push_back(wait);
    return out;
  }
  /// Ordered by waiting and late rank.
  std::vector<WaitEdge> take_edges() {
    std::vector<WaitEdge> out;
    const auto key = [](const WaitEdge& e) { return std::pair(e.waiting, e.late); };
    std::stable_sort(edges_.begin(), edges_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    for (const WaitEdge& e : edges_)
      if (!out.empty() && key(out.back()) == key(e))
        out.back().seconds += e.seconds;
      else
        out.push_back(e);
    return out;
  }

 private:
  struct Reached {  ///< by a rank of this node
    std::uint64_t instance;
    std::int32_t place;
    int local;
    std::int64_t step, ns;
    std::uint32_t phase;
    std::uint8_t part;
  };

  void collect(const Range& range) {
    const auto known = all_.groups_.find(range.communicator);
    if (known == all_.groups_.end()) return;
    for (const auto& [place, member] : known->second.members) {
      auto entry = member.entries.begin();
      for (std::size_t i = 0; i < range.ordinals.size(); ++i) {
        while (entry != member.entries.end() && entry->arrival.ordinal < range.ordinals[i]) ++entry;
        if (entry == member.entries.end()) break;
        if (entry->arrival.ordinal != range.ordinals[i]) continue;
        reached_.push_back({range.begin + i, place, member.local, entry->step, entry->arrival.ns - clock_.offset,
                            entry->phase, entry->arrival.part});
      }
    }
  }

  std::int64_t packed(const Reached& r) const {
    return packing_.pack(r.ns, all_.ranks_[static_cast<std::size_t>(r.local)]);
  }
  /// How long a rank waited for the last one, ns.
  std::int64_t wait_for(std::int64_t last, const Reached& r) const {
    const std::int64_t wait = packing_.time_of(last) - packing_.time(r.ns);
    return wait > clock_.bound || all_.is_here(packing_.rank_of(last)) ? wait : 0;
  }
  double seconds(std::int64_t ns, std::uint64_t instance) const {
    return static_cast<double>(ns) * 1e-9 * static_cast<double>(std::uint64_t{1} << levels_[instance]);
  }
  CollectiveWait& of(const Reached& r) {
    return found_.try_emplace({r.local, r.step}, CollectiveWait{r.local, r.step, r.phase, 0, 0}).first->second;
  }
  void waited(const Reached& r, std::int64_t ns, std::int64_t for_whom) {
    of(r).waited += seconds(ns, r.instance);
    if (wants_edges_)
      edges_.push_back(
          {all_.ranks_[static_cast<std::size_t>(r.local)], packing_.rank_of(for_whom), seconds(ns, r.instance)});
  }
  void delayed(const Reached& r, std::int64_t ns) { of(r).delay += seconds(ns, r.instance); }

  void find_last(Communicator& nodes) {
    std::vector<std::int64_t> last(instances_, -1), total(instances_, 0);
    for (const Reached& r : reached_)
      if ((r.part & (gives | scans)) == gives) last[r.instance] = std::max(last[r.instance], packed(r));
    nodes.allreduce(std::span<std::int64_t>(last), ReduceOp::max);
    for (const Reached& r : reached_) {
      if ((r.part & (waits | scans)) != waits || last[r.instance] < 0) continue;
      const std::int64_t wait = wait_for(last[r.instance], r);
      if (wait <= 0) continue;
      waited(r, wait, last[r.instance]);
      total[r.instance] += wait;
    }
    nodes.allreduce(std::span<std::int64_t>(total), ReduceOp::sum);
    for (const Reached& r : reached_)
      if (total[r.instance] > 0 && last[r.instance] == packed(r)) delayed(r, total[r.instance]);
  }

  void find_in_scans(Communicator& nodes) {
    std::vector<Reached> mine;
    std::copy_if(reached_.begin(), reached_.end(), std::back_inserter(mine),
                 [](const Reached& r) { return (r.part & scans) != 0; });
    const auto order = [](const auto& a, const auto& b) {
      return std::tie(a.instance, a.place) < std::tie(b.instance, b.place);
    };
    std::sort(mine.begin(), mine.end(), order);
    std::vector<ScanRun> runs;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool goes_on = i > 0 && mine[i - 1].instance == mine[i].instance && mine[i - 1].place + 1 == mine[i].place;
      if (!goes_on) runs.push_back({mine[i].instance, mine[i].place, nodes.rank(), -1});
      runs.back().latest = std::max(runs.back().latest, packed(mine[i]));
    }
    std::vector<ScanRun> all = nodes.allgatherv(std::span<const ScanRun>(runs)).values;
    std::sort(all.begin(), all.end(), order);
    std::vector<Charge> charges;
    auto next = mine.begin();
    std::int64_t before = -1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0 && all[i - 1].instance != all[i].instance) before = -1;
      if (all[i].node == nodes.rank()) {
        // The runs of this node are in the order of its ranks.
        std::int64_t latest = before;
        const bool last = i + 1 == all.size() || all[i + 1].instance != all[i].instance;
        const auto in_run = [&](const Reached& r) {
          return r.instance == all[i].instance && r.place >= all[i].place && (last || r.place < all[i + 1].place);
        };
        for (; next != mine.end() && in_run(*next); ++next) {
          const std::int64_t wait = latest < 0 ? 0 : wait_for(latest, *next);
          if (wait > 0) {
            waited(*next, wait, latest);
            charges.push_back({next->instance, wait, packing_.rank_of(latest), 0});
          }
          latest = std::max(latest, packed(*next));
        }
      }
      before = std::max(before, all[i].latest);
    }
    for (const Charge& c : nodes.allgatherv(std::span<const Charge>(charges)).values)
      for (auto r = std::lower_bound(mine.begin(), mine.end(), c.instance,
                                     [](const Reached&a, std::uint64_t b) { return a.instance < b; });
           r != mine.end() && r->instance == c.instance; ++r)
        if (all_.ranks_[static_cast<std::size_t>(r->local)] == c.rank) delayed(*r, c.ns);
  }

  const CollectiveWaits& all_;
  const Packing packing_;
  const NodeClock clock_;
  const bool wants_edges_;
  std::vector<WaitEdge> edges_;
  std::size_t instances_ = 0;
  std::vector<int> levels_;                                       ///< [instances]
  std::vector<Reached> reached_;                                  ///< sampled instances, in no particular order
  std::map<std::pair<int, std::int64_t>, CollectiveWait> found_;  ///< by rank and step
};

CollectiveWaits::CollectiveWaits(std::span<const int> ranks, int n_ranks)
    : ranks_(ranks.begin(), ranks.end()), n_ranks_(n_ranks) {}

bool CollectiveWaits::is_here(int rank) const { return std::binary_search(ranks_.begin(), ranks_.end(), rank); }

void CollectiveWaits::add(const ArrivalBatch& batch) {
  Group& group = groups_[batch.communicator];
  group.size = batch.size;
  Member& member = group.members[batch.place];
  member.local = batch.local;
  member.end = std::max(member.end, batch.end);
  member.level = std::max(member.level, batch.level);
  const std::uint64_t next = batch.communicator < next_.size() ? next_[batch.communicator] : 0;
  for (const Arrival& a : batch.arrivals)
    if (a.ordinal >= next) member.entries.push_back({a, batch.step, batch.phase});
}

CollectiveWaits::Shared CollectiveWaits::exchange_shapes(Communicator& nodes, std::size_t n_communicators,
                                                         std::int64_t offset_ns) const {
  Shared shared;
  shared.rows.assign(n_communicators * row_size + 1, nothing);  // the base comes last
  shared.members.assign(n_communicators, 0);
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [communicator, group] : groups_) {
    std::int64_t* const row = shared.rows.data() + communicator * row_size;
    const auto most = [row](int what, std::int64_t value) { row[what] = std::max(row[what], value); };
    most(full_size, group.size);
    for (const auto& [place, member] : group.members) {
      most(least_end, -static_cast<std::int64_t>(member.end));
      most(most_end, static_cast<std::int64_t>(member.end));
      most(highest_level, member.level);
      for (const Entry& e : member.entries) {
        earliest = std::min(earliest, e.arrival.ns - offset_ns);
        if ((e.arrival.part & scans) != 0) row[has_scans] = 1;
      }
    }
    shared.members[communicator] = static_cast<std::int64_t>(group.members.size());
  }
  shared.rows.back() = -earliest;
  nodes.allreduce(std::span<std::int64_t>(shared.rows), ReduceOp::max);
  nodes.allreduce(std::span<std::int64_t>(shared.members), ReduceOp::sum);
  shared.base = -shared.rows.back();
  shared.rows.pop_back();
  return shared;
}

std::vector<CollectiveWaits::Range> CollectiveWaits::choose(const Shared& shared) {
  std::vector<Range> ranges;
  std::uint64_t all = 0;
  for (std::size_t c = 0; c < next_.size(); ++c) {
    if (shared.members[c] == 0) continue;
    const auto last = static_cast<std::uint64_t>(shared.at(c, most_end));
    auto end = static_cast<std::uint64_t>(-shared.at(c, least_end));
    if (shared.members[c] < shared.at(c, full_size) || last > std::max(end, next_[c]) + most_waiting) {
      dropped_ += last - next_[c];
      next_[c] = last;
      continue;
    }
    if (end <= next_[c]) continue;
    ranges.push_back(
        {static_cast<std::uint32_t>(c), next_[c], end, static_cast<int>(shared.at(c, highest_level)), 0, {}});
    all += (end - next_[c]) >> ranges.back().level;
    next_[c] = end;
  }
  int more = 0;
  while (all >> more > most_instances) ++more;
  std::size_t begin = 0;
  for (Range& r : ranges) {
    r.level += more;
    r.begin = begin;
    for (std::uint64_t i = r.first; i < r.end; ++i)
      if (in_sample(i, r.level)) r.ordinals.push_back(i);
    begin += r.ordinals.size();
    evaluated_ += r.ordinals.size();
  }
  return ranges;
}

void CollectiveWaits::forget(Group& group, std::uint64_t before) {
  for (auto& [place, member] : group.members) {
    while (!member.entries.empty() && member.entries.front().arrival.ordinal < before) member.entries.pop_front();
    if (member.end <= before) member.level = 0;
  }
}

std::vector<CollectiveWait> CollectiveWaits::find(Communicator& nodes, std::size_t n_communicators,
                                                  const NodeClock& clock, std::vector<WaitEdge>* edges) {
  next_.resize(n_communicators, 0);
  const Shared shared = exchange_shapes(nodes, n_communicators, clock.offset);
  const std::vector<Range> ranges = choose(shared);
  Evaluation evaluation(*this, Packing(n_ranks_, shared.base), clock, edges != nullptr);
  evaluation.find(nodes, ranges, shared.scans());
  for (auto& [communicator, group] : groups_) forget(group, next_[communicator]);
  if (edges) *edges = evaluation.take_edges();
  return evaluation.take();
}

}  // namespace effort::communication
