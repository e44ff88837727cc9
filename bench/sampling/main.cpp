// How often the estimates of sampled ranks are as good as promised (trace confidence, Gamblin 2009, section 4.4.4; its
// indicator is printed the wrong way round), and their cost.
// usage: bench_sampling [--draws N] [--strata K] designs|strata|calls|bytes|nodes [NAME.cpu.f64 ...]
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "bench/sampling/parts.hpp"

using namespace effort::bench;
using effort::sampling::Accuracy;

namespace {

constexpr Accuracy accuracies[] = {{0.90, 0.08}, {0.95, 0.05}, {0.99, 0.03}};
constexpr Accuracy exhaustive{0.99, 1e-6};

std::vector<Population> populations(int argc, char* argv[], int first) {
  std::vector<Population> out;
  for (int i = first; i < argc; ++i) out.push_back(read_population(argv[i]));
  for (const std::size_t ranks : {32, 256, 2048, 16384})
    for (auto& generated : generated_populations(ranks, 29)) out.push_back(std::move(generated));
  return out;
}

int draws_for(const Population& population, int draws) {
  return std::max(1, draws / static_cast<int>(population.windows.size()));
}

/// A row per run: share of windows within the bound; for the retrospective design also the ranks kept and those that
/// AMPL's unified sample needs.  Then for each design and accuracy, over all runs: ranks kept relative to AMPL's
/// sample.
void print_designs(const std::vector<Population>& all, int k, int draws) {
  std::printf("| run | ranks |");
  for (const auto& a : accuracies)
    for (const Kept design : kept_designs)
      std::printf(" %s %.0f/%.0f |", name_of(design), 100 * a.confidence, 100 * a.error);
  std::printf(" exhaustive |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<std::pair<double, double>> sums(std::size(accuracies) * std::size(kept_designs));  // kept, AMPL's
  for (const auto& population : all) {
    const Strata strata = find_strata(population, k);
    auto sum = sums.begin();
    std::printf("| %s | %zu |", population.name.c_str(), population.ranks);
    for (const auto& a : accuracies)
      for (const Kept design : kept_designs) {
        const Outcome o = evaluate(population, strata, design, a, draws_for(population, draws));
        std::printf(" %.1f %%", 100 * o.confidence);
        sum->first += o.kept;
        sum++->second += o.unified;
        if (design == Kept::retrospective) std::printf(" (%.1f; %.1f)", o.kept, o.unified);
        std::printf(" |");
      }
    const Outcome o = evaluate(population, strata, Kept::retrospective, exhaustive, 1);
    std::printf(" %.1f %% (%.1f) |\n", 100 * o.confidence, o.kept);
    std::fflush(stdout);
  }
  std::printf("| kept, of AMPL's sample | |");
  for (const auto& [kept, unified] : sums) std::printf(" %.1f %% |", 100 * kept / unified);
  std::printf(" |\n");
}

/// A row per number of strata: the runs' mean share of windows within the bound, the lowest of a run, ranks sampled and
/// kept relative to AMPL's unified sample.
void print_strata(const std::vector<Population>& all, int draws) {
  std::printf("| strata |");
  for (const auto& a : accuracies) std::printf(" %.0f/%.0f |", 100 * a.confidence, 100 * a.error);
  std::printf("\n|---|---|---|---|\n");
  for (int k = 1; k <= 10; ++k) {
    std::printf("| %d |", k);
    std::vector<Strata> strata;
    for (const auto& population : all) strata.push_back(find_strata(population, k));
    for (const auto& a : accuracies) {
      double mean = 0, lowest = 1, sampled = 0, kept = 0, unified = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Outcome o = evaluate(all[i], strata[i], Kept::retrospective, a, draws_for(all[i], draws));
        mean += o.confidence / static_cast<double>(all.size());
        lowest = std::min(lowest, o.confidence);
        sampled += o.sampled;
        kept += o.kept;
        unified += o.unified;
      }
      std::printf(" %.1f %% (lowest %.1f %%), %.2f, %.2f |", 100 * mean, 100 * lowest, sampled / unified,
                  kept / unified);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

/// Of generated runs: kB of all ranks; at each accuracy the kB kept and those of AMPL's sample, and the ratios of bytes
/// and of ranks.
void print_bytes(int k) {
  std::printf("| run | ranks | all |");
  for (const auto& a : accuracies)
    std::printf(" %.0f/%.0f | kept / AMPL's: bytes, ranks |", 100 * a.confidence, 100 * a.error);
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
  for (const std::size_t ranks : {32, 256, 2048})
    for (const auto& population : generated_populations(ranks, 9)) bench_bytes(population, k, accuracies);
}

/// Of one kind of run on 1 to 64 nodes of 256 ranks, at 90/8: ranks kept, CPU time of the choice, of the coding per
/// node, in microseconds per window, and bytes per node and window.
void print_nodes(int k) {
  std::printf("| run | nodes | kept | choice | coding | bytes |\n|---|---|---|---|---|---|\n");
  for (const std::size_t nodes : {1, 4, 16, 64})
    for (const auto& population : generated_populations(256 * nodes, 9)) bench_nodes(population, k, accuracies[0], 256);
}

}  // namespace

int main(int argc, char* argv[]) {
  int draws = 1000, strata = 5, next = 1;
  for (; next + 1 < argc && std::strncmp(argv[next], "--", 2) == 0; next += 2) {
    if (std::strcmp(argv[next], "--draws") == 0) draws = std::atoi(argv[next + 1]);
    if (std::strcmp(argv[next], "--strata") == 0) strata = std::atoi(argv[next + 1]);
  }
  const std::string part = next < argc ? argv[next] : "";
  const Kokkos::ScopeGuard kokkos;
  try {
    if (part == "designs") {
      print_designs(populations(argc, argv, next + 1), strata, draws);
    } else if (part == "strata") {
      print_strata(populations(argc, argv, next + 1), draws);
    } else if (part == "calls") {
      bench_calls(accuracies, draws);
    } else if (part == "bytes") {
      print_bytes(strata);
    } else if (part == "nodes") {
      print_nodes(strata);
    } else {
      std::fprintf(
          stderr,
          "usage: bench_sampling [--draws N] [--strata K] designs|strata|calls|bytes|nodes [NAME.cpu.f64 ...]\n");
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_sampling: %s\n", e.what());
    return 1;
  }
  return 0;
}
