// The Fortran interfaces with large counts of Open MPI 6.  Only mpi_f08 has them, and their choice buffers are
// descriptors.
#include "adapters/pmpi/wrappers_fortran.hpp"

using namespace effort::pmpi;

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 6
#pragma push_macro("EFFORT_MPI_CALL")
#undef EFFORT_MPI_CALL
#define EFFORT_MPI_CALL(Name, name, kind, role, comm, n, parameters, arguments) \
  EFFORT_FORTRAN(Name, mpi_##name##_f08ts_, n)
#include "adapters/pmpi/calls/large_calls.inc"
#pragma pop_macro("EFFORT_MPI_CALL")
#endif
