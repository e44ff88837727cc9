// Snapshots made for tests of the command.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::tools::test {

/// A run without histories. It has one region per entry, and rank 1 has the largest time.
struct RegionSpec {
  std::string name;
  record::Kind kind = record::Kind::compute;
  double mean = 1;  ///< seconds per rank over the whole run
  double imbalance = 0;
};
record::Run run_of(int ranks, int steps, const std::vector<RegionSpec>& regions);

/// run_of as a file.
std::vector<std::byte> file_of(const record::Run& run);

/// 7 ranks placed alternately on two nodes, 40 steps, two metrics, and two regions, one of them measured by both
/// metrics.  The second region begins at step 25.  Kokkos must be initialised.  `united`: the histories of both nodes
/// are stored as one.
std::vector<std::byte> interleaved_file(bool united = false);

}  // namespace effort::tools::test
