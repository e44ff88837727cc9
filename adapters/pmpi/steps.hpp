// Progress steps of a host that does not say where they end.
#pragma once

#include "adapters/pmpi/passage.hpp"
#include "runtime/config/settings.hpp"

#include <mpi.h>

namespace effort::pmpi {

/// Whether calls are of interest: collectives, where the step is looked for or was found; otherwise those that STEP
/// names.
extern __attribute__((visibility("hidden"))) bool steps_watch;
/// The call that ends steps by the setting STEP; Call::count: none.
extern __attribute__((visibility("hidden"))) Call step_call;

/// MPI is there: decides from the settings where steps come from.  The same on all ranks.
void begin_steps(const config::Settings& settings);
/// A blocking collective has been left.
void saw_collective(Thread& thread, const Site& site, MPI_Comm comm);
/// The call of the setting STEP has been left.
void saw_step_call(Thread& thread, const Site& site, MPI_Comm comm);
/// MPI_Pcontrol(0), where it ends steps.
void step_from_pcontrol();
/// The host ends its steps itself: nothing else does from here on.
void leave_steps_to_host();
/// Communicators that were known may be others now.
void forget_communicators();
/// At the start of MPI_Finalize, on all ranks: the rest of the run is a step.
void finish_steps();

}  // namespace effort::pmpi
