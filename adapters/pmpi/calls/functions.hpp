// The functions of a call path, for STEP=CALL@WHERE.  All other uses resolve addresses after the run.
#pragma once

#include "adapters/pmpi/calls/call_path.hpp"

#include <string>

namespace effort::pmpi {

/// "norm < solver::step < main": the functions of a call path, innermost first, named as `effort info` and the report
/// name them; functions without a symbol are "?".  They come from the files' symbol tables, so an inlined function
/// appears under the name of its caller.  Reads files: a millisecond or more.
std::string functions_of(const void* return_address, const Trail& trail);

/// A symbol as people write it: C++ demangled and without arguments, gfortran's module procedures as module::procedure.
std::string readable_symbol(const char* symbol);

}  // namespace effort::pmpi
