#include "tools/place/rank_order.hpp"

#include <cstddef>
#include <map>

namespace effort::tools {

std::string rankfile_text(std::span<const std::int32_t> node_of, std::span<const std::int32_t> core_of,
                          const std::vector<std::string>& hosts) {
  std::string text;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const std::int32_t node = node_of[rank];
    const std::string host = hosts.empty() ? "+n" + std::to_string(node) : hosts[static_cast<std::size_t>(node)];
    text += "rank " + std::to_string(rank) + "=" + host + " slot=" + std::to_string(core_of[rank]) + "\n";
  }
  return text;
}

std::string mpich_text(std::span<const std::int32_t> node_of, std::span<const std::int32_t> core_of,
                       std::int32_t nodes) {
  std::vector<std::map<std::int32_t, std::size_t>> on(static_cast<std::size_t>(nodes));  // by core
  for (std::size_t rank = 0; rank < node_of.size(); ++rank)
    on[static_cast<std::size_t>(node_of[rank])][core_of[rank]] = rank;
  std::vector<std::string> lines;
  for (const std::map<std::int32_t, std::size_t>& ranks : on) {
    std::string& line = lines.emplace_back();
    for (const auto& [core, rank] : ranks) line += (line.empty() ? "" : ",") + std::to_string(rank);
  }
  std::string text;
  for (const std::string& line : lines)
    if (!line.empty()) text += line + "\n";
  return text;
}

std::string slurm_text(std::span<const std::int32_t> node_of, const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::int32_t node : node_of) text += hosts[static_cast<std::size_t>(node)] + "\n";
  return text;
}

}  // namespace effort::tools
