// Progress steps of a host that does not mark them.
#pragma once

#include "adapters/pmpi/passage.hpp"
#include "runtime/config/settings.hpp"

#include <mpi.h>

namespace effort::pmpi {

/// Whether calls matter for steps: collectives if the step is being detected or was found, else the call that STEP
/// names.
extern __attribute__((visibility("hidden"))) bool steps_watch;
/// The call that ends steps according to STEP; Call::count: none.
extern __attribute__((visibility("hidden"))) Call step_call;

// Ranks find steps together.  From begin_steps() on, none of these functions throws, and a rank that is out of memory
// still takes part in collective operations.

/// Decides from the settings how steps are found.  The same on all ranks.
/// @throws std::bad_alloc
void prepare_steps(const config::Settings& settings);
/// After MPI_Init, on all ranks once all are prepared.
void begin_steps();
/// A blocking collective has been left.  @param site  null if it was not measured
void saw_collective(Thread& thread, const Site* site, Role role, MPI_Comm comm);
/// The call of the setting STEP has been left.  @param site  null if it was not measured
void saw_step_call(Thread& thread, const Site* site, MPI_Comm comm);
/// MPI_Pcontrol(0), if it ends steps.
void step_from_pcontrol();
/// From now on the host ends its steps itself.
void leave_steps_to_host();
/// Whether the adapter has attached the ranks to the session.
bool joined_here();
/// Forgets communicators, whose handles may have been reused.
void forget_communicators();
/// At the start of MPI_Finalize, on all ranks: ends the last step.
void finish_steps();

}  // namespace effort::pmpi
