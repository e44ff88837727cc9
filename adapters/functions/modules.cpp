// Finds the file of the program that an address belongs to.
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "adapters/functions/process.hpp"
#include "adapters/functions/settings.hpp"

namespace effort::functions {

/// Searches the loaded modules for an address, for dl_iterate_phdr.
struct Process::Search {
  std::uintptr_t address = 0;
  bool found = false, first = true, is_main = false;
  unsigned long long unloads = 0;
  std::uintptr_t begin = 0, end = 0, base = 0;
  layout::ModuleEntry entry = {};
};

int Process::visit(dl_phdr_info* info, std::size_t size, void* data) {
  Search& s = *static_cast<Search*>(data);
  const bool is_main = s.first;
  s.first = false;
  if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) s.unloads = info->dlpi_subs;
  if (s.found) return 0;
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    const std::uintptr_t from = info->dlpi_addr + p.p_vaddr, to = from + p.p_memsz;
    begin = std::min(begin, from);
    end = std::max(end, to);
    inside = inside || (s.address >= from && s.address < to);
  }
  if (!inside) return 0;
  s.found = true;
  s.is_main = is_main;
  s.begin = begin;
  s.end = end;
  s.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + p.p_vaddr);
    for (std::size_t left = p.p_memsz; left >= sizeof(ElfW(Nhdr));) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const std::size_t name = (note.n_namesz + 3) & ~std::size_t{3}, text = (note.n_descsz + 3) & ~std::size_t{3};
      if (sizeof note + name + text > left) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof note, "GNU", 4) == 0) {
        s.entry.build_id_bytes =
            static_cast<std::uint32_t>(std::min<std::size_t>(note.n_descsz, sizeof s.entry.build_id));
        std::memcpy(s.entry.build_id, at + sizeof note + name, s.entry.build_id_bytes);
      }
      at += sizeof note + name + text;
      left -= sizeof note + name + text;
    }
  }
  if (is_main || !info->dlpi_name || info->dlpi_name[0] == '\0') {
    const long n = ::readlink("/proc/self/exe", s.entry.path, sizeof s.entry.path);
    s.entry.path_bytes = n > 0 ? static_cast<std::uint32_t>(n) : 0;
  } else {
    s.entry.path_bytes = static_cast<std::uint32_t>(::strnlen(info->dlpi_name, sizeof s.entry.path));
    std::memcpy(s.entry.path, info->dlpi_name, s.entry.path_bytes);
  }
  return 0;
}

const Process::Module* Process::module_of(std::uintptr_t address) {
  Search search;
  search.address = address;
  ::dl_iterate_phdr(visit, &search);
  if (search.unloads != unloads_) {
    unloads_ = search.unloads;
    note_unloaded();
  }
  if (!search.found) return nullptr;
  for (std::uint32_t i = 0; i < n_known_; ++i)
    if (modules_[i].loaded && modules_[i].begin == search.begin && modules_[i].end == search.end) return &modules_[i];
  if (n_known_ == most_modules) return nullptr;
  const std::uint32_t in_chunk = n_modules_ % layout::modules_per_chunk;
  if (in_chunk == 0) {
    layout::ChunkHeader* const next = new_chunks(1);
    if (!next) return nullptr;
    if (modules_chunk_) unmap(modules_chunk_, 1);
    modules_chunk_ = next;
    next->sequence = static_cast<std::uint32_t>(n_modules_ / layout::modules_per_chunk);
    __atomic_store_n(&next->kind, layout::modules, __ATOMIC_RELEASE);
  }
  reinterpret_cast<layout::ModuleEntry*>(modules_chunk_ + 1)[in_chunk] = search.entry;
  Module& m = modules_[n_known_++];
  m = {search.begin, search.end, search.base, n_modules_++, false, true, {}};
  __atomic_store_n(&header_->modules, n_modules_, __ATOMIC_RELEASE);
  char name[sizeof search.entry.path + 1] = {};
  std::memcpy(name, search.entry.path, search.entry.path_bytes);
  m.left_out = modules_wanted_ ? !matches_any(modules_wanted_, name) : !all_modules_ && !search.is_main;
  if (names_wanted_ && !m.left_out) m.file = map_elf(search.is_main ? "/proc/self/exe" : name);
  return &m;
}

bool Process::is_left_out(const Module& module, std::uintptr_t offset) const {
  if (module.left_out) return true;
  if (!names_wanted_) return false;
  const char* const name = module.file.bytes ? symbol_at(module.file, offset) : nullptr;
  return !passes_filter(names_wanted_, name ? name : "");
}

void Process::note_unloaded() {
  // After a module has been unloaded, another one may be loaded at its addresses.
  for (std::uint32_t i = 0; i < n_known_; ++i) {
    Module& m = modules_[i];
    if (!m.loaded) continue;
    Search search;
    search.address = m.begin;
    ::dl_iterate_phdr(visit, &search);
    if (search.found && search.begin == m.begin && search.end == m.end) continue;
    m.loaded = false;
    if (m.file.bytes) ::munmap(const_cast<unsigned char*>(m.file.bytes), m.file.size);
    for (std::size_t k = 0; k <= mask; ++k) {
      const std::uintptr_t address = table_[k].address.load(std::memory_order_relaxed);
      if (address >= m.begin && address < m.end) table_[k].address.store(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace effort::functions
