#include "tools/trace/analysis/calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "tools/trace/model/call_names.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

namespace {

/// The activity of a rank on a call path.
struct Sums {
  double count = 0, seconds = 0, bytes = 0;
  double seen = 0;  ///< count, unscaled
  Sums& operator+=(const Sums& other) {
    count += other.count;
    seconds += other.seconds;
    bytes += other.bytes;
    seen += other.seen;
    return *this;
  }
};
using ByPath = std::unordered_map<std::int32_t, Sums>;
struct WindowSums {
  std::map<std::int32_t, ByPath> of_rank;
  std::set<std::uint32_t> rebalancing;  ///< regions around a rebalance
};
using WindowTable = std::vector<WindowSums>;

/// Adds up the calls of a span.
class Adder {
 public:
  Adder(const TraceThread& thread, const CallPaths& paths, ByPath& sums, std::set<std::uint32_t>& rebalancing)
      : thread_(thread), paths_(paths), sums_(sums), rebalancing_(rebalancing) {}
  void event(std::size_t index, std::int32_t path) {
    const TraceEvent& event = thread_.events[index];
    if (path == CallPaths::none || event.kind == trace::Kind::step || event.kind == trace::Kind::work) return;
    if (event.kind == trace::Kind::rebalance) rebalancing_.insert(paths_.region(path));
    sums_[path].bytes += static_cast<double>(event.bytes) + static_cast<double>(event.received_bytes);
  }
  void end(const Call& call) {
    Sums& sums = sums_[call.path];
    sums.count += call.begins ? 1 : 0;
    sums.seconds += 1e-9 * static_cast<double>(call.exclusive_ns);
  }

 private:
  const TraceThread& thread_;
  const CallPaths& paths_;
  ByPath& sums_;
  std::set<std::uint32_t>& rebalancing_;
};

/// Adds to the calls of a rebuilt part what its stamps lack.  The time of a region is divided among its paths in
/// proportion to what they have.
void correct(ByPath& sums, const RebuiltPart& part, const CallPaths& paths) {
  for (const RebuiltPart::Correction& c : part.corrections) {
    std::vector<std::pair<std::int32_t, double>> shares;
    double all = 0;
    for (const auto& [path, sum] : sums) {
      if (paths.region(path) != c.region) continue;
      shares.emplace_back(path, sum.seconds);
      all += sum.seconds;
    }
    for (const auto& [path, seconds] : shares) {
      const double share = all > 0 ? seconds / all : 1.0 / static_cast<double>(shares.size());
      sums[path].seconds += std::max(-seconds, share * 1e-9 * static_cast<double>(c.ns));
    }
  }
}

WindowTable table_of(const Trace& trace, CallPaths& paths) {
  WindowTable table(trace.windows.size());
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      const KeptRank* const kept = trace.windows[span.window].find(thread.rank);
      if (kept != nullptr && kept->partner_only()) continue;
      ByPath sums;
      WindowSums& window = table[span.window];
      walk_calls(thread, span, paths, Adder(thread, paths, sums, window.rebalancing));
      if (span.rebuilt) correct(sums, *span.rebuilt, paths);
      ByPath& of_rank = window.of_rank[thread.rank];
      for (const auto& [path, sum] : sums) of_rank[path] += sum;
    }
  }
  for (WindowSums& window : table)
    for (auto& [rank, sums] : window.of_rank)
      for (auto& [path, sum] : sums) sum.seen = sum.count;
  return table;
}

/// A sample, and the windows in which it was taken.
struct Sample {
  std::vector<std::int64_t> population;
  std::vector<std::int32_t> ranks;
  std::vector<sampling::Unit> units;
  std::vector<std::size_t> windows;

  bool same(const Sample& other) const {
    const auto equal = [](const sampling::Unit& a, const sampling::Unit& b) {
      return a.stratum == b.stratum && a.probability == b.probability;
    };
    return population == other.population && ranks == other.ranks &&
           std::equal(units.begin(), units.end(), other.units.begin(), other.units.end(), equal);
  }
};

/// The sampled ranks of a window, except those whose events are lost.
Sample sample_of(const Trace& trace, std::size_t index) {
  const TraceWindow& window = trace.windows[index];
  Sample out;
  for (const auto& stratum : window.strata) out.population.push_back(stratum.population);
  if (out.population.empty()) out.population.push_back(trace.n_ranks);
  for (const KeptRank& kept : window.ranks) {
    const std::int64_t steps = window.last_step - window.first_step + 1;
    if (!kept.sampled() || kept.lost || (kept.dropped_steps >= steps && steps > 0)) continue;
    const std::int32_t stratum = window.strata.empty() ? 0 : kept.stratum;
    if (stratum < 0 || static_cast<std::size_t>(stratum) >= out.population.size()) continue;
    double probability = kept.probability;
    if (!(probability > 0 && probability <= 1) && !window.strata.empty())
      probability = static_cast<double>(window.strata[static_cast<std::size_t>(stratum)].sample) /
                    static_cast<double>(std::max(1, window.strata[static_cast<std::size_t>(stratum)].population));
    if (!(probability > 0 && probability <= 1)) continue;
    out.ranks.push_back(kept.rank);
    out.units.push_back({stratum, probability});
  }
  // A damaged or foreign file may claim more ranks than the stratum has.
  std::vector<std::int64_t> counted(out.population.size(), 0);
  for (const sampling::Unit& unit : out.units) ++counted[static_cast<std::size_t>(unit.stratum)];
  for (std::size_t h = 0; h < counted.size(); ++h) out.population[h] = std::max(out.population[h], counted[h]);
  out.windows.push_back(index);
  return out;
}

/// [paths][units]
class Rows {
 public:
  Rows(std::size_t paths, std::size_t units) : units_(units), values_(paths * units) {}
  std::span<double> of(std::int32_t path) {
    return std::span(values_).subspan(static_cast<std::size_t>(path) * units_, units_);
  }

 private:
  std::size_t units_;
  std::vector<double> values_;
};

/// The call paths whose time is measured as that of a region, and how it divides among them on all kept ranks.
class RegionPaths {
 public:
  RegionPaths(const Trace& trace, const CallPaths& paths, const WindowTable& table)
      : paths_of_(trace.regions.size()),
        comparable_(trace.regions.size()),
        seconds_(paths.size()),
        region_seconds_(trace.regions.size()) {
    std::vector<std::uint32_t> measured_as(paths.size());
    for (std::size_t p = 0; p < paths.size(); ++p) {
      const auto path = static_cast<std::int32_t>(p);
      const std::int32_t around = paths.parent(path);
      // The adapter measures MPI calls as regions, but not inside a region that is not of kind COMPUTE.
      const bool part_of_it = around != CallPaths::none && trace.regions[paths.region(around)].kind != 0 &&
                              !mpi_call(trace.regions[paths.region(path)].name).empty();
      measured_as[p] = part_of_it ? measured_as[static_cast<std::size_t>(around)] : paths.region(path);
      paths_of_[measured_as[p]].push_back(path);
    }
    for (const WindowSums& window : table)
      for (const auto& [rank, sums] : window.of_rank)
        for (const auto& [path, sum] : sums) seconds_[static_cast<std::size_t>(path)] += sum.seconds;
    for (std::size_t p = 0; p < paths.size(); ++p) region_seconds_[measured_as[p]] += seconds_[p];
    for (std::size_t r = 0; r < trace.regions.size(); ++r) comparable_[r] = !is_poll(mpi_call(trace.regions[r].name));
    find_threaded(trace);
  }

  std::span<const std::int32_t> of(std::uint32_t region) const { return paths_of_[region]; }
  /// Whether its measured time is that of its calls.  If several threads of a rank call it, it may be that of the
  /// busiest one; brief gaps between polls count as waiting in the poll.
  bool comparable(std::uint32_t region) const { return comparable_[region]; }
  /// The share of the path in its region's time; equal shares if no kept rank spent time in it.
  double share(std::int32_t path, std::uint32_t region) const {
    const double all = region_seconds_[region];
    return all > 0 ? seconds_[static_cast<std::size_t>(path)] / all
                   : 1.0 / static_cast<double>(paths_of_[region].size());
  }

 private:
  void find_threaded(const Trace& trace) {
    std::vector<const TraceThread*> caller(comparable_.size());  // threads are ordered by rank
    for (const TraceThread& thread : trace.threads) {
      for (const TraceEvent& event : thread.events) {
        if (event.kind != trace::Kind::enter && event.kind != trace::Kind::leave) continue;
        const TraceThread*& last = caller[event.id];
        if (last != nullptr && last != &thread && last->rank == thread.rank) comparable_[event.id] = false;
        last = &thread;
      }
    }
  }

  std::vector<std::vector<std::int32_t>> paths_of_;
  std::vector<bool> comparable_;        ///< [regions]
  std::vector<double> seconds_;         ///< [paths] of all kept ranks
  std::vector<double> region_seconds_;  ///< [regions] the sum over its paths
};

class Estimator {
 public:
  Estimator(const Trace& trace, CallEstimates& out)
      : trace_(trace), out_(out), paths_(trace), table_(table_of(trace, paths_)), region_paths_(trace, paths_, table_) {
    out_.calls.resize(paths_.size());
  }

  void run() {
    Sample current;
    for (std::size_t w = 0; w < trace_.windows.size(); ++w) {
      Sample sample = sample_of(trace_, w);
      if (sample.units.empty()) {
        ++out_.without_sample;
        continue;
      }
      ++out_.windows;
      out_.steps += trace_.windows[w].last_step - trace_.windows[w].first_step + 1;
      scale(w);
      const bool same =
          !current.units.empty() && current.same(sample) && is_measured(w) == is_measured(current.windows[0]);
      if (same) {
        current.windows.push_back(w);
        continue;
      }
      add(current);
      current = std::move(sample);
    }
    add(current);
    finish();
  }

 private:
  bool is_measured(std::size_t w) const { return trace_.windows[w].region_seconds.has_value(); }

  /// Scales up sampled ranks that dropped steps, as if the dropped steps had been like the others.
  void scale(std::size_t w) {
    const TraceWindow& window = trace_.windows[w];
    const auto steps = static_cast<double>(window.last_step - window.first_step + 1);
    for (auto& [rank, sums] : table_[w].of_rank) {
      const KeptRank* const kept = window.find(rank);
      if (kept == nullptr || !kept->sampled() || kept->dropped_steps <= 0) continue;
      const auto dropped = static_cast<double>(kept->dropped_steps);
      if (dropped >= steps) continue;
      ++out_.scaled;
      const double factor = steps / (steps - dropped);
      for (auto& [path, sum] : sums) sum.count *= factor, sum.seconds *= factor, sum.bytes *= factor;
    }
  }

  void add(const Sample& sample) {
    if (sample.units.empty()) return;
    const sampling::Draw draw(sample.population, sample.units);
    if (draw.covered() < draw.population()) out_.partly += sample.windows.size();
    const std::size_t n = sample.units.size(), paths = paths_.size();
    Rows count(paths, n), seconds(paths, n), bytes(paths, n);
    std::vector<bool> there(paths, false);
    for (std::size_t i = 0; i < n; ++i) {
      for (const std::size_t w : sample.windows) {
        const auto at = table_[w].of_rank.find(sample.ranks[i]);
        if (at == table_[w].of_rank.end()) continue;
        for (const auto& [path, sum] : at->second) {
          there[static_cast<std::size_t>(path)] = true;
          count.of(path)[i] += sum.count;
          seconds.of(path)[i] += sum.seconds;
          bytes.of(path)[i] += sum.bytes;
        }
      }
    }
    for (std::size_t p = 0; p < paths; ++p) {
      if (!there[p]) continue;
      CallEstimate& call = out_.calls[p];
      call.sampled = call.timed = true;
      call.count += draw.total(count.of(static_cast<std::int32_t>(p)));
      call.bytes += draw.total(bytes.of(static_cast<std::int32_t>(p)));
    }
    add_times(sample, draw, seconds, there);
  }

  /// @param there  [paths] whether a sampled rank called it
  void add_times(const Sample& sample, const sampling::Draw& draw, Rows& seconds, std::vector<bool> there) {
    const std::size_t paths = paths_.size();
    std::vector<bool> exact(paths);
    for (std::size_t p = 0; p < paths; ++p) exact[p] = !there[p];
    std::vector<sampling::Estimate> elsewhere(paths);  // times in regions that no sampled rank called
    for (const auto& [region, measured] : measured_in(sample)) {
      if (!region_paths_.comparable(region)) continue;
      const auto of_region = region_paths_.of(region);
      if (of_region.empty()) continue;
      std::vector<std::span<double>> parts;
      for (const std::int32_t p : of_region) parts.push_back(seconds.of(p));
      if (!draw.calibrate(measured, parts))
        divide(measured, region, elsewhere);
      else if (of_region.size() == 1)
        exact[static_cast<std::size_t>(of_region[0])] = true;
    }
    const auto total = [&](std::size_t p) {
      sampling::Estimate estimate = draw.total(seconds.of(static_cast<std::int32_t>(p)));
      if (exact[p]) estimate.variance = estimate.scatter = 0;
      return estimate += elsewhere[p];
    };
    for (std::size_t p = 0; p < paths; ++p)
      if (there[p] || elsewhere[p].total > 0) out_.calls[p].seconds += total(p);
    // Inner paths have larger indices.
    for (std::size_t p = paths; p-- > 0;) {
      if (!there[p] && !(elsewhere[p].total > 0)) continue;
      out_.calls[p].inclusive += total(p);
      const std::int32_t around = paths_.parent(static_cast<std::int32_t>(p));
      if (around == CallPaths::none) continue;
      const auto q = static_cast<std::size_t>(around);
      const auto inner = seconds.of(static_cast<std::int32_t>(p)), outer = seconds.of(around);
      for (std::size_t i = 0; i < inner.size(); ++i) outer[i] += inner[i];
      there[q] = there[q] || there[p];
      exact[q] = exact[q] && exact[p];
      elsewhere[q] += elsewhere[p];
    }
  }

  /// What all ranks spent in the regions in the windows of a sample; empty if it was not measured.  What the region
  /// around a rebalance spends on it is in its events, but not in its measured time.
  std::map<std::uint32_t, double> measured_in(const Sample& sample) {
    std::map<std::uint32_t, double> out;
    if (!is_measured(sample.windows[0])) return out;
    out_.measured += sample.windows.size();
    for (const std::size_t w : sample.windows)
      for (const auto& [region, seconds] : *trace_.windows[w].region_seconds) out[region] += seconds;
    for (const std::size_t w : sample.windows)
      for (const std::uint32_t region : table_[w].rebalancing) out.erase(region);
    return out;
  }

  /// Divides the time of a region among its paths in the proportions of all kept ranks.  The variance assumes that all
  /// of the time may belong to a single path.
  void divide(double measured, std::uint32_t region, std::vector<sampling::Estimate>& elsewhere) {
    for (const std::int32_t path : region_paths_.of(region)) {
      const double share = region_paths_.share(path, region);
      const double variance = measured * measured * share * (1 - share);
      elsewhere[static_cast<std::size_t>(path)] += {share * measured, variance, variance * variance};
      out_.calls[static_cast<std::size_t>(path)].timed = true;
    }
  }

  void finish() {
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      const auto path = static_cast<std::int32_t>(p);
      out_.calls[p].path = paths_.text(path);
      out_.calls[p].kind = trace_.regions[paths_.region(path)].kind;
      for (const WindowSums& window : table_) {
        for (const auto& [rank, sums] : window.of_rank) {
          const auto at = sums.find(path);
          if (at != sums.end()) out_.calls[p].seen += at->second.seen;
        }
      }
    }
    std::stable_sort(out_.calls.begin(), out_.calls.end(),
                     [](const CallEstimate& a, const CallEstimate& b) { return a.seconds.total > b.seconds.total; });
  }

  const Trace& trace_;
  CallEstimates& out_;
  CallPaths paths_;
  WindowTable table_;
  RegionPaths region_paths_;
};

}  // namespace

CallEstimates estimate_calls(const Trace& trace) {
  CallEstimates out;
  Estimator(trace, out).run();
  return out;
}

}  // namespace effort::tools
