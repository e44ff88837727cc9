// With libdw, of elfutils.
#include "tools/symbols/debug_info.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace effort::tools {

namespace {

struct DwflEnd {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

const Dwfl_Callbacks& callbacks() {
  static const Dwfl_Callbacks all = [] {
    Dwfl_Callbacks c{};
    c.find_elf = dwfl_build_id_find_elf;
    c.find_debuginfo = dwfl_standard_find_debuginfo;
    c.section_address = dwfl_offline_section_address;
    return c;
  }();
  return all;
}

/// Without the list of arguments, which begins at the first parenthesis outside of templates and names.
std::string without_arguments(const std::string& name) {
  constexpr std::string_view anonymous = "(anonymous namespace)", call = "operator()";
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = std::string_view(name).substr(i);
    if (rest.starts_with(anonymous)) {
      i += anonymous.size() - 1;
    } else if (rest.starts_with(call)) {
      i += call.size() - 1;
    } else if (rest.starts_with("operator<") || rest.starts_with("operator>") || rest.starts_with("operator->")) {
      i += rest.find_first_not_of("<>=-", 8) - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (name[i] == '(' && depth == 0) {
      return name.substr(0, i);
    }
  }
  return name;
}

/// The name as in the source: C++ demangled, gfortran's module procedures as module::procedure.
std::string readable(const char* symbol) {
  if (symbol == nullptr) return "";
  std::string name = symbol;
  if (name == "MAIN__") return "main program";
  if (const std::size_t middle = name.find("_MOD_"); name.starts_with("__") && middle != std::string::npos)
    return name.substr(2, middle - 2) + "::" + name.substr(middle + 5);
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  return status == 0 && text ? without_arguments(text.get()) : name;
}

const char* linkage_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(die, name, &attribute) != nullptr) return dwarf_formstring(&attribute);
  }
  return nullptr;
}

std::string function_name(Dwarf_Die* die) {
  const char* const linkage = linkage_name(die);
  return readable(linkage != nullptr ? linkage : dwarf_diename(die));
}

bool is_function(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/// The place at which a function was inlined: the call in the surrounding function.
Location call_site(Dwarf_Die* inlined, Dwarf_Die* unit) {
  Location out;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
    out.line = static_cast<int>(value);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) == 0 &&
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0 && value < count) {
    if (const char* name = dwarf_filesrc(files, value, nullptr, nullptr)) out.file = name;
  }
  return out;
}

}  // namespace

struct DebugInfo::State {
  std::unique_ptr<Dwfl, DwflEnd> dwfl;
  Dwfl_Module* module = nullptr;
  Dwarf_Addr bias = 0;  ///< libdw adds it to the file's addresses
  std::string build_id;
  bool has_lines = false;

  Location line_at(Dwarf_Addr address) const;
  std::vector<Location> functions_at(Dwarf_Addr address) const;
};

DebugInfo::DebugInfo(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.dwfl.reset(dwfl_begin(&callbacks()));
  if (!s.dwfl) throw std::runtime_error(dwfl_errmsg(-1));
  dwfl_report_begin(s.dwfl.get());
  s.module = dwfl_report_offline(s.dwfl.get(), path.filename().c_str(), path.c_str(), -1);
  dwfl_report_end(s.dwfl.get(), nullptr, nullptr);
  if (s.module == nullptr) throw std::runtime_error(dwfl_errmsg(-1));
  if (dwfl_module_getelf(s.module, &s.bias) == nullptr) throw std::runtime_error(dwfl_errmsg(-1));
  const unsigned char* bits = nullptr;
  GElf_Addr ignored = 0;
  const int length = dwfl_module_build_id(s.module, &bits, &ignored);
  for (int i = 0; i < length; ++i) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", bits[i]);
    s.build_id += digits.data();
  }
  Dwarf_Addr ignored_bias = 0;
  s.has_lines = dwfl_module_getdwarf(s.module, &ignored_bias) != nullptr;
}

DebugInfo::~DebugInfo() = default;

bool DebugInfo::available() { return true; }
const std::string& DebugInfo::build_id() const { return state_->build_id; }
bool DebugInfo::has_lines() const { return state_->has_lines; }

Location DebugInfo::State::line_at(Dwarf_Addr address) const {
  Location out;
  Dwfl_Line* const line = dwfl_module_getsrc(module, address);
  if (line == nullptr) return out;
  const char* const file = dwfl_lineinfo(line, nullptr, &out.line, nullptr, nullptr, nullptr);
  if (file == nullptr) return {};
  const char* const directory = dwfl_line_comp_dir(line);
  out.file = (directory != nullptr ? std::filesystem::path(directory) / file : std::filesystem::path(file))
                 .lexically_normal()
                 .string();
  return out;
}

std::vector<Location> DebugInfo::State::functions_at(Dwarf_Addr address) const {
  std::vector<Location> out;
  Dwarf_Addr unit_bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &unit_bias);
  if (unit == nullptr) return out;
  Dwarf_Die* around = nullptr;
  if (dwarf_getscopes(unit, address - unit_bias, &around) <= 0) return out;
  const std::unique_ptr<Dwarf_Die, Free> innermost(around);
  // From an inlined function, dwarf_getscopes goes on at its definition, dwarf_getscopes_die at the place of inlining.
  Dwarf_Die* concrete = nullptr;
  const int count = dwarf_getscopes_die(innermost.get(), &concrete);
  if (count <= 0) return out;
  const std::unique_ptr<Dwarf_Die, Free> scopes(concrete);
  Location here = line_at(address);
  for (int i = 0; i < count; ++i) {
    Dwarf_Die* const die = scopes.get() + i;
    if (!is_function(die)) continue;
    here.function = function_name(die);
    out.push_back(here);
    if (dwarf_tag(die) != DW_TAG_inlined_subroutine) break;
    here = call_site(die, unit);
  }
  return out;
}

std::vector<Location> DebugInfo::look_up(std::uint64_t file_address) const {
  const Dwarf_Addr address = state_->bias + file_address;
  std::vector<Location> out = state_->functions_at(address);
  if (!out.empty()) return out;
  // Without debug information, the symbol table still names the function.
  Location here = state_->line_at(address);
  GElf_Off distance = 0;
  GElf_Sym symbol;
  here.function =
      readable(dwfl_module_addrinfo(state_->module, address, &distance, &symbol, nullptr, nullptr, nullptr));
  if (!here.function.empty() || here.line > 0) out.push_back(here);
  return out;
}

std::vector<FunctionSymbol> DebugInfo::functions() const {
  std::vector<FunctionSymbol> out;
  const int n = dwfl_module_getsymtab(state_->module);
  for (int i = 1; i < n; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* const name = dwfl_module_getsym_info(state_->module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    if (Location place = state_->line_at(address); !place.file.empty()) out.push_back({name, std::move(place.file)});
  }
  return out;
}

}  // namespace effort::tools
