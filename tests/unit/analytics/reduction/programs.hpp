// The programs by which Mohror & Karavanic 2009 judge reductions (section 4.1), in simulated time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"
#include "analytics/reduction/segments.hpp"

namespace effort::reduction::test {

/// The 18 names: five with the same wait in every iteration; four patterns of communication, one of them synchronous
/// and not, with interrupts as on 32 and on 1,024 nodes; a moving load; a wavefront on 8 and on 32 ranks.
std::vector<std::string> program_names();

/// The trace of a program.  Iterations are calls of "iteration", in which "do_work" computes and MPI is called.  Work
/// varies by 1 %, a message or collective takes 5 us and 20 % more or less of that.
///
/// Interrupts are drawn as a Poisson process on each rank: of 25 us every 10 ms, of 250 us every 125 ms, and, on ranks
/// 0, 1 and 31, of 5 ms every second, which are the kinds that Petrini et al. 2003 found; with 1,024 nodes, a rank has
/// those of 32 nodes.
communication::Record program(const std::string& name, std::uint64_t seed = 1);

/// Its iterations as segments.
Segments iterations(const communication::Record& record);

}  // namespace effort::reduction::test
