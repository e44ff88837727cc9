#include "adapters/papi/sde_tool.hpp"

#include <string_view>

#include <dlfcn.h>

namespace effort::adapters {

bool SdeTool::open(const std::vector<std::string>& events) {
  constexpr std::string_view prefix = "sde:::";
  using NameToCode = int (*)(const char*, std::uint32_t*);
  // Found as PAPI finds them: in the libraries that the application is linked with, or has opened with RTLD_GLOBAL.
  const auto read = reinterpret_cast<int (*)(std::uint32_t, long long*)>(dlsym(RTLD_DEFAULT, "sde_ti_read_counter"));
  const auto code = reinterpret_cast<NameToCode>(dlsym(RTLD_DEFAULT, "sde_ti_name_to_code"));
  if (!read || !code) return false;
  std::vector<std::uint32_t> ids;
  for (const std::string& event : events) {
    std::uint32_t id = 0;
    if (!event.starts_with(prefix) || code(event.c_str() + prefix.size(), &id) != 0) return false;
    ids.push_back(id);
  }
  ids_ = std::move(ids);
  read_ = read;
  return true;
}

}  // namespace effort::adapters
