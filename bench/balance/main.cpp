// The benefit and the cost of hints.
// usage: bench_balance regret [--window N] [--rebalancer KIND] NAME.cpu.f64 ... | families [--window N] [--rebalancer
// KIND] [SEED [SEEDS]] | costs | time
#include "bench/balance/parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

using namespace effort::bench;
namespace replay = effort::replay;

int main(int argc, char* argv[]) {
  const std::string part = argc > 1 ? argv[1] : "";
  int window = 0, next = 2;
  replay::Rebalancer rebalancer;
  for (; next + 1 < argc && std::strncmp(argv[next], "--", 2) == 0; next += 2) {
    if (std::strcmp(argv[next], "--window") == 0) window = std::atoi(argv[next + 1]);
    if (std::strcmp(argv[next], "--rebalancer") == 0) rebalancer = replay::parse_rebalancer(argv[next + 1]);
  }
  const Kokkos::ScopeGuard kokkos;
  try {
    if (part == "regret") {
      std::vector<Recording> recordings;
      for (; next < argc; ++next) recordings.push_back(read_recording(argv[next]));
      bench_regret(recordings, window, rebalancer);
    } else if (part == "families") {
      const auto number = [&](int i, int otherwise) {
        return static_cast<unsigned>(i < argc ? std::atoi(argv[i]) : otherwise);
      };
      bench_families(number(next, 1), number(next + 1, 1), window, rebalancer);
    } else if (part == "costs") {
      bench_costs();
    } else if (part == "time") {
      bench_hint_time();
    } else {
      std::fprintf(stderr,
                   "usage: bench_balance regret [--window N] [--rebalancer KIND] NAME.cpu.f64 ... | families [--window "
                   "N] [--rebalancer KIND] [SEED [SEEDS]] | "
                   "costs | time\n");
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_balance: %s\n", e.what());
    return 1;
  }
  return 0;
}
