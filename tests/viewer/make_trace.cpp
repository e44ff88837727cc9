// Writes traces for the report's tests: make_trace KIND DIRECTORY
// KIND: full (of the snapshot "full": 48 ranks on 4 nodes, 12 windows of 10 steps; the fourth was not kept), large (the
// same with 120 times as many calls), reduced (full, reduced in the run), halo and halo-large (of the snapshots of
// these names).
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/tools/trace/traces.hpp"
#include "tests/viewer/halo_trace.hpp"

namespace {

using namespace effort::tools;
using namespace effort::tools::test;
using effort::trace::Kind;
namespace why = effort::record::trace;

constexpr std::int32_t n_ranks = 48, n_nodes = 4;
constexpr std::int64_t n_windows = 12, steps = 10, missing = 3, step_ns = 1'000'000;

std::int64_t start_of(std::int64_t window) { return window * steps * step_ns; }

/// Only its messages with kept ranks are known in this window; in others it is kept as a whole.
constexpr std::int32_t partner = 6;
constexpr std::int64_t partner_window = 2;

/// Computes, sends to the right neighbour, receives from the left one, reduces.
Events events_of(std::int32_t rank, std::int64_t window, int rounds) {
  Events e(start_of(window));
  for (std::int64_t s = 0; s < steps; ++s) {
    const std::int64_t step = window * steps + s, start = step * step_ns;
    e.at(start).step(static_cast<std::uint64_t>(step)).enter(region_step);
    const std::int64_t round_ns = (step_ns - 60'000) / rounds;
    for (int k = 0; k < rounds; ++k) {
      const std::int64_t at = start + 1000 + k * round_ns, busy = round_ns / 4 + rank * round_ns / (4 * n_ranks);
      e.at(at).enter(region_solve).at(at + busy).leave(region_solve);
      e.at(at + busy + round_ns / 50).enter(region_send);
      e.message(Kind::send, (rank + 1) % n_ranks, k % 100, 8192);
      e.at(at + busy + round_ns / 25).leave(region_send);
      e.at(at + 7 * round_ns / 10).enter(region_receive).at(at + 8 * round_ns / 10);
      e.message(Kind::receive, (rank + n_ranks - 1) % n_ranks, k % 100, 8192).leave(region_receive);
    }
    e.at(start + step_ns - 50'000).enter(region_reduce).at(start + step_ns - 10'000);
    e.collective(-1, 8, 8).leave(region_reduce).at(start + step_ns - 5000).leave(region_step);
  }
  return e;
}

std::map<std::int32_t, std::uint16_t> ranks_of(std::int64_t window) {
  std::map<std::int32_t, std::uint16_t> out;
  for (const std::int32_t medoid : {8, 24, 40}) out[medoid] |= why::reason_medoid;
  out[static_cast<std::int32_t>(window * 5 % n_ranks)] |= why::reason_critical;
  for (std::int64_t i = 0; i < 8; ++i)
    out[static_cast<std::int32_t>((window * 7 + 3 + 6 * i) % n_ranks)] |= why::reason_sample;
  out[9] |= why::reason_pin;
  if (window == 6) out[10] |= why::reason_rebalance;
  return out;
}

Trace make(bool large) {
  Trace out = empty_trace(n_ranks);
  out.name = "full";
  out.job = "7";
  out.n_nodes = n_nodes;
  for (std::int32_t rank = 0; rank < n_ranks; ++rank) out.node_of[rank] = rank * n_nodes / n_ranks;
  for (std::int64_t w = 0; w < n_windows; ++w) {
    if (w == missing) continue;
    TraceWindow& window = add_window(out, w, start_of(w), start_of(w + 1), steps);
    const auto ranks = ranks_of(w);
    window.strata = {{16, 0}, {16, 0}, {16, 0}};
    window.error = 0.05 + 0.001 * static_cast<double>(w);
    window.confidence = 0.95;
    for (const auto& [rank, reasons] : ranks)
      if (reasons & why::reason_sample) ++window.strata[static_cast<std::size_t>(rank / 16)].sample;
    for (const auto& [rank, reasons] : ranks) {
      const auto& stratum = out.windows.back().strata[static_cast<std::size_t>(rank / 16)];
      keep(out, rank, reasons, static_cast<double>(stratum.sample) / stratum.population, rank / 16,
           events_of(rank, w, large ? 600 : 5));
    }
    const std::int64_t start = start_of(w);
    if (w == partner_window) {
      Events messages(start);
      messages.at(start + 700'000).message(Kind::receive, 11, 0, 8192);
      keep(out, partner, why::reason_partner, 0, 0, messages);
    }
    Events second(start);
    second.at(start + 1000).enter(region_solve).at(start + step_ns).leave(region_solve);
    keep(out, 9, why::reason_pin, 0.5, 0, second, 1);
    out.windows.back().find(9)->dropped_steps = w == 7 ? 2 : 0;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  if (kind != "full" && kind != "large" && kind != "reduced" && kind != "halo" && kind != "halo-large")
    return std::fprintf(stderr, "usage: make_trace full|large|reduced|halo|halo-large DIRECTORY\n"), 2;
  const std::filesystem::path directory = argv[2];
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  Trace trace = kind == "halo"         ? effort::test::halo_trace(kind, 48, 4, 40)
                : kind == "halo-large" ? effort::test::halo_trace(kind, 16384, 128, 4)
                                       : make(kind == "large");
  if (kind == "reduced") trace.reduction = "relDiff:0.8";
  write_files(trace, directory);
  return 0;
}
