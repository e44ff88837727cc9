#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "analytics/cluster/clara.hpp"
#include "analytics/sampling/changes.hpp"
#include "analytics/sampling/estimate.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

constexpr std::size_t lead = 2;    // windows from the loads to the sample
constexpr std::size_t update = 4;  // windows for which a decision stays, as in AMPL's example (dissertation 4.3.4)

using sampling::Draw;
using sampling::Unit;

/// One draw and the ranks kept for it.
struct Drawn {
  std::vector<std::int64_t> population;
  std::vector<std::int32_t> ranks;
  std::vector<Unit> units;
  std::size_t kept = 0;
};

Drawn drawn_of(const sampling::KeptRanks& kept) {
  Drawn out;
  for (const auto& stratum : kept.strata) out.population.push_back(stratum.population);
  for (const auto& rank : kept.ranks) {
    ++out.kept;
    if (!(rank.reasons & sampling::reason_sample)) continue;
    out.ranks.push_back(rank.rank);
    out.units.push_back({rank.stratum, rank.probability});
  }
  return out;
}

sampling::WindowFacts facts_of(std::span<const double> load, const Strata& strata, std::size_t window,
                               std::int64_t stream) {
  sampling::WindowFacts facts;
  facts.load = load;
  facts.stratum = strata.label[window];
  facts.strata = strata.k;
  facts.medoids = strata.medoid[window];
  facts.window = stream;
  return facts;
}

/// The library's choice at the end of a window (runtime/trace/trace_keeper.cpp).
Drawn retrospective(std::span<const double> load, const Strata& strata, std::size_t window,
                    const sampling::Accuracy& accuracy, std::int64_t stream) {
  return drawn_of(sampling::choose_ranks(facts_of(load, strata, window, stream), {{{load, accuracy}}}, {},
                                         static_cast<std::int64_t>(load.size())));
}

/// The library's choice before a window (runtime/trace/sample_schedule.cpp).  A decision is made from the loads and
/// strata of one window, travels with the hint that is due in the next, and holds from the one after.  AMPL's `subset`
/// is one draw for some windows; with its `global`, each rank is drawn independently in each window.
class Advance {
 public:
  Advance(Kept design, const sampling::Accuracy& accuracy) : design_(design), accuracy_(accuracy) {}

  /// Whether there is a sample for the window that begins.
  bool begin(std::size_t window) {
    renewed_ = !decisions_.empty() && decisions_.front().from == window;
    if (!renewed_) return window >= lead;
    now_ = std::move(decisions_.front());
    decisions_.pop_front();
    if (now_.counted) changes_.start();
    return true;
  }
  /// Learns from a window, and decides from it if a decision is due.
  void end(std::span<const double> load, std::span<const std::int32_t> stratum, int k, std::size_t window) {
    const sampling::Target target{load, accuracy_};
    if (window >= lead && design_ == Kept::subset) changes_.add(now_.plan, target);
    if (window >= lead && design_ == Kept::global) changes_.add(now_.each, target);
    if (changes_.size() >= enough && window + lead < last_ + update) return;
    last_ = window + lead;
    Decision d{last_, {{}, {static_cast<std::int64_t>(load.size())}, {0}}, 0, !counted_ || last_ >= *counted_ + update};
    if (design_ == Kept::subset) d.plan = sampling::plan_sample({{target}}, stratum, k, {});
    if (d.counted) {
      changes_.count_from(d.plan, target);
      counted_ = last_;
    }
    if (design_ == Kept::subset) {
      changes_.allow_for(d.plan, target);
    } else {
      d.each = changes_.allow_for(sampling::independent_probability({{target}}, load.size(), {}), target);
    }
    decisions_.push_back(std::move(d));
  }
  /// The sample of the window, in one of the repetitions.
  void draw(sampling::DrawnSample& sample, std::size_t ranks, std::int64_t stream) const {
    if (design_ == Kept::subset) {
      if (!renewed_) return;
      sample.plan = now_.plan;
      sample.ranks = sampling::draw(now_.plan, ranks, static_cast<std::uint64_t>(stream));
      return;
    }
    const auto n = static_cast<std::int32_t>(ranks);
    sample = {{{}, {n}, {0}}, {}};
    for (std::int32_t r = 0; r < n; ++r)
      if (sampling::is_drawn_independently(r, now_.each, static_cast<std::uint64_t>(stream))) sample.ranks.push_back(r);
    sample.plan.size[0] = static_cast<std::int64_t>(sample.ranks.size());
  }

 private:
  struct Decision {
    std::size_t from = 0;
    sampling::PlannedSample plan;
    double each = 0;
    bool counted = false;
  };
  static constexpr std::size_t enough = 4;
  Kept design_;
  sampling::Accuracy accuracy_;
  sampling::Changes changes_;
  std::deque<Decision> decisions_;
  Decision now_;
  std::size_t last_ = 0;
  std::optional<std::size_t> counted_;
  bool renewed_ = false;
};

double estimate(const Drawn& drawn, std::span<const double> load) {
  if (drawn.units.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
  for (const std::int32_t r : drawn.ranks) values.push_back(load[static_cast<std::size_t>(r)]);
  return Draw(drawn.population, drawn.units).total(values).total;
}

}  // namespace

const char* name_of(Kept design) {
  switch (design) {
    case Kept::retrospective: return "retrospective";
    case Kept::subset: return "subset";
    default: return "global";
  }
}

Strata find_strata(const Population& population, int k) {
  Strata out;
  out.k = k;
  for (const auto& window : population.windows) {
    cluster::ClaraParameters parameters;
    parameters.k = k;
    auto found =
        cluster::clara(Kokkos::DefaultHostExecutionSpace{}, {window, population.ranks, population.regions}, parameters);
    out.label.push_back(std::move(found.labels));
    out.medoid.push_back(std::move(found.medoids));
  }
  return out;
}

Outcome evaluate(const Population& population, const Strata& strata, Kept design, const sampling::Accuracy& accuracy,
                 int draws) {
  Outcome out;
  std::size_t windows = 0;
  std::vector<sampling::DrawnSample> held(static_cast<std::size_t>(draws));
  Advance advance(design, accuracy);
  for (std::size_t w = 0; w < population.windows.size(); ++w) {
    const std::vector<double> load = population.loads(w);
    const bool has_sample = advance.begin(w);
    // The designs that decide before a window need windows before it; all designs are judged by the same windows.
    if (!has_sample) {
      advance.end(load, strata.label[w], strata.k, w);
      continue;
    }
    double truth = 0;
    for (const double x : load) truth += x;
    int within = 0;
    for (int i = 0; i < draws; ++i) {
      const auto each = static_cast<std::int64_t>(w) * draws + i;
      sampling::DrawnSample& sample = held[static_cast<std::size_t>(i)];
      if (design != Kept::retrospective) advance.draw(sample, load.size(), each);
      const Drawn drawn = design == Kept::retrospective
                              ? retrospective(load, strata, w, accuracy, each)
                              : drawn_of(sampling::choose_ranks(facts_of(load, strata, w, each), sample,
                                                                static_cast<std::int64_t>(load.size())));
      within += std::fabs(estimate(drawn, load) - truth) <= accuracy.error * truth * (1 + 1e-9) + 1e-12 * truth;
      out.sampled += static_cast<double>(drawn.units.size()) / draws;
      out.kept += static_cast<double>(drawn.kept) / draws;
    }
    advance.end(load, strata.label[w], strata.k, w);
    out.confidence += static_cast<double>(within) / draws;
    out.unified += static_cast<double>(sampling::plan_samples(load, load.size(), 1, {}, 1, {accuracy, 2}).unified);
    ++windows;
  }
  for (double* mean : {&out.confidence, &out.sampled, &out.kept, &out.unified}) *mean /= static_cast<double>(windows);
  return out;
}

}  // namespace effort::bench
