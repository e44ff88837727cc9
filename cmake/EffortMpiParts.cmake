# Functions that came with MPI 4. Some libraries have only a part of them.
include(CheckSourceCompiles)
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
set(EFFORT_MPI_HAS "")
foreach(part "ISENDRECV MPI_Isendrecv" "PARTITIONED MPI_Psend_init" "PERSISTENT_COLLECTIVES MPI_Bcast_init"
    "LARGE_COUNTS MPI_Send_c")
  string(REPLACE " " ";" part "${part}")
  list(GET part 0 name)
  list(GET part 1 function)
  check_symbol_exists(${function} mpi.h EFFORT_MPI_HAS_${name})
  if(EFFORT_MPI_HAS_${name})
    list(APPEND EFFORT_MPI_HAS EFFORT_MPI_HAS_${name})
  endif()
endforeach()
check_symbol_exists(MPICH_NUMVERSION mpi.h EFFORT_MPI_IS_MPICH)
check_source_compiles(C "
  #include <mpi.h>
  #if OMPI_MAJOR_VERSION != 4
  #error
  #endif
  int main(void) { return 0; }" EFFORT_MPI_IS_OPEN_MPI_4)
unset(CMAKE_REQUIRED_LIBRARIES)
