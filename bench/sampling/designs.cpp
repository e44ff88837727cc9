#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analytics/cluster/clara.hpp"
#include "analytics/sampling/draw.hpp"
#include "analytics/sampling/estimate.hpp"
#include "analytics/sampling/kept_ranks.hpp"
#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

constexpr std::size_t update = 4;  // windows for which AMPL's subset stays, as in its example (dissertation 4.3.4)
constexpr std::uint64_t seed = 7;

using sampling::Draw;
using sampling::Unit;

/// One draw, and what was kept for it.
struct Drawn {
  std::vector<std::int64_t> population;
  std::vector<std::int32_t> ranks;
  std::vector<Unit> units;
  std::size_t kept = 0;
};

std::vector<std::int64_t> sizes_of(std::span<const std::int32_t> label, std::size_t k) {
  std::vector<std::int64_t> sizes(k);
  for (const std::int32_t l : label) ++sizes[k == 1 ? 0 : static_cast<std::size_t>(l)];
  return sizes;
}

/// What the library does at the end of a window (runtime/trace/trace_keeper.cpp).
Drawn retrospective(std::span<const double> load, const Strata& strata, std::size_t window,
                    const sampling::Accuracy& accuracy, std::int64_t stream) {
  sampling::WindowFacts facts;
  facts.load = load;
  facts.stratum = strata.label[window];
  facts.strata = strata.k;
  facts.medoids = strata.medoid[window];
  facts.window = stream;
  const auto kept = sampling::choose_ranks(facts, {{{load, accuracy}}}, {}, static_cast<std::int64_t>(load.size()));
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

/// AMPL's subset: drawn from the loads and strata of the last window of the interval before.
Drawn subset(std::span<const double> before, const Strata& strata, std::size_t window,
             const sampling::Accuracy& accuracy, std::int64_t stream) {
  const auto& label = strata.label[window];
  const auto plan = sampling::plan_samples(before, before.size(), 1, label, strata.k, {accuracy, 2});
  Drawn out;
  out.population = sizes_of(label, plan.allocation.size());
  out.ranks = sampling::draw_by_stratum(label, plan.allocation, {}, seed, static_cast<std::uint64_t>(stream));
  for (const std::int32_t rank : out.ranks) {
    const std::size_t h =
        plan.allocation.size() > 1 ? static_cast<std::size_t>(label[static_cast<std::size_t>(rank)]) : 0;
    out.units.push_back({static_cast<std::int32_t>(h),
                         static_cast<double>(plan.allocation[h]) / static_cast<double>(out.population[h])});
  }
  out.kept = out.ranks.size();
  return out;
}

/// AMPL's global: in each window each rank by the probability m / M, from the same loads.
Drawn global(std::span<const double> before, const sampling::Accuracy& accuracy, std::int64_t stream) {
  const auto n = static_cast<std::int64_t>(before.size());
  const auto m = sampling::plan_samples(before, before.size(), 1, {}, 1, {accuracy, 2}).unified;
  const double probability = static_cast<double>(m) / static_cast<double>(n);
  Drawn out;
  out.population = {n};
  for (std::int64_t r = 0; r < n; ++r) {
    const auto random = sampling::keyed_random(seed, static_cast<std::uint64_t>(stream), static_cast<std::uint64_t>(r));
    if (std::ldexp(static_cast<double>(random >> 11), -53) >= probability) continue;
    out.ranks.push_back(static_cast<std::int32_t>(r));
    out.units.push_back({0, probability});
  }
  out.kept = out.ranks.size();
  return out;
}

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
  std::vector<Drawn> held(static_cast<std::size_t>(draws));
  for (std::size_t w = 0; w < population.windows.size(); ++w) {
    const std::vector<double> load = population.loads(w);
    // The designs that decide before a window need a window before it; all are judged by the same ones.
    if (w == 0) continue;
    const std::size_t start = (w - 1) / update * update;  // last window of the interval before
    const std::vector<double> before = design == Kept::retrospective ? load : population.loads(start);
    double truth = 0;
    for (const double x : load) truth += x;
    int within = 0;
    for (int i = 0; i < draws; ++i) {
      const auto each = static_cast<std::int64_t>(w) * draws + i;
      Drawn& drawn = held[static_cast<std::size_t>(i)];
      if (design == Kept::retrospective) drawn = retrospective(load, strata, w, accuracy, each);
      if (design == Kept::global) drawn = global(before, accuracy, each);
      if (design == Kept::subset && (w - 1) % update == 0) drawn = subset(before, strata, start, accuracy, each);
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
