// Tries an OTF2 archive in a child process, so that a damaged one does no harm.
#pragma once

#include <string>

namespace effort::tools::otf2 {

/// Opens an archive and reads its definitions in a child process with limits of time and memory.  The library trusts
/// the numbers in the anchor file: wrong ones make it loop, or write out of bounds.  Errors that the library reports
/// are left to the caller, which gets the same ones.
/// @throws std::runtime_error if the library does not return
void try_archive(const std::string& anchor);

}  // namespace effort::tools::otf2
