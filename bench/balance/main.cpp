// What hints are worth and what they cost.
// usage: bench_balance regret [NAME.cpu.f64 ...] | generated [SEED] | costs | time
#include "bench/balance/parts.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

using namespace effort::bench;

int main(int argc, char* argv[]) {
  const std::string part = argc > 1 ? argv[1] : "";
  const Kokkos::ScopeGuard kokkos;
  try {
    if (part == "regret") {
      std::vector<Recording> recordings;
      for (int i = 2; i < argc; ++i) recordings.push_back(read_recording(argv[i]));
      bench_regret(recordings);
    } else if (part == "generated") {
      bench_regret(generated_recordings(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1));
    } else if (part == "costs") {
      bench_costs();
    } else if (part == "time") {
      bench_hint_time();
    } else {
      std::fprintf(stderr, "usage: bench_balance regret NAME.cpu.f64 ... | generated [SEED] | costs | time\n");
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_balance: %s\n", e.what());
    return 1;
  }
  return 0;
}
