// The benefit and the cost of hints.
// usage: bench_balance regret [CONDITIONS] NAME.cpu.f64 ... | families|waits [CONDITIONS] [SEED [SEEDS]] | costs | time
// conditions: --window N, --rebalancer ideal|bounded:SHARE|noisy:DEVIATION|blocks:N, --price-unknown, --moving SHARE
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
  int next = 2;
  Conditions conditions;
  for (; next < argc && std::strncmp(argv[next], "--", 2) == 0; ++next) {
    const std::string option = argv[next];
    if (option == "--price-unknown") conditions.price_known = false;
    if (next + 1 == argc) break;
    if (option == "--window") conditions.window = std::atoi(argv[++next]);
    if (option == "--moving") conditions.moving = std::atof(argv[++next]);
    if (option == "--rebalancer") conditions.rebalancer = replay::parse_rebalancer(argv[++next]);
  }
  const auto number = [&](int i, int otherwise) {
    return static_cast<unsigned>(i < argc ? std::atoi(argv[i]) : otherwise);
  };
  const Kokkos::ScopeGuard kokkos;
  try {
    if (part == "regret") {
      std::vector<Recording> recordings;
      for (; next < argc; ++next) recordings.push_back(read_recording(argv[next]));
      bench_regret(recordings, conditions);
    } else if (part == "families") {
      bench_families(number(next, 1), number(next + 1, 1), conditions);
    } else if (part == "waits") {
      bench_waits(number(next, 1), number(next + 1, 1), conditions);
    } else if (part == "costs") {
      bench_costs();
    } else if (part == "time") {
      bench_hint_time();
    } else {
      std::fprintf(
          stderr,
          "usage: bench_balance regret [CONDITIONS] NAME.cpu.f64 ... | families|waits [CONDITIONS] [SEED [SEEDS]] | "
          "costs | time\n"
          "conditions: --window N, --rebalancer ideal|bounded:SHARE|noisy:DEVIATION|blocks:N, "
          "--price-unknown, --moving SHARE\n");
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_balance: %s\n", e.what());
    return 1;
  }
  return 0;
}
