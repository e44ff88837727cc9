// Tries a damaged OTF2 archive where it can do no harm.
#pragma once

#include <string>

namespace effort::tools::otf2 {

/// Opens an archive and reads its definitions in a child process with limits of time and memory.  The library trusts
/// the numbers in the anchor file: wrong ones let it loop, or write outside of its memory.  Errors that the library
/// reports are left to the caller, who gets the same.
/// @throws std::runtime_error if the library does not come back
void try_archive(const std::string& anchor);

}  // namespace effort::tools::otf2
