// A run as the engine would store it, with loads given by a formula: 8 ranks on 2 nodes, 60 steps, 8 regions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "record/run.hpp"

namespace effort::record::test {

inline constexpr int golden_ranks = 8;
inline constexpr int golden_steps = 60;
inline constexpr int golden_regions = 8;

/// Seconds of region g on a rank in a step.  It uses only +, * and / on small integers, so it is the same on every
/// machine.
double golden_load(int region, int rank, int step);

/// The largest load of any rank in every step, then the mean load of the ranks, of all computing regions.
std::vector<double> golden_step_loads();

/// The run's description; ranks 0 to 4 are on node 0, the others on node 1.
Run golden_run();

/// The whole file.
/// @param exact   also the raw loads of steps 50 to 59
/// @param united  the histories of both nodes are one, as in the last snapshot of a run
/// Kokkos must be initialised.
std::vector<std::byte> golden_file(bool exact, bool united = false);

/// The joint history of all nodes of a run, as encode_part encodes its parts.  Their loads are `block(series, ranks,
/// first step)` [ranks][steps from there on]; `first` has the first step of every series.
std::vector<std::byte> shared_histories(
    const Run& run, const std::vector<int>& first,
    const std::function<std::vector<double>(int series, const std::vector<std::int32_t>& ranks, int first)>& block);

}  // namespace effort::record::test
