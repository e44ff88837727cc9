// Call paths in the names of intercepted regions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace effort::tools {

/// A return address as its file counts addresses: "libsolver.so+0x88".  The call itself lies before it.
struct Frame {
  std::string module;  ///< base name of the program or library
  std::uint64_t address = 0;
  auto operator<=>(const Frame&) const = default;
};

/// The origin of an MPI call: "MPI_Allreduce [app+0x1234 libsolver.so+0x88]".
struct CallPath {
  std::string call;  ///< "MPI_Allreduce"; "start", "step" or "end" if a stretch of work begins or ends otherwise
  std::vector<Frame> frames;  ///< innermost first
};

/// The call paths in a region's name: one for a call, two for the work between two calls ("A [..] > B [..]"), none
/// if the name has no frames (a region named by the host).
std::vector<CallPath> call_paths(std::string_view region);

/// "MPI_Wait+0x12->MPI_Send+0x34" for "MPI_Wait@lib.so+0x12->MPI_Send@lib.so+0x34", as tools name stretches between
/// calls: a short form for narrow places that still distinguishes such names.  Other names are returned unchanged.
std::string without_modules(std::string_view region);

}  // namespace effort::tools
