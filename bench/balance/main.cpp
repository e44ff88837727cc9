// The benefit and the cost of hints.
// usage: bench_balance regret [--window N] NAME.cpu.f64 ... | families [--window N] [SEED [SEEDS]] | costs | time
#include "bench/balance/parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

using namespace effort::bench;

int main(int argc, char* argv[]) {
  const std::string part = argc > 1 ? argv[1] : "";
  int window = 0, next = 2;
  if (argc > 3 && std::strcmp(argv[2], "--window") == 0) {
    window = std::atoi(argv[3]);
    next = 4;
  }
  const Kokkos::ScopeGuard kokkos;
  try {
    if (part == "regret") {
      std::vector<Recording> recordings;
      for (; next < argc; ++next) recordings.push_back(read_recording(argv[next]));
      bench_regret(recordings, window);
    } else if (part == "families") {
      const auto number = [&](int i, int otherwise) {
        return static_cast<unsigned>(i < argc ? std::atoi(argv[i]) : otherwise);
      };
      bench_families(number(next, 1), number(next + 1, 1), window);
    } else if (part == "costs") {
      bench_costs();
    } else if (part == "time") {
      bench_hint_time();
    } else {
      std::fprintf(stderr,
                   "usage: bench_balance regret [--window N] NAME.cpu.f64 ... | families [--window N] [SEED [SEEDS]] | "
                   "costs | time\n");
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_balance: %s\n", e.what());
    return 1;
  }
  return 0;
}
