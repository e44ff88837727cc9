#include "tools/trace/model/call_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace effort::tools {

namespace {

/// In the order of OTF2_CollectiveOp.
constexpr std::array<std::string_view, 17> collectives = {"barrier",
                                                          "bcast",
                                                          "gather",
                                                          "gatherv",
                                                          "scatter",
                                                          "scatterv",
                                                          "allgather",
                                                          "allgatherv",
                                                          "alltoall",
                                                          "alltoallv",
                                                          "alltoallw",
                                                          "allreduce",
                                                          "reduce",
                                                          "reduce_scatter",
                                                          "scan",
                                                          "exscan",
                                                          "reduce_scatter_block"};

}  // namespace

std::string mpi_call(const std::string& region) {
  std::string call;
  for (const char c : region) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '_') break;
    call += static_cast<char>(std::tolower(byte));
  }
  if (!call.starts_with("mpi_")) return "";
  call.erase(0, 4);
  while (call.ends_with('_')) call.pop_back();
  for (const char* const suffix : {"_f08ts", "_f08", "_c"}) {
    if (call.ends_with(suffix)) call.erase(call.size() - std::string_view(suffix).size());
  }
  return call;
}

int collective_of(const std::string& call) {
  const auto index = [](std::string_view name) {
    const auto at = std::find(collectives.begin(), collectives.end(), name);
    return at == collectives.end() ? -1 : static_cast<int>(at - collectives.begin());
  };
  std::string_view name = call;
  if (name.ends_with("_init")) name.remove_suffix(5);
  for (const std::string_view prefix : {"", "i", "neighbor_", "ineighbor_"}) {
    if (name.starts_with(prefix) && index(name.substr(prefix.size())) >= 0) return index(name.substr(prefix.size()));
  }
  return -1;
}

std::string name_of_collective(int operation) {
  if (operation < 0 || static_cast<std::size_t>(operation) >= collectives.size()) return "collective";
  std::string name(collectives[static_cast<std::size_t>(operation)]);
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name;
}

bool is_point_to_point(const std::string& call) {
  std::string_view name = call;
  if (name.starts_with('i')) name.remove_prefix(1);
  for (const std::string_view begin : {"send", "ssend", "bsend", "rsend", "recv", "mrecv", "probe", "mprobe"})
    if (name.starts_with(begin)) return true;
  return name.starts_with("start") || name.starts_with("wait") || name.starts_with("test");
}

bool is_poll(const std::string& call) {
  return call.starts_with("test") || call == "iprobe" || call == "improbe" || call == "request_get_status" ||
         call == "win_test" || call == "parrived";
}

std::uint8_t kind_of_call(const std::string& name) {
  const std::string call = mpi_call(name);
  if (call.empty()) return 0;
  const auto begins = [&](const char* with) { return call.starts_with(with); };
  if (begins("file_")) return 3;
  const bool waits = begins("wait") || begins("test") || call == "probe" || call == "iprobe" || call == "barrier" ||
                     begins("win_fence") || begins("win_wait") || begins("win_start") || begins("win_complete");
  return waits ? 2 : 1;
}

}  // namespace effort::tools
