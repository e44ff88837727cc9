#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analytics/cluster/clara.hpp"
#include "analytics/sampling/changes.hpp"
#include "analytics/sampling/estimate.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

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

/// The library's choice before a window (runtime/trace/sample_schedule.cpp), from the loads and strata of an earlier
/// one. AMPL's `subset` is one draw for some windows; with its `global`, each rank is drawn independently in each
/// window.
class Advance {
 public:
  Advance(Kept design, const sampling::Accuracy& accuracy) : design_(design), accuracy_(accuracy) {}

  /// Decides from a window's loads, if a decision is due.  Every window, ascending.
  void decide(std::span<const double> load, std::span<const std::int32_t> stratum, int k, std::size_t window) {
    const sampling::Target target{load, accuracy_};
    if (design_ == Kept::subset) {
      changes_.add(plan_, target);
    } else {
      changes_.add(each_, target);
    }
    renewed_ = changes_.size() < update || window % update == 0;
    if (!renewed_) return;
    if (design_ == Kept::subset) {
      plan_ = sampling::plan_sample({{target}}, stratum, k, {});
    } else {
      plan_ = {{}, {static_cast<std::int64_t>(load.size())}, {0}};
    }
    if (window % update == 0) changes_.count_from(plan_, target);
    if (design_ == Kept::subset) {
      changes_.allow_for(plan_, target);
    } else {
      each_ = changes_.allow_for(sampling::independent_probability({{target}}, load.size(), {}), target);
    }
  }
  /// The sample of a window, in one of the repetitions.
  void draw(sampling::DrawnSample& sample, std::size_t ranks, std::int64_t stream) const {
    if (design_ == Kept::subset) {
      if (!renewed_) return;
      sample.plan = plan_;
      sample.ranks = sampling::draw(plan_, ranks, static_cast<std::uint64_t>(stream));
      return;
    }
    const auto n = static_cast<std::int32_t>(ranks);
    sample = {{{}, {n}, {0}}, {}};
    for (std::int32_t r = 0; r < n; ++r)
      if (sampling::is_drawn_independently(r, each_, static_cast<std::uint64_t>(stream))) sample.ranks.push_back(r);
    sample.plan.size[0] = static_cast<std::int64_t>(sample.ranks.size());
  }

 private:
  Kept design_;
  sampling::Accuracy accuracy_;
  sampling::Changes changes_;
  sampling::PlannedSample plan_;
  double each_ = 0;
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
    // The designs that decide before a window need a window before it; all designs are judged by the same windows.
    if (w == 0) continue;
    if (design != Kept::retrospective) advance.decide(population.loads(w - 1), strata.label[w - 1], strata.k, w - 1);
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
    out.confidence += static_cast<double>(within) / draws;
    out.unified += static_cast<double>(sampling::plan_samples(load, load.size(), 1, {}, 1, {accuracy, 2}).unified);
    ++windows;
  }
  for (double* mean : {&out.confidence, &out.sampled, &out.kept, &out.unified}) *mean /= static_cast<double>(windows);
  return out;
}

}  // namespace effort::bench
