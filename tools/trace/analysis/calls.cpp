#include "tools/trace/analysis/calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

namespace {

/// The activity of a rank on a call path.
struct Sums {
  double count = 0, seconds = 0, inclusive = 0, bytes = 0;
  double seen = 0;  ///< count, unscaled
  Sums& operator+=(const Sums& other) {
    count += other.count;
    seconds += other.seconds;
    inclusive += other.inclusive;
    bytes += other.bytes;
    seen += other.seen;
    return *this;
  }
};
using ByPath = std::unordered_map<std::int32_t, Sums>;
/// [windows] of ranks.
using WindowTable = std::vector<std::map<std::int32_t, ByPath>>;

/// Adds up the calls of a span.
class Adder {
 public:
  Adder(const TraceThread& thread, ByPath& sums) : thread_(thread), sums_(sums) {}
  void event(std::size_t index, std::int32_t path) {
    const TraceEvent& event = thread_.events[index];
    if (path == CallPaths::none || event.kind == trace::Kind::step || event.kind == trace::Kind::work) return;
    sums_[path].bytes += static_cast<double>(event.bytes) + static_cast<double>(event.received_bytes);
  }
  void end(const Call& call) {
    Sums& sums = sums_[call.path];
    sums.count += call.begins ? 1 : 0;
    sums.seconds += 1e-9 * static_cast<double>(call.exclusive_ns);
    sums.inclusive += 1e-9 * static_cast<double>(call.end_ns - call.begin_ns);
  }

 private:
  const TraceThread& thread_;
  ByPath& sums_;
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
      const double missing = std::max(-seconds, share * 1e-9 * static_cast<double>(c.ns));
      sums[path].seconds += missing;
      for (std::int32_t p = path; p != CallPaths::none; p = paths.parent(p)) sums[p].inclusive += missing;
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
      walk_calls(thread, span, paths, Adder(thread, sums));
      if (span.rebuilt) correct(sums, *span.rebuilt, paths);
      ByPath& of_rank = table[span.window][thread.rank];
      for (const auto& [path, sum] : sums) of_rank[path] += sum;
    }
  }
  for (auto& window : table)
    for (auto& [rank, sums] : window)
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

class Estimator {
 public:
  Estimator(const Trace& trace, CallEstimates& out) : trace_(trace), out_(out), paths_(trace) {
    table_ = table_of(trace, paths_);
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
      if (!current.units.empty() && current.same(sample)) {
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
  /// Scales up sampled ranks that dropped steps, as if the dropped steps had been like the others.
  void scale(std::size_t w) {
    const TraceWindow& window = trace_.windows[w];
    const auto steps = static_cast<double>(window.last_step - window.first_step + 1);
    for (auto& [rank, sums] : table_[w]) {
      const KeptRank* const kept = window.find(rank);
      if (kept == nullptr || !kept->sampled() || kept->dropped_steps <= 0) continue;
      const auto dropped = static_cast<double>(kept->dropped_steps);
      if (dropped >= steps) continue;
      ++out_.scaled;
      const double factor = steps / (steps - dropped);
      for (auto& [path, sum] : sums)
        sum.count *= factor, sum.seconds *= factor, sum.inclusive *= factor, sum.bytes *= factor;
    }
  }

  void add(const Sample& sample) {
    if (sample.units.empty()) return;
    const sampling::Draw draw(sample.population, sample.units);
    if (draw.covered() < draw.population()) out_.partly += sample.windows.size();
    const std::size_t n = sample.units.size(), paths = paths_.size();
    std::vector<double> count(paths * n), seconds(paths * n), inclusive(paths * n), bytes(paths * n);
    std::vector<bool> there(paths, false);
    for (std::size_t i = 0; i < n; ++i) {
      for (const std::size_t w : sample.windows) {
        const auto at = table_[w].find(sample.ranks[i]);
        if (at == table_[w].end()) continue;
        for (const auto& [path, sum] : at->second) {
          const std::size_t cell = static_cast<std::size_t>(path) * n + i;
          there[static_cast<std::size_t>(path)] = true;
          count[cell] += sum.count;
          seconds[cell] += sum.seconds;
          inclusive[cell] += sum.inclusive;
          bytes[cell] += sum.bytes;
        }
      }
    }
    for (std::size_t p = 0; p < paths; ++p) {
      if (!there[p]) continue;
      CallEstimate& call = out_.calls[p];
      call.sampled = true;
      const auto row = [&](const std::vector<double>& values) { return std::span(values).subspan(p * n, n); };
      call.count += draw.total(row(count));
      call.seconds += draw.total(row(seconds));
      call.inclusive += draw.total(row(inclusive));
      call.bytes += draw.total(row(bytes));
    }
  }

  void finish() {
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      const auto path = static_cast<std::int32_t>(p);
      out_.calls[p].path = paths_.text(path);
      out_.calls[p].kind = trace_.regions[paths_.region(path)].kind;
      for (const auto& window : table_) {
        for (const auto& [rank, sums] : window) {
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
};

}  // namespace

CallEstimates estimate_calls(const Trace& trace) {
  CallEstimates out;
  Estimator(trace, out).run();
  return out;
}

}  // namespace effort::tools
