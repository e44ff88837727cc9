// Names of functions in the symbol tables of the program's files, for filters by name.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "adapters/functions/process.hpp"

namespace effort::functions {

namespace {

/// A table within a file; null if it exceeds the file.
template <typename T>
const T* table(const ElfFile& file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file.size || bytes > file.size - offset || offset % alignof(T) != 0) return nullptr;
  return reinterpret_cast<const T*>(file.bytes + offset);
}

}  // namespace

ElfFile map_elf(const char* path) {
  const int fd = direct::open(path, O_RDONLY, 0);
  if (fd < 0) return {};
  struct stat status;
  void* at = MAP_FAILED;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    at = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  direct::close(fd);
  if (at == MAP_FAILED) return {};
  return {static_cast<const unsigned char*>(at), static_cast<std::size_t>(status.st_size)};
}

const char* symbol_at(const ElfFile& file, std::uintptr_t address) {
  const auto* const header = table<ElfW(Ehdr)>(file, 0, sizeof(ElfW(Ehdr)));
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)))
    return nullptr;
  const auto* const sections =
      table<ElfW(Shdr)>(file, header->e_shoff, std::uint64_t{header->e_shnum} * sizeof(ElfW(Shdr)));
  if (!sections) return nullptr;
  // The full table if the file has one, else that of exported symbols.
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})
    for (std::size_t s = 0; s < header->e_shnum; ++s) {
      const ElfW(Shdr)& section = sections[s];
      if (section.sh_type != type || section.sh_link >= header->e_shnum) continue;
      const ElfW(Shdr)& texts = sections[section.sh_link];
      const auto* const symbols = table<ElfW(Sym)>(file, section.sh_offset, section.sh_size);
      const char* const names = table<char>(file, texts.sh_offset, texts.sh_size);
      if (!symbols || !names || texts.sh_size == 0 || names[texts.sh_size - 1] != '\0') continue;
      for (std::size_t i = 0; i < section.sh_size / sizeof(ElfW(Sym)); ++i)
        if (symbols[i].st_value == address && (symbols[i].st_info & 15) == STT_FUNC &&
            symbols[i].st_name < texts.sh_size)
          return names + symbols[i].st_name;
    }
  return nullptr;
}

}  // namespace effort::functions
