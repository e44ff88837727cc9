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

/// After MPI_Init: decides from the settings how steps are found.  The same on all ranks.
void begin_steps(const config::Settings& settings);
/// A blocking collective has been left.
void saw_collective(Thread& thread, const Site& site, MPI_Comm comm);
/// The call of the setting STEP has been left.
void saw_step_call(Thread& thread, const Site& site, MPI_Comm comm);
/// MPI_Pcontrol(0), if it ends steps.
void step_from_pcontrol();
/// From now on the host ends its steps itself.
void leave_steps_to_host();
/// Forgets communicators, whose handles may have been reused.
void forget_communicators();
/// At the start of MPI_Finalize, on all ranks: ends the last step.
void finish_steps();

}  // namespace effort::pmpi
