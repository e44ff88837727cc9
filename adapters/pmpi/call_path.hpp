// Call paths: where in the program an MPI call stands, in terms that are the same on all ranks.
#pragma once

#include "adapters/pmpi/calls.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::pmpi {

inline constexpr int max_depth = 16;

/// One call path of the process; never freed, so that pointers stay good.
struct Path {
  Call call;
  std::uint32_t id;      ///< dense, in order of first use; differs between ranks
  std::uint64_t hash;    ///< of the text: the same on all ranks
  std::string text;      ///< "MPI_Wait [libmesh.so.1+0x4f2 app+0x1180]"
};

/// A place on the stack, relative to the intercepted call's frame, where a return address was found.
struct Frame {
  std::ptrdiff_t offset;
  const void* address;
};

/// What unwinding found: frames beyond the return address, outwards.  Recognised later by looking where each return
/// address was: a call through the same functions leaves the same addresses at the same places.
struct Trail {
  int n = 0;
  Frame frames[max_depth - 1];
};

/// The bytes of the calling thread's stack end here, as far as known; null otherwise.
const std::byte* stack_end();

/// Unwinds from the intercepted call, at most `depth` frames, the return address being the first.
/// @param cfa  canonical frame address of the wrapper
Trail unwind(const void* return_address, const std::byte* cfa, int depth);

/// Whether the stack holds the trail now.  A few nanoseconds.  It reads the stack beyond what this function knows of, on purpose.
__attribute__((no_sanitize("address"))) inline bool holds(const Trail& trail, const std::byte* cfa, const std::byte* end) {
  for (int i = 0; i < trail.n; ++i) {
    const std::byte* place = cfa + trail.frames[i].offset;
    if (place + sizeof(void*) > end || *reinterpret_cast<const void* const*>(place) != trail.frames[i].address) return false;
  }
  return true;
}

/// A file of the process and where in it an address lies.
struct Location {
  std::string module;          ///< base name; empty: no file
  std::string path, build_id;  ///< build id in hexadecimal
  std::uintptr_t offset = 0;   ///< ELF virtual address
};
Location locate(const void* address);

/// The path of a call, made if it is new.  Thread-safe; locks.  Tells the library about modules that are new to it.
/// @param trail  shortened to what tells this path from others: nothing beyond the first frame of the C library, where the path ends
const Path& path_of(Call call, const void* return_address, Trail& trail);
/// A path that is no call: "start", "step".
const Path& landmark(const char* name);
/// Makes path_of announce every module again, for a new session.
void forget_modules();

}  // namespace effort::pmpi
