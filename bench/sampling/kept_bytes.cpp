// Bytes of the kept events.  Recorded loads have no events, so every rank of a generated run gets the events of a halo
// exchange whose computation takes as long as its load.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>

#include "analytics/sampling/kept_ranks.hpp"
#include "analytics/trace/coder.hpp"
#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

using trace::Event;
using trace::Kind;

constexpr int steps = 10;  // of a window
constexpr std::int32_t row = 32;
enum Region : std::uint32_t { solve, irecv, isend, waitall, allreduce };

/// The events of a rank in a window.
std::vector<Event> events_of(std::int32_t rank, std::int32_t ranks, std::int64_t window, double load, double largest,
                             std::mt19937_64& random) {
  std::vector<Event> events;
  std::lognormal_distribution<double> noise(0, 0.3);
  auto now = static_cast<std::int64_t>(1e9 * largest * static_cast<double>(window));
  const auto wait = [&](double ns) { now += static_cast<std::int64_t>(ns * noise(random)); };
  const auto add = [&](Kind kind, std::uint32_t id, std::int32_t peer = -1, std::uint32_t request = 0,
                       std::uint64_t bytes = 0) {
    Event e;
    e.time_ns = now;
    e.kind = kind;
    e.id = id;
    e.peer = peer;
    e.request = request;
    e.bytes = bytes;
    events.push_back(e);
  };
  const std::int32_t strides[] = {1, ranks - 1, row % ranks, (ranks - row % ranks) % ranks};
  for (int step = 0; step < steps; ++step) {
    add(Kind::step, 0, -1, 0, static_cast<std::uint64_t>(window * steps + step));
    std::uint32_t request = 0;
    for (const Kind kind : {Kind::receive_start, Kind::send_start})
      for (const std::int32_t stride : strides) {
        const bool sends = kind == Kind::send_start;
        wait(150);
        add(Kind::enter, sends ? isend : irecv);
        add(kind, 0, (rank + stride) % ranks, request++, sends ? 8192 : 0);
        wait(400);
        add(Kind::leave, sends ? isend : irecv);
      }
    add(Kind::enter, solve);
    now += static_cast<std::int64_t>(1e9 * load / steps);
    add(Kind::leave, solve);
    add(Kind::enter, waitall);
    wait(3'000);
    for (std::uint32_t r = 0; r < request; ++r)
      r < 4 ? add(Kind::receive_done, 0, (rank + strides[r]) % ranks, r, 8192) : add(Kind::send_done, 0, -1, r);
    add(Kind::leave, waitall);
    add(Kind::enter, allreduce);
    add(Kind::collective, 0, -1, 0, 8);
    now += static_cast<std::int64_t>(1e9 * (largest - load) / steps);
    wait(20'000);
    add(Kind::leave, allreduce);
  }
  return events;
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The coders of all nodes.
class Nodes {
 public:
  explicit Nodes(std::int32_t per_node) : per_node_(per_node) {}

  /// Codes a window of a rank.
  void keep(std::int32_t rank, std::int64_t window, const std::vector<Event>& events) {
    const double begin = cpu_seconds();
    const auto coded = encoders_.try_emplace(rank / per_node_, trace::TimeBound::usual())
                           .first->second.encode({rank, 0, window * steps, events.front().time_ns}, events);
    seconds_ += cpu_seconds() - begin;
    bytes_ += static_cast<double>(coded.dictionary.size() + coded.events.size());
  }
  double bytes() const { return bytes_; }
  double seconds() const { return seconds_; }

 private:
  std::int32_t per_node_;
  std::map<std::int32_t, trace::Encoder> encoders_;
  double bytes_ = 0, seconds_ = 0;
};

sampling::KeptRanks chosen(std::span<const double> load, const Strata& strata, std::size_t window,
                           const sampling::Accuracy& accuracy) {
  sampling::WindowFacts facts;
  facts.load = load;
  facts.stratum = strata.label[window];
  facts.strata = strata.k;
  facts.medoids = strata.medoid[window];
  facts.window = static_cast<std::int64_t>(window);
  return sampling::choose_ranks(facts, {{{load, accuracy}}}, {}, static_cast<std::int64_t>(load.size()));
}

/// That many ranks, each set of them equally likely.
std::vector<bool> drawn(std::size_t ranks, std::size_t n, std::mt19937_64& random) {
  std::vector<bool> out(ranks, false);
  std::fill_n(out.begin(), n, true);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

}  // namespace

void bench_bytes(const Population& population, int k, std::span<const sampling::Accuracy> accuracies) {
  const auto ranks = static_cast<std::int32_t>(population.ranks);
  const Strata strata = find_strata(population, k);
  constexpr std::int32_t per_node = 32;
  Nodes all(per_node);
  std::vector<Nodes> kept, unified;
  for (std::size_t a = 0; a < accuracies.size(); ++a) {
    kept.emplace_back(per_node);
    unified.emplace_back(per_node);
  }
  std::vector<double> kept_ranks(accuracies.size()), unified_ranks(accuracies.size());
  std::mt19937_64 draws(7);
  for (std::size_t w = 0; w < population.windows.size(); ++w) {
    const std::vector<double> load = population.loads(w);
    const double largest = *std::max_element(load.begin(), load.end());
    std::vector<std::vector<bool>> of_ours, of_ampl;
    for (std::size_t a = 0; a < accuracies.size(); ++a) {
      of_ours.emplace_back(population.ranks, false);
      const sampling::KeptRanks ours = chosen(load, strata, w, accuracies[a]);
      for (const auto& rank : ours.ranks) of_ours.back()[static_cast<std::size_t>(rank.rank)] = true;
      const auto n =
          static_cast<std::size_t>(sampling::plan_samples(load, load.size(), 1, {}, 1, {accuracies[a], 2}).unified);
      of_ampl.push_back(drawn(population.ranks, n, draws));
      kept_ranks[a] += static_cast<double>(ours.ranks.size());
      unified_ranks[a] += static_cast<double>(n);
    }
    for (std::int32_t r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      std::mt19937_64 random(w * population.ranks + at);
      const auto window = static_cast<std::int64_t>(w);
      const std::vector<Event> events = events_of(r, ranks, window, load[at], largest, random);
      all.keep(r, window, events);
      for (std::size_t a = 0; a < accuracies.size(); ++a) {
        if (of_ours[a][at]) kept[a].keep(r, window, events);
        if (of_ampl[a][at]) unified[a].keep(r, window, events);
      }
    }
  }
  std::printf("| %s | %d | %.0f |", population.name.c_str(), ranks, all.bytes() / 1e3);
  for (std::size_t a = 0; a < accuracies.size(); ++a)
    std::printf(" %.1f, %.1f | %.3f, %.3f |", kept[a].bytes() / 1e3, unified[a].bytes() / 1e3,
                kept[a].bytes() / unified[a].bytes(), kept_ranks[a] / unified_ranks[a]);
  std::printf("\n");
  std::fflush(stdout);
}

void bench_nodes(const Population& population, int k, const sampling::Accuracy& accuracy, std::int32_t per_node) {
  const auto ranks = static_cast<std::int32_t>(population.ranks);
  const Strata strata = find_strata(population, k);
  Nodes nodes(per_node);
  double choosing = 0, kept = 0;
  for (std::size_t w = 0; w < population.windows.size(); ++w) {
    const std::vector<double> load = population.loads(w);
    const double largest = *std::max_element(load.begin(), load.end()), begin = cpu_seconds();
    const sampling::KeptRanks ours = chosen(load, strata, w, accuracy);
    choosing += cpu_seconds() - begin;
    kept += static_cast<double>(ours.ranks.size());
    for (const auto& rank : ours.ranks) {
      std::mt19937_64 random(w * population.ranks + static_cast<std::size_t>(rank.rank));
      nodes.keep(rank.rank, static_cast<std::int64_t>(w),
                 events_of(rank.rank, ranks, static_cast<std::int64_t>(w), load[static_cast<std::size_t>(rank.rank)],
                           largest, random));
    }
  }
  const double n = ranks / per_node, windows = static_cast<double>(population.windows.size());
  std::printf("| %s | %.0f x %d | %.1f | %.0f | %.0f | %.0f |\n", population.name.c_str(), n, per_node, kept / windows,
              1e6 * choosing / windows, 1e6 * nodes.seconds() / windows / n, nodes.bytes() / windows / n);
  std::fflush(stdout);
}

}  // namespace effort::bench
