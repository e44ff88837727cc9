// Finds the file of the program that an address belongs to.
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "adapters/functions/process.hpp"
#include "adapters/functions/settings.hpp"

namespace effort::functions {

/// A loaded file, as the dynamic linker knows it.
struct Process::Found {
  std::uintptr_t begin = 0, end = 0, base = 0;
  const char* path = "";  ///< empty: the program itself
  const ElfW(Phdr) * headers = nullptr;
  int n_headers = 0;

  bool is_main() const { return path[0] == '\0'; }
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35
// Without a lock.  That of dl_iterate_phdr() would stay locked for ever in a child that is forked while it is held, and
// the next dlopen() of the child would hang.
bool Process::find_module(std::uintptr_t address, Found& found) {
  dl_find_object object;
  if (::_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return false;
  found.begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  found.end = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end);
  found.base = object.dlfo_link_map->l_addr;
  if (object.dlfo_link_map->l_name) found.path = object.dlfo_link_map->l_name;
  const auto* const elf = static_cast<const ElfW(Ehdr)*>(object.dlfo_map_start);
  if (std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return true;
  found.headers = reinterpret_cast<const ElfW(Phdr)*>(found.begin + elf->e_phoff);
  found.n_headers = elf->e_phnum;
  return true;
}
#else
bool Process::find_module(std::uintptr_t address, Found& found) {
  struct Search {
    std::uintptr_t address;
    Found& found;
    bool is_first;
  } search{address, found, true};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    Search& s = *static_cast<Search*>(data);
    const bool is_main = std::exchange(s.is_first, false);
    Found f{~std::uintptr_t{0}, 0, info->dlpi_addr, "", info->dlpi_phdr, info->dlpi_phnum};
    if (!is_main && info->dlpi_name) f.path = info->dlpi_name;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      if (p.p_type != PT_LOAD) continue;
      const std::uintptr_t from = info->dlpi_addr + p.p_vaddr, to = from + p.p_memsz;
      f.begin = std::min(f.begin, from);
      f.end = std::max(f.end, to);
      inside = inside || (s.address >= from && s.address < to);
    }
    if (inside) s.found = f;
    return inside ? 1 : 0;
  };
  return ::dl_iterate_phdr(visit, &search) == 1;
}
#endif

namespace {

/// Copies the build id, if there is one.
void read_build_id(const ElfW(Phdr) * headers, int n_headers, std::uintptr_t base, layout::ModuleEntry& entry) {
  for (int i = 0; i < n_headers; ++i) {
    const ElfW(Phdr)& p = headers[i];
    if (p.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(base + p.p_vaddr);
    for (std::size_t left = p.p_memsz; left >= sizeof(ElfW(Nhdr));) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const std::size_t name = (note.n_namesz + 3) & ~std::size_t{3}, text = (note.n_descsz + 3) & ~std::size_t{3};
      if (sizeof note + name + text > left) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof note, "GNU", 4) == 0) {
        entry.build_id_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(note.n_descsz, sizeof entry.build_id));
        std::memcpy(entry.build_id, at + sizeof note + name, entry.build_id_bytes);
      }
      at += sizeof note + name + text;
      left -= sizeof note + name + text;
    }
  }
}

std::uint64_t hash_of(const char* path, const layout::ModuleEntry& entry) {
  std::uint64_t h = 14695981039346656037u;  // FNV-1a
  const auto add = [&](const void* data, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) h = (h ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  };
  add(path, std::strlen(path));
  add(entry.build_id, entry.build_id_bytes);
  return h;
}

}  // namespace

const Process::Module* Process::module_of(std::uintptr_t address) {
  Found found;
  if (!find_module(address, found)) return nullptr;
  layout::ModuleEntry entry = {};
  read_build_id(found.headers, found.n_headers, found.base, entry);
  const std::uint64_t hash = hash_of(found.path, entry);
  for (std::uint32_t i = 0; i < n_known_; ++i) {
    Module& m = modules_[i];
    if (!m.loaded || m.end <= found.begin || m.begin >= found.end) continue;
    if (m.begin == found.begin && m.end == found.end && m.hash == hash) return &m;
    note_unloaded(m);
  }
  if (n_known_ == most_modules) return nullptr;
  if (found.is_main()) {
    const long n = ::readlink("/proc/self/exe", entry.path, sizeof entry.path);
    entry.path_bytes = n > 0 ? static_cast<std::uint32_t>(n) : 0;
  } else {
    entry.path_bytes = static_cast<std::uint32_t>(::strnlen(found.path, sizeof entry.path));
    std::memcpy(entry.path, found.path, entry.path_bytes);
  }
  const std::uint32_t in_chunk = n_modules_ % layout::modules_per_chunk;
  if (in_chunk == 0) {
    layout::ChunkHeader* const next = new_chunk();
    if (!next) return nullptr;
    if (modules_chunk_) Mapping::of(modules_chunk_).unmap();
    modules_chunk_ = next;
    next->sequence = static_cast<std::uint32_t>(n_modules_ / layout::modules_per_chunk);
    __atomic_store_n(&next->kind, layout::modules, __ATOMIC_RELEASE);
  }
  reinterpret_cast<layout::ModuleEntry*>(modules_chunk_ + 1)[in_chunk] = entry;
  Module& m = modules_[n_known_++];
  m = {found.begin, found.end, found.base, hash, n_modules_++, false, true, {}};
  __atomic_store_n(&header_->modules, n_modules_, __ATOMIC_RELEASE);
  char name[sizeof entry.path + 1] = {};
  std::memcpy(name, entry.path, entry.path_bytes);
  m.left_out = modules_wanted_ ? !matches_any(modules_wanted_, name) : !all_modules_ && !found.is_main();
  if (names_wanted_ && !m.left_out) m.file = map_elf(found.is_main() ? "/proc/self/exe" : name);
  return &m;
}

bool Process::is_left_out(const Module& module, std::uintptr_t offset) const {
  if (module.left_out) return true;
  if (!names_wanted_) return false;
  const char* const name = module.file.bytes ? symbol_at(module.file, offset) : nullptr;
  return !passes_filter(names_wanted_, name ? name : "");
}

/// Another module has been loaded at its addresses.
void Process::note_unloaded(Module& m) {
  m.loaded = false;
  if (m.file.bytes) ::munmap(const_cast<unsigned char*>(m.file.bytes), m.file.size);
  for (std::size_t k = 0; k <= mask; ++k) {
    const std::uintptr_t address = table_[k].address.load(std::memory_order_relaxed);
    if (address >= m.begin && address < m.end) table_[k].address.store(1, std::memory_order_relaxed);
  }
}

}  // namespace effort::functions
