// The trace of a halo exchange in which all ranks are kept.
#pragma once

#include <cstdint>
#include <string>

#include "tests/tools/trace/traces.hpp"

namespace effort::test {

/// The rank that computes longer than the others.
std::int32_t late_rank(std::int32_t ranks);

/// Each step computes, exchanges halos and reduces.  In the second half of the run, only faces are exchanged.
tools::Trace halo_trace(const std::string& name, std::int32_t ranks, std::int32_t nodes, std::int64_t steps);

}  // namespace effort::test
