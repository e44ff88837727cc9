// The Fortran interfaces of messages, and of the calls that came with MPI 4.
#include "adapters/pmpi/wrappers_fortran.hpp"

using namespace effort::pmpi;

#define EFFORT_PART "adapters/pmpi/calls/point_to_point.inc"
#include "adapters/pmpi/calls/calls.inc"
#undef EFFORT_PART
#define EFFORT_PART "adapters/pmpi/calls/since_mpi4.inc"
#include "adapters/pmpi/calls/calls.inc"
#undef EFFORT_PART
