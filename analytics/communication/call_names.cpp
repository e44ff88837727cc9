#include "analytics/communication/call_names.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace effort::communication {

std::string collective_name(const std::string& region) {
  // A call path follows.
  const auto end =
      std::find_if(region.begin(), region.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; });
  std::string name(region.begin(), end);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.rfind("mpi_", 0) != 0) return "collective";
  name.erase(0, 4);
  while (!name.empty() && name.back() == '_') name.pop_back();
  // Some blocking calls, such as MPI_Intercomm_create, also begin with an I.
  if (name.rfind('i', 0) == 0 && name.rfind("int", 0) != 0) name.erase(0, 1);
  return name.empty() ? "collective" : name;
}

std::vector<std::uint32_t> collective_numbers(const Record& record) {
  std::unordered_map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> numbers;
  for (const std::string& region : record.regions)
    numbers.push_back(known.emplace(collective_name(region), static_cast<std::uint32_t>(known.size())).first->second);
  return numbers;
}

}  // namespace effort::communication
