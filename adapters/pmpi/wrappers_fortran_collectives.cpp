// The Fortran interfaces of collectives.
#include "adapters/pmpi/wrappers_fortran.hpp"

using namespace effort::pmpi;

#define EFFORT_PART "adapters/pmpi/calls/collectives.inc"
#include "adapters/pmpi/calls/calls.inc"
#undef EFFORT_PART
