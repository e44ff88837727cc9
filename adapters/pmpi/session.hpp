// The adapter's part in a session: its settings and its actions in MPI_Init, MPI_Finalize and MPI_Pcontrol.
#pragma once

#include "adapters/pmpi/calls/calls.hpp"

namespace effort::pmpi {

/// Frames of a call path.
int path_depth();
/// Whether regions of computation end at this call.
bool splits(Call call);

/// Reads the settings of a session that is new to the adapter.
void new_session();

/// Around MPI_Init; Fortran's may call C's.
void enter_init();
void leave_init(const void* return_address, const void* cfa);
/// At the start of MPI_Finalize: the last step, the last snapshot.
void before_finalize(const void* return_address, const void* cfa);
/// MPI_Pcontrol is called.
void pcontrol(int level, const void* return_address, const void* cfa);

}  // namespace effort::pmpi
