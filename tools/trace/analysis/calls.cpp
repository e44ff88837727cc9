#include "tools/trace/analysis/calls.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "tools/trace/analysis/call_table.hpp"
#include "tools/trace/analysis/region_paths.hpp"
#include "tools/trace/model/call_names.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

namespace {

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

using Sums = std::map<std::uint32_t, double>;  // by region

class Estimator {
 public:
  Estimator(const Trace& trace, CallEstimates& out)
      : trace_(trace),
        out_(out),
        paths_(trace),
        table_(call_table(trace, paths_)),
        timed_(trace, table_, &CallSums::seconds, timed_as(trace, paths_)),
        counted_(trace, table_, &CallSums::count, counted_as(trace, paths_)),
        has_path_(trace.regions.size()) {
    out_.calls.resize(paths_.size());
    doubt_.count.resize(paths_.size());
    doubt_.seconds.resize(paths_.size());
    for (std::size_t p = 0; p < paths_.size(); ++p) has_path_[paths_.region(static_cast<std::int32_t>(p))] = true;
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
      const bool same = !current.units.empty() && current.same(sample) && measured_alike(w, current.windows[0]);
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
  bool measured_alike(std::size_t v, std::size_t w) const {
    const TraceWindow &a = trace_.windows[v], &b = trace_.windows[w];
    return a.region_seconds.has_value() == b.region_seconds.has_value() &&
           a.region_calls.has_value() == b.region_calls.has_value();
  }

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
      call.sampled = call.counted = call.timed = true;
      sampling::Estimate of_path = draw.total(bytes.of(static_cast<std::int32_t>(p)));
      // Equal numbers of bytes on a few ranks say nothing about the others: the root of a gather receives more.
      if (of_path.half_width(0.9) == 0 && static_cast<std::int64_t>(n) < draw.population()) of_path.variance = -1;
      call.bytes += of_path;
    }
    add_counts(sample, draw, count, there);
    add_times(sample, draw, seconds, there);
  }

  /// Totals of a quantity over all ranks, by call path.
  struct Totals {
    std::vector<bool> there;        ///< a sampled rank called it
    std::vector<bool> exact;        ///< without error
    std::vector<double> elsewhere;  ///< in regions that no sampled rank called

    bool has(std::size_t path) const { return there[path] || elsewhere[path] > 0; }
    sampling::Estimate of(std::size_t path, const sampling::Draw& draw, Rows& rows) const {
      sampling::Estimate estimate = draw.total(rows.of(static_cast<std::int32_t>(path)));
      if (exact[path]) estimate.variance = estimate.scatter = 0;
      estimate.total += elsewhere[path];
      return estimate;
    }
  };

  /// Changes the rows so that they add up to what was measured in the regions.
  /// @param known  gets true if no sampled rank called a path's region, but its measured quantity is divided among its
  ///               paths
  /// @param doubt  [paths] grows by the deviation of what no event accounts for
  Totals calibrate(const sampling::Draw& draw, Rows& rows, const std::vector<bool>& there, const RegionPaths& by_region,
                   const Sums& measured, bool CallEstimate::*known, std::vector<double>& doubt) {
    Totals out{there, std::vector<bool>(there.size()), std::vector<double>(there.size())};
    for (std::size_t p = 0; p < there.size(); ++p) out.exact[p] = !there[p];
    for (const auto& [region, sum] : measured) {
      const std::vector<std::int32_t>& of_region = by_region.of(region);
      if (of_region.empty()) continue;
      std::vector<std::span<double>> parts;
      for (const std::int32_t p : of_region) parts.push_back(rows.of(p));
      const double unexplained = of_region.size() > 1 ? beyond_sample(draw, parts, sum) : 0;
      const bool is_sampled = draw.calibrate(sum, parts);
      if (is_sampled && of_region.size() == 1) out.exact[static_cast<std::size_t>(of_region[0])] = true;
      // Otherwise the proportions are those of all kept ranks.  What no event accounts for may belong to a single path.
      const double divided = is_sampled ? 0 : sum, uncertain = is_sampled ? unexplained : sum;
      for (const std::int32_t path : of_region) {
        const auto p = static_cast<std::size_t>(path);
        const double share = by_region.share(path, region);
        out.elsewhere[p] += share * divided;
        doubt[p] += uncertain * std::sqrt(share * (1 - share));
        if (!is_sampled) out_.calls[p].*known = true;
      }
    }
    return out;
  }

  /// How much more was measured in a region than the sample explains, because the overhead guard left out calls, or
  /// because other ranks differ.
  static double beyond_sample(const sampling::Draw& draw, std::span<const std::span<double>> parts, double measured) {
    std::vector<double> all(parts[0].size());
    for (const std::span<double> part : parts)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
    const sampling::Estimate estimate = draw.total(all);
    return std::max(0.0, measured - estimate.total - std::max(0.0, estimate.half_width(0.99)));
  }

  /// @param there  [paths] whether a sampled rank called it
  void add_counts(const Sample& sample, const sampling::Draw& draw, Rows& count, const std::vector<bool>& there) {
    Sums measured = measured_in(sample, &TraceWindow::region_calls);
    if (trace_.windows[sample.windows[0]].region_calls) {
      out_.counted += sample.windows.size();
      // The others were begun by no rank, but they may go on from an earlier step, as parts that the trace has.
      for (std::size_t r = 0; r < trace_.regions.size(); ++r) measured.emplace(static_cast<std::uint32_t>(r), 0.0);
    }
    const Totals totals = calibrate(draw, count, there, counted_, measured, &CallEstimate::counted, doubt_.count);
    for (const auto& [region, sum] : measured)
      if (sum > 0 && !has_path_[region]) elsewhere_[region].count += sum;
    for (std::size_t p = 0; p < there.size(); ++p)
      if (totals.has(p)) out_.calls[p].count += totals.of(p, draw, count);
  }

  void add_times(const Sample& sample, const sampling::Draw& draw, Rows& seconds, const std::vector<bool>& there) {
    Sums measured = measured_in(sample, &TraceWindow::region_seconds);
    // What a region spends on the rebalance in it is in its events, but not in its measured time.
    for (const std::size_t w : sample.windows)
      for (const std::uint32_t region : table_[w].rebalancing) measured.erase(region);
    Totals totals = calibrate(draw, seconds, there, timed_, measured, &CallEstimate::timed, doubt_.seconds);
    if (trace_.windows[sample.windows[0]].region_seconds) out_.measured += sample.windows.size();
    for (const auto& [region, sum] : measured)
      if (!has_path_[region]) elsewhere_[region].seconds += sum;
    for (std::size_t p = 0; p < there.size(); ++p)
      if (totals.has(p)) out_.calls[p].seconds += totals.of(p, draw, seconds);
    // Inner paths have larger indices.
    for (std::size_t p = there.size(); p-- > 0;) {
      if (!totals.has(p)) continue;
      out_.calls[p].inclusive += totals.of(p, draw, seconds);
      const std::int32_t around = paths_.parent(static_cast<std::int32_t>(p));
      if (around == CallPaths::none) continue;
      const auto q = static_cast<std::size_t>(around);
      const auto inner = seconds.of(static_cast<std::int32_t>(p)), outer = seconds.of(around);
      for (std::size_t i = 0; i < inner.size(); ++i) outer[i] += inner[i];
      totals.there[q] = totals.there[q] || totals.there[p];
      totals.exact[q] = totals.exact[q] && totals.exact[p];
      totals.elsewhere[q] += totals.elsewhere[p];
    }
  }

  /// What all ranks did in the regions in the windows of a sample; empty if it was not measured.
  Sums measured_in(const Sample& sample, std::optional<Sums> TraceWindow::*quantity) const {
    Sums out;
    for (const std::size_t w : sample.windows)
      if (const auto& of_window = trace_.windows[w].*quantity)
        for (const auto& [region, sum] : *of_window) out[region] += sum;
    return out;
  }

  void finish() {
    // Errors of the division are the same in all windows.
    const auto widen = [](sampling::Estimate& estimate, double variance) {
      if (estimate.variance >= 0) estimate.variance += variance;
    };
    std::vector<double> inside(paths_.size());
    for (std::size_t p = paths_.size(); p-- > 0;) {
      widen(out_.calls[p].count, doubt_.count[p] * doubt_.count[p]);
      widen(out_.calls[p].seconds, doubt_.seconds[p] * doubt_.seconds[p]);
      inside[p] += doubt_.seconds[p] * doubt_.seconds[p];
      widen(out_.calls[p].inclusive, inside[p]);
      const std::int32_t around = paths_.parent(static_cast<std::int32_t>(p));
      if (around != CallPaths::none) inside[static_cast<std::size_t>(around)] += inside[p];
    }
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      const auto path = static_cast<std::int32_t>(p);
      out_.calls[p].path = paths_.text(path);
      out_.calls[p].kind = trace_.regions[paths_.region(path)].kind;
      for (const WindowCalls& window : table_) {
        for (const auto& [rank, sums] : window.of_rank) {
          const auto at = sums.find(path);
          if (at != sums.end()) out_.calls[p].seen += at->second.seen;
        }
      }
    }
    for (const auto& [region, sums] : elsewhere_) {
      if (sums.count == 0) continue;  // a computation between two MPI calls: the history names it, events do not
      CallEstimate call;
      call.path = trace_.regions[region].name;
      call.kind = trace_.regions[region].kind;
      call.count.total = sums.count;
      call.seconds.total = call.inclusive.total = sums.seconds;
      call.counted = true;
      call.timed = sums.seconds > 0 && !is_poll(mpi_call(call.path));
      out_.calls.push_back(std::move(call));
    }
    std::stable_sort(out_.calls.begin(), out_.calls.end(),
                     [](const CallEstimate& a, const CallEstimate& b) { return a.seconds.total > b.seconds.total; });
  }

  const Trace& trace_;
  CallEstimates& out_;
  CallPaths paths_;
  std::vector<WindowCalls> table_;
  RegionPaths timed_, counted_;
  struct {
    std::vector<double> count, seconds;
  } doubt_;                     ///< [paths] deviation of what was divided among paths without events to tell how
  std::vector<bool> has_path_;  ///< [regions] a kept rank called it
  std::map<std::uint32_t, CallSums> elsewhere_;  ///< by region that no kept rank called
};

}  // namespace

CallEstimates estimate_calls(const Trace& trace) {
  CallEstimates out;
  Estimator(trace, out).run();
  return out;
}

}  // namespace effort::tools
