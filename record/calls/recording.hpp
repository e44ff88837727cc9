// The memory layout of a recording: the file in which the threads of a process keep their calls while it runs
// (adapters/functions).  RECORDING.md describes it.  What is being written is mapped memory, so nothing is lost if the
// process is killed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace effort::record::calls::recording {

inline constexpr std::array<unsigned char, 8> magic = {0x89, 'E', 'C', 'R', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t version = 2;
inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t chunk_bytes = 4096;

/// At the start of the file.
struct Header {
  unsigned char magic[8];
  std::uint32_t version;
  std::uint32_t chunk_bytes;
  std::uint64_t process;
  std::int64_t rank;  ///< -1: unknown
  std::uint64_t started_unix_ns;
  std::uint32_t chunks;     ///< taken so far, whether or not they are in use yet
  std::uint32_t functions;  ///< entries in chunks of functions
  std::uint32_t modules;    ///< entries in chunks of modules
  std::uint32_t threads;    ///< that have made calls
  /// One call in this many has time stamps (analytics/calls/stamps.hpp); 0: none has.
  std::uint32_t stamp_every;
};

enum ChunkKind : std::uint32_t { unused = 0, functions = 1, modules = 2, calls = 3, stamps = 4 };

/// At the start of each chunk, at header_bytes + chunk_bytes * index.  Chunks of one kind and thread are numbered from
/// 0.
struct ChunkHeader {
  std::uint32_t kind;  ///< set last
  std::uint32_t thread;
  std::uint32_t sequence;
  std::uint32_t reserved;
  /// Of calls: bytes of records << 40 | expected events since the last record.  Only in the thread's last chunk do
  /// these events count; in others, the next chunk's first record has them.
  /// Of stamps: bytes << 40.
  std::uint64_t state;
  std::uint64_t left_out;  ///< calls of functions that were left out, in all chunks of the thread so far
  std::uint64_t skipped;   ///< calls that were not recorded because they interrupted recording, or were too deep
  unsigned char rest[24];
};
static_assert(sizeof(ChunkHeader) == 64);

/// A chunk as a whole.
struct ChunkCopy {
  ChunkHeader header;
  unsigned char contents[chunk_bytes - sizeof(ChunkHeader)];
};

inline constexpr int run_bits = 40;

struct FunctionEntry {
  std::uint64_t offset;  ///< ELF virtual address
  std::uint32_t module;
  std::uint32_t flags;
};
enum FunctionFlags : std::uint32_t {
  filtered = 1,  ///< left out by settings
  hot = 2        ///< left out from some moment on, because it was called too often
};

struct ModuleEntry {
  std::uint32_t path_bytes, build_id_bytes;
  char build_id[40];  ///< binary
  char path[464];
};
static_assert(sizeof(ModuleEntry) == 512);

inline constexpr std::size_t room = chunk_bytes - sizeof(ChunkHeader);
inline constexpr std::size_t functions_per_chunk = room / sizeof(FunctionEntry);
inline constexpr std::size_t modules_per_chunk = room / sizeof(ModuleEntry);

/// The id shared by all functions beyond the number that ids can distinguish.
inline constexpr std::uint32_t other_functions = 65535;

}  // namespace effort::record::calls::recording
