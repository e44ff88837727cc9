// A small run with something in every field.
#pragma once

#include <cstddef>
#include <vector>

#include "record/run.hpp"

namespace effort::record::test {

/// 5 ranks on 2 nodes, 24 steps, 3 series. No two fields of one kind have the same value.
Run sample_run();

/// Parts of the two nodes: tiles of arbitrary bytes, and exact blocks on node 0.
std::vector<NodePart> sample_parts();

/// sample_run() and sample_parts() as a file.
std::vector<std::byte> sample_file();

}  // namespace effort::record::test
