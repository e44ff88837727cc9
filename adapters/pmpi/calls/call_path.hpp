// Call paths: where in the program an MPI call was made, described identically on all ranks.
#pragma once

#include "adapters/pmpi/calls/calls.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effort::pmpi {

inline constexpr int max_depth = 16;

/// A call path of the process; never freed, so that pointers stay valid.
struct Path {
  std::uint32_t id;    ///< dense, in order of first use; differs between ranks
  std::uint64_t hash;  ///< of the text: the same on all ranks
  std::string text;    ///< "MPI_Wait [libmesh.so.1+0x4f2 app+0x1180]"
};

/// A place on the stack, relative to the intercepted call's frame, where a return address was found.
struct Frame {
  std::ptrdiff_t offset;
  const void* address;
};

/// The frames that unwinding found beyond the return address, from the inside out.  A later call through the same
/// functions is recognised without unwinding, because it has the same return addresses at the same places.
struct Trail {
  static constexpr int usual = 3;  ///< most frames of a trail at the default PATH_DEPTH

  int n = 0;
  std::uintptr_t highest = 0;        ///< limit for the call's frame: above it, the trail would go beyond the stack
  std::uintptr_t usual_highest = 0;  ///< the same for a trail with 1 to `usual` frames; else 0
  Frame frames[max_depth - 1] = {};

  /// Prepares for holds(), once all frames are known.
  void close(const std::byte* stack_end) {
    if (n == 0) return;
    highest = reinterpret_cast<std::uintptr_t>(stack_end - frames[n - 1].offset) - sizeof(void*);
    if (n > usual) return;
    usual_highest = highest;
    for (int i = n; i < usual; ++i) frames[i] = frames[0];
  }
};

/// The end of the calling thread's stack; null if unknown.
const std::byte* stack_end();

/// Unwinds from the intercepted call, at most `depth` frames, the return address being the first.
/// @param cfa  canonical frame address of the wrapper
Trail unwind(const void* return_address, const std::byte* cfa, int depth);

/// The stack's content there.  Deliberately reads beyond the calling function's own frame.
__attribute__((no_sanitize("address"))) inline const void* address_at(std::ptrdiff_t offset, const std::byte* cfa) {
  return *reinterpret_cast<const void* const*>(cfa + offset);
}

/// Whether the stack holds the frame now.
inline bool holds(const Frame& frame, const std::byte* cfa) { return address_at(frame.offset, cfa) == frame.address; }

/// Whether the stack holds the trail now.  Takes one or two nanoseconds.
inline bool holds(const Trail& trail, const std::byte* cfa) {
  const auto here = reinterpret_cast<std::uintptr_t>(cfa);
  if (__builtin_expect(here <= trail.usual_highest, 1)) {
#pragma GCC unroll 3  // a loop would cost more than they do
    for (int i = 0; i < Trail::usual; ++i)
      if (__builtin_expect(!holds(trail.frames[i], cfa), 0)) return false;
    return true;
  }
  if (trail.n > 0 && here > trail.highest) return false;
  for (int i = 0; i < trail.n; ++i)
    if (!holds(trail.frames[i], cfa)) return false;
  return true;
}

/// A file of the process and an address in it.
struct Location {
  std::string module;          ///< base name; empty: no file
  std::string path, build_id;  ///< build id in hexadecimal
  std::uintptr_t offset = 0;   ///< ELF virtual address
};
Location locate(const void* address);

/// The path of a call, created if it is new.  Thread-safe; locks.  Reports new modules to the library.
/// @param trail  shortened to the part that distinguishes this path: it ends at the first frame of the C library
const Path& path_of(Call call, const void* return_address, Trail& trail);
/// A path that does not belong to a call: "start" or "step".
const Path& landmark(const char* name);
/// Makes path_of announce every module again, for a new session.
void forget_modules();

}  // namespace effort::pmpi
