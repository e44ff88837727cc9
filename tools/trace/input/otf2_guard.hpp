// Opens an OTF2 archive, after a child process has tried it, so that a damaged one does no harm.
#pragma once

#include <memory>
#include <string>

#include "tools/trace/otf2/library.hpp"

namespace effort::tools::otf2 {

using Reader = std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)>;

/// Opens an archive whose definitions a child process with limits of time and memory could read.  The library trusts
/// the numbers in the anchor file: wrong ones make it loop, or write out of bounds, sometimes unnoticed before it
/// reports an error.
/// @throws std::runtime_error if it cannot be opened, or the library does not return
Reader open_archive(const std::string& anchor, Messages& messages);

}  // namespace effort::tools::otf2
