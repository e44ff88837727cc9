#include "adapters/pmpi/calls/functions.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace effort::pmpi {
namespace {

/// A file in memory; empty if it cannot be read.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about {};
    void* const at = fstat(file, &about) == 0 && about.st_size > 0
                         ? mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0)
                         : MAP_FAILED;
    close(file);
    if (at == MAP_FAILED) return;
    data_ = static_cast<const std::byte*>(at);
    size_ = static_cast<std::size_t>(about.st_size);
  }
  ~Mapped() {
    if (data_) munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  /// An array at an offset; null if the file is too short.
  template <typename T>
  const T* at(std::size_t offset, std::size_t count) const {
    const bool inside = offset <= size_ && count <= (size_ - offset) / sizeof(T) && offset % alignof(T) == 0;
    return inside ? reinterpret_cast<const T*>(data_ + offset) : nullptr;
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The function that contains an address of the file, according to one of its tables; null: none.
const char* symbol_in(const Mapped& file, const ElfW(Shdr) & table, const ElfW(Shdr) & names, std::uintptr_t address) {
  const std::size_t n = table.sh_size / sizeof(ElfW(Sym));
  const auto* const symbols = file.at<ElfW(Sym)>(table.sh_offset, n);
  const auto* const text = file.at<char>(names.sh_offset, names.sh_size);
  for (std::size_t i = 0; symbols && text && i < n; ++i) {
    const ElfW(Sym)& s = symbols[i];
    const bool here = ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && address >= s.st_value &&
                      address - s.st_value < s.st_size;
    if (here && s.st_name < names.sh_size && std::memchr(text + s.st_name, 0, names.sh_size - s.st_name))
      return text + s.st_name;
  }
  return nullptr;
}

std::string function_at(const Location& at) {
  const Mapped file(at.path);
  const auto* const head = file.at<ElfW(Ehdr)>(0, 1);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return "?";
  const auto* const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  // The full table first; stripped files have only the table of exported symbols.
  for (const auto type : {SHT_SYMTAB, SHT_DYNSYM})
    for (std::size_t i = 0; sections && i < head->e_shnum; ++i) {
      if (sections[i].sh_type != static_cast<ElfW(Word)>(type) || sections[i].sh_link >= head->e_shnum) continue;
      // The address is a return address, and the call may be a function's last instruction, so look one byte earlier.
      if (const char* name = symbol_in(file, sections[i], sections[sections[i].sh_link], at.offset - 1))
        return readable_symbol(name);
    }
  return "?";
}

/// The arguments begin at the first parenthesis that is outside templates and not part of a name.
std::string without_arguments(const std::string& name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = std::string_view(name).substr(i);
    for (const std::string_view part :
         {std::string_view("(anonymous namespace)"), std::string_view("operator()"), std::string_view("operator<<"),
          std::string_view("operator<"), std::string_view("operator->"), std::string_view("operator>>"),
          std::string_view("operator>")})
      if (rest.starts_with(part)) {
        i += part.size();
        break;
      }
    if (i >= name.size()) break;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
  }
  return name;
}

}  // namespace

std::string readable_symbol(const char* symbol) {
  std::string name = symbol;
  if (name == "MAIN__") return "main program";
  if (const std::size_t middle = name.find("_MOD_"); name.starts_with("__") && middle != std::string::npos)
    return name.substr(2, middle - 2) + "::" + name.substr(middle + 5);
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? without_arguments(text.get()) : name;
}

std::string functions_of(const void* return_address, const Trail& trail) {
  std::string out = function_at(locate(return_address));
  for (int i = 0; i < trail.n; ++i) out += " < " + function_at(locate(trail.frames[i].address));
  return out;
}

}  // namespace effort::pmpi
