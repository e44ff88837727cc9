// The recording of a process: whether there is one, its file, and the ids of functions.
//
// Everything here may run in a thread of the host at any moment: before main, after exit, inside malloc, in a signal
// handler.  So nothing allocates from the heap or throws, the only locks are this library's own short ones, and system
// calls that are cancellation points are made directly.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "record/calls/recording.hpp"
#include "runtime/measure/tsc.hpp"

namespace effort::functions {

namespace layout = record::calls::recording;

/// Keeps the host's errno.
class ErrorNumber {
 public:
  ErrorNumber() : before_(errno) {}
  ~ErrorNumber() { errno = before_; }
  ErrorNumber(const ErrorNumber&) = delete;
  ErrorNumber& operator=(const ErrorNumber&) = delete;

 private:
  int before_;
};

enum class State : int { unknown, off, on };

/// A function's id (the lower 16 bits), and how its calls are treated.
enum FunctionBits : std::uint32_t { id_bits = 0xFFFF, left_out = 1u << 16 };

/// A file of the program, mapped for looking up names; null if they are not needed or it cannot be mapped.
struct ElfFile {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};
ElfFile map_elf(const char* path);
/// The symbol name of the function at an ELF virtual address; null if there is none.  Cost: linear in the number of
/// symbols.
const char* symbol_at(const ElfFile& file, std::uintptr_t address);

/// Whole pages of the file that are mapped.
struct Mapping {
  char *begin, *end;

  /// The pages around a chunk; pages may be larger than chunks.
  static Mapping of(void* chunk);
  void unmap() const;
  /// In a child of fork(): replaces the pages by private memory, so that nothing reaches the parent's file.
  void detach() const;
};

class Process {
 public:
  static constexpr int table_bits = 17;
  struct Slot {
    std::atomic<std::uintptr_t> address;  ///< 0: free; set last
    std::atomic<std::uint32_t> bits;
  };

  State state() const { return state_.load(std::memory_order_relaxed); }
  /// Reads the settings and opens the file, once.  Returns false if the process is not to be recorded.
  bool start();
  /// In a child of fork(): the next call opens a file of its own.
  void forked();

  /// The bits of a function.
  std::uint32_t find(std::uintptr_t address) {
    for (std::size_t i = place(address);; i = (i + 1) & mask) {
      const std::uintptr_t here = table_[i].address.load(std::memory_order_acquire);
      if (here == address) return table_[i].bits.load(std::memory_order_relaxed);
      if (here == 0) return add(address);
    }
  }
  /// From now on, calls of the function are only counted.
  void leave_out_hot(std::uint32_t id);

  /// A chunk of the file, mapped; null if the file cannot grow.  The caller sets its kind.
  layout::ChunkHeader* new_chunk();
  /// Writes a chunk to the end of the file.  False if the file cannot grow.
  bool append(const layout::ChunkCopy& chunk);

  std::uint32_t next_thread();
  std::uint32_t depth_limit() const { return depth_limit_; }
  std::uint32_t stamp_every() const { return stamp_every_; }
  /// The time of a stamp.  Not monotonic between cores whose counters differ.
  std::uint64_t now_ns() const {
    __extension__ using Product = unsigned __int128;
    if (ns_per_tick_ != 0) [[likely]]
      return static_cast<std::uint64_t>(Product{measure::tsc()} * ns_per_tick_ >> 32);
    return measure::monotonic_ns();
  }
  /// Minimum duration of Thread::look_every events, in nanoseconds; 0: no limit.
  std::uint64_t least_ns() const { return least_ns_; }

 private:
  static constexpr std::size_t mask = (std::size_t{1} << table_bits) - 1;
  static constexpr std::size_t most_modules = 1024;
  static constexpr std::size_t most_path = 1024;
  struct Module {
    std::uintptr_t begin, end, base;
    std::uint64_t hash;  ///< of its path and build id
    std::uint32_t index;
    bool left_out, loaded;
    ElfFile file;
  };
  struct Found;

  static std::size_t place(std::uintptr_t address) {
    return static_cast<std::size_t>((address >> 2) * 0x9E3779B97F4A7C15ull >> (64 - table_bits));
  }
  bool open();
  int open_again() const;
  template <typename Fill>
  bool fill_next_chunk(const Fill& fill);
  bool read_settings();
  std::uint32_t add(std::uintptr_t address);
  std::uint32_t new_function(std::uintptr_t address);
  const Module* module_of(std::uintptr_t address);
  void note_unloaded(Module& module);
  bool is_left_out(const Module& module, std::uintptr_t offset) const;
  static bool find_module(std::uintptr_t address, Found& found);

  std::atomic<State> state_{State::unknown};
  std::atomic<bool> locked_{false};
  std::atomic<bool> has_fork_handler_{false};
  char path_[most_path] = {};
  std::uint64_t device_ = 0, inode_ = 0;
  layout::Header* header_ = nullptr;
  Slot* table_ = nullptr;
  bool all_modules_ = false;
  const char* modules_wanted_ = nullptr;
  const char* names_wanted_ = nullptr;
  std::uint32_t depth_limit_ = 0, stamp_every_ = 0;
  std::uint64_t ns_per_tick_ = 0;  ///< in 2^-32 (integers, because the host may trap on inexact results); 0: no TSC
  std::uint64_t least_ns_ = 0;
  layout::ChunkHeader* modules_chunk_ = nullptr;
  std::uint32_t n_functions_ = 0, n_modules_ = 0, n_known_ = 0;
  std::uint32_t n_slots_ = 0;  ///< of the table, in use
  Module modules_[most_modules] = {};
  layout::FunctionEntry* entries_[65536 / layout::functions_per_chunk + 1] = {};

  friend class Lock;
};

extern Process process;

/// In a child of fork(): the calling thread no longer writes into its parent's file.
void forget_parent();

/// Direct system calls, which are not cancellation points.
namespace direct {
int open(const char* path, int flags, unsigned mode);
void close(int fd);
/// Reserves disk space for [offset, offset + bytes) of a file, so that storing there cannot fail.
bool reserve(int fd, std::uint64_t offset, std::uint64_t bytes);
/// Writes all bytes, or returns false.
bool write(int fd, std::uint64_t offset, const void* from, std::uint64_t bytes);
}  // namespace direct

}  // namespace effort::functions
