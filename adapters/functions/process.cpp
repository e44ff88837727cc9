#include "adapters/functions/process.hpp"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "adapters/functions/settings.hpp"

namespace effort::functions {

constinit Process process;

/// Held only for a moment.  A signal handler never waits for its own thread, because hooks inside hooks do nothing.
class Lock {
 public:
  explicit Lock(Process& p) : p_(p) {
    while (p_.locked_.exchange(true, std::memory_order_acquire)) ::sched_yield();
  }
  ~Lock() { p_.locked_.store(false, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Process& p_;
};

namespace {

void* anonymous(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

bool Process::start() {
  // Before the lock, which a child would inherit.
  if (!has_fork_handler_.exchange(true)) ::pthread_atfork(nullptr, nullptr, [] { process.forked(); });
  const Lock lock(*this);
  if (state() == State::unknown)
    state_.store(read_settings() && open() ? State::on : State::off, std::memory_order_release);
  return state() == State::on;
}

bool Process::read_settings() {
  const Settings s = functions::read_settings();
  all_modules_ = s.all_modules;
  modules_wanted_ = s.modules;
  names_wanted_ = s.names;
  depth_limit_ = s.depth != 0 ? s.depth : ~0u;
  stamp_every_ = s.stamp_every;
  if (s.on && stamp_every_ != 0 && ns_per_tick_ == 0) {
    const measure::TscAndSystem tsc = measure::measure_tsc_rate();
    if (tsc.ticks != 0) ns_per_tick_ = (tsc.ns << 32) / tsc.ticks;
  }
  least_ns_ = s.least_ns;
  return s.on;
}

bool Process::open() {
  if (!make_path(path_, sizeof path_)) return false;
  int fd = -1;
  const std::size_t end = std::strlen(path_);
  for (int n = 1; n < 1000 && fd < 0; ++n) {  // never overwrite a file of another process with the same number
    if (n > 1) std::snprintf(path_ + end - 4, sizeof path_ - end + 4, "-%d.rec", n);
    fd = direct::open(path_, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (fd < 0 && errno != EEXIST) return false;
  }
  if (fd < 0) return false;
  struct stat status;
  void* at = MAP_FAILED;
  if (direct::reserve(fd, 0, layout::header_bytes) && ::fstat(fd, &status) == 0)
    at = ::mmap(nullptr, layout::header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  direct::close(fd);
  if (at == MAP_FAILED) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  // In a child, forget what the parent knew.
  n_functions_ = n_modules_ = n_known_ = n_slots_ = 0;
  modules_chunk_ = nullptr;
  std::fill(std::begin(entries_), std::end(entries_), nullptr);
  if (table_)
    ::madvise(table_, sizeof(Slot) << table_bits, MADV_DONTNEED);  // zeros from now on
  else
    table_ = static_cast<Slot*>(anonymous(sizeof(Slot) << table_bits));
  if (!table_) return false;
  header_ = static_cast<layout::Header*>(at);
  header_->version = layout::version;
  header_->chunk_bytes = layout::chunk_bytes;
  header_->process = static_cast<std::uint64_t>(::getpid());
  header_->rank = rank_of_process();
  header_->stamp_every = stamp_every_;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  header_->started_unix_ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
  std::memcpy(header_->magic, layout::magic.data(), layout::magic.size());
  return true;
}

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// The offset of a position within its page.
std::size_t in_page(std::uint64_t at) { return at & (page_bytes() - 1); }

}  // namespace

Mapping Mapping::of(void* chunk) {
  char* const first = static_cast<char*>(chunk);
  char* const last = first + layout::chunk_bytes - 1;
  return {first - in_page(reinterpret_cast<std::uintptr_t>(first)),
          last - in_page(reinterpret_cast<std::uintptr_t>(last)) + page_bytes()};
}

void Mapping::unmap() const { ::munmap(begin, static_cast<std::size_t>(end - begin)); }

void Mapping::detach() const {
  ::mmap(begin, static_cast<std::size_t>(end - begin), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
}

// The mappings are shared with the parent, so nothing may be written there any more.  But a signal handler that forks
// may have interrupted a hook, which goes on in the child: what it uses stays where it is.
void Process::forked() {
  locked_.store(false, std::memory_order_relaxed);
  if (state() != State::on) return;
  state_.store(State::off, std::memory_order_relaxed);  // for signal handlers that interrupt what follows
  std::atomic_signal_fence(std::memory_order_seq_cst);
  device_ = inode_ = 0;  // the parent's file gets no more chunks
  static_assert(layout::header_bytes == layout::chunk_bytes);
  Mapping::of(header_).detach();
  if (modules_chunk_) Mapping::of(modules_chunk_).detach();
  for (layout::FunctionEntry* entries : entries_)
    if (entries) Mapping::of(reinterpret_cast<layout::ChunkHeader*>(entries) - 1).detach();
  forget_parent();
  state_.store(State::unknown, std::memory_order_release);
}

// Open the file each time: the host may have closed all descriptors, and the number may be another file's by now.
int Process::open_again() const {
  const int fd = direct::open(path_, O_RDWR, 0);
  if (fd < 0) return -1;
  struct stat status;
  if (::fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) return fd;
  direct::close(fd);
  return -1;
}

template <typename Fill>
bool Process::fill_next_chunk(const Fill& fill) {
  const std::uint32_t index = __atomic_fetch_add(&header_->chunks, 1, __ATOMIC_RELAXED);
  const int fd = open_again();
  const bool filled = fd >= 0 && fill(fd, layout::header_bytes + std::uint64_t{layout::chunk_bytes} * index);
  if (fd >= 0) direct::close(fd);
  // What was not there is given back, unless another thread has taken the next one.
  std::uint32_t taken = index + 1;
  if (!filled) __atomic_compare_exchange_n(&header_->chunks, &taken, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return filled;
}

layout::ChunkHeader* Process::new_chunk() {
  char* at = nullptr;
  fill_next_chunk([&](int fd, std::uint64_t offset) {
    const std::size_t before = in_page(offset), bytes = before + layout::chunk_bytes;
    if (!direct::reserve(fd, offset, layout::chunk_bytes)) return false;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset - before));
    if (pages == MAP_FAILED) return false;
    // Otherwise, the first store reads ahead, which takes 40 to 100 us.
    ::madvise(pages, bytes, MADV_RANDOM);
    at = static_cast<char*>(pages) + before;
    return true;
  });
  return reinterpret_cast<layout::ChunkHeader*>(at);
}

bool Process::append(const layout::ChunkCopy& chunk) {
  return fill_next_chunk([&](int fd, std::uint64_t offset) {
    if (direct::write(fd, offset, &chunk, sizeof chunk)) return true;
    const layout::ChunkKind none = layout::unused;  // if a part has been written
    direct::write(fd, offset, &none, sizeof none);
    return false;
  });
}

std::uint32_t Process::next_thread() { return __atomic_fetch_add(&header_->threads, 1, __ATOMIC_RELAXED); }

std::uint32_t Process::add(std::uintptr_t address) {
  const ErrorNumber kept;
  const Lock lock(*this);
  std::size_t i = place(address);
  for (; table_[i].address.load(std::memory_order_relaxed) != 0; i = (i + 1) & mask)
    if (table_[i].address.load(std::memory_order_relaxed) == address)
      return table_[i].bits.load(std::memory_order_relaxed);
  const std::uint32_t bits = new_function(address);
  if (n_slots_ > mask / 4 * 3) return bits;  // the table keeps free slots
  ++n_slots_;
  table_[i].bits.store(bits, std::memory_order_relaxed);
  table_[i].address.store(address, std::memory_order_release);
  return bits;
}

std::uint32_t Process::new_function(std::uintptr_t address) {
  const Module* const module = module_of(address);
  if (!module || n_functions_ >= layout::other_functions - 1) return layout::other_functions;
  const std::uint32_t chunk = n_functions_ / layout::functions_per_chunk;
  const std::uint32_t in_chunk = n_functions_ % layout::functions_per_chunk;
  if (in_chunk == 0 || !entries_[chunk]) {
    layout::ChunkHeader* const next = in_chunk == 0 ? new_chunk() : nullptr;
    if (!next) return layout::other_functions;
    next->sequence = chunk;
    __atomic_store_n(&next->kind, layout::functions, __ATOMIC_RELEASE);
    entries_[chunk] = reinterpret_cast<layout::FunctionEntry*>(next + 1);
  }
  const bool is_out = is_left_out(*module, address - module->base);
  layout::FunctionEntry& entry = entries_[chunk][in_chunk];
  entry.offset = address - module->base;
  entry.module = module->index;
  entry.flags = is_out ? std::uint32_t{layout::filtered} : 0;
  const std::uint32_t id = ++n_functions_;
  __atomic_store_n(&header_->functions, id, __ATOMIC_RELEASE);
  return id | (is_out ? left_out : 0u);
}

void Process::leave_out_hot(std::uint32_t id) {
  const Lock lock(*this);
  if (id == 0 || id > n_functions_) return;
  layout::FunctionEntry& entry =
      entries_[(id - 1) / layout::functions_per_chunk][(id - 1) % layout::functions_per_chunk];
  entry.flags |= layout::hot;
  for (std::uint32_t m = 0; m < n_known_; ++m) {
    if (modules_[m].index != entry.module) continue;
    const std::uintptr_t address = modules_[m].base + entry.offset;
    for (std::size_t i = place(address); table_[i].address.load(std::memory_order_relaxed) != 0; i = (i + 1) & mask) {
      if (table_[i].address.load(std::memory_order_relaxed) != address) continue;
      const std::uint32_t bits = table_[i].bits.load(std::memory_order_relaxed);
      if ((bits & id_bits) == id) table_[i].bits.store(bits | left_out, std::memory_order_relaxed);
      return;
    }
  }
}

}  // namespace effort::functions
