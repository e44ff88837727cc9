#include "tools/place/switches.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "record/text.hpp"

namespace effort::tools {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;

std::vector<std::string> lines_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw std::runtime_error("'" + path + "' is not a regular file: give a text file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > most_bytes)
    throw std::runtime_error("'" + path +
                             "' is larger than 16 MiB, too large for a list of nodes or switches: give another file");
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open '" + path + "': check its name and permissions");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

struct Line {
  std::string name;
  std::vector<std::string> nodes, switches;
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// None for empty lines and comments.
std::optional<Line> parse(std::string text) {
  text.erase(std::find(text.begin(), text.end(), '#'), text.end());
  std::istringstream words(text);
  Line line;
  bool empty = true;
  for (std::string word; words >> word;) {
    empty = false;
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw std::invalid_argument("has '" + word + "', where KEY=VALUE is expected");
    const std::string_view key = std::string_view(word).substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (equal_ignoring_case(key, "SwitchName")) line.name = value;
    if (equal_ignoring_case(key, "Nodes")) line.nodes = expand_host_list(value);
    if (equal_ignoring_case(key, "Switches")) line.switches = expand_host_list(value);
  }
  if (empty) return std::nullopt;
  if (line.name.empty()) throw std::invalid_argument("has no SwitchName");
  if (line.nodes.empty() == line.switches.empty()) throw std::invalid_argument("needs either Nodes or Switches");
  return line;
}

/// Nodes and switches by name, and what is above each.
class Tree {
 public:
  void add(const Line& line) {
    const std::size_t above = vertex(switches_, line.name);
    if (!defined_.insert(line.name).second) throw std::invalid_argument("defines switch '" + line.name + "' again");
    for (const std::string& node : line.nodes) put_below(vertex(nodes_, node), "node '" + node + "'", above);
    for (const std::string& name : line.switches) put_below(vertex(switches_, name), "switch '" + name + "'", above);
  }

  Switches finish(const std::string& path) const {
    for (const auto& [name, at] : switches_)
      if (!defined_.count(name))
        throw std::runtime_error("'" + path + "' names switch '" + name +
                                 "' without saying what is below it: add a line with its SwitchName");
    // The network needs the nodes first, in the order of the file.
    std::vector<std::string> nodes(nodes_.size());
    std::vector<std::int32_t> index(above_.size(), -1);
    std::int32_t next_node = 0, next_switch = static_cast<std::int32_t>(nodes_.size());
    for (std::size_t at = 0; at < above_.size(); ++at) {
      const auto node = nodes_.find(names_[at]);
      const bool is_node = node != nodes_.end() && node->second == at;
      index[at] = is_node ? next_node++ : next_switch++;
      if (is_node) nodes[static_cast<std::size_t>(index[at])] = names_[at];
    }
    std::vector<std::int32_t> parent(above_.size(), -1);
    for (std::size_t at = 0; at < above_.size(); ++at)
      if (above_[at]) parent[static_cast<std::size_t>(index[at])] = index[*above_[at]];
    try {
      return {std::move(nodes), placement::Network(static_cast<std::int32_t>(nodes_.size()), std::move(parent))};
    } catch (const std::invalid_argument& e) {
      throw std::runtime_error("the switches of '" + path + "' are not one tree (" + e.what() +
                               "): connect all of them below one switch");
    }
  }

 private:
  using Index = std::map<std::string, std::size_t>;

  std::size_t vertex(Index& index, const std::string& name) {
    const auto [at, fresh] = index.emplace(name, above_.size());
    if (fresh) {
      above_.emplace_back();
      names_.push_back(name);
    }
    return at->second;
  }
  void put_below(std::size_t vertex, const std::string& what, std::size_t above) {
    if (above_[vertex]) throw std::invalid_argument("puts " + what + " below a second switch");
    above_[vertex] = above;
  }

  Index nodes_, switches_;
  std::set<std::string> defined_;
  std::vector<std::optional<std::size_t>> above_;  ///< [nodes and switches] in the order of the file
  std::vector<std::string> names_;
};

}  // namespace

Switches read_switches(const std::string& path) {
  Tree tree;
  std::size_t number = 0;
  for (const std::string& text : lines_of(path)) {
    ++number;
    try {
      if (const std::optional<Line> line = parse(text)) tree.add(*line);
    } catch (const std::invalid_argument& e) {
      throw std::runtime_error("line " + std::to_string(number) + " of '" + path + "' " + record::visible(e.what()) +
                               "; write lines such as SwitchName=s0 Nodes=n[0-15]");
    }
  }
  return tree.finish(path);
}

std::vector<std::string> read_hosts(const std::string& path, std::int32_t nodes) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (const std::string& line : lines_of(path)) {
    std::istringstream words(line);
    std::string host;
    if (!(words >> host)) continue;
    if (!seen.insert(host).second)
      throw std::runtime_error("'" + path + "' names '" + record::visible(host) + "' twice: name every node once");
    hosts.push_back(host);
  }
  if (hosts.size() != static_cast<std::size_t>(nodes))
    throw std::runtime_error("'" + path + "' names " + std::to_string(hosts.size()) + " nodes, but the run has " +
                             std::to_string(nodes) + ": give one name per line, node 0 first");
  return hosts;
}

placement::Network network_of(const Switches& switches, const std::vector<std::string>& hosts, std::int32_t nodes,
                              const std::string& path) {
  if (hosts.empty()) {
    if (switches.network.nodes() != nodes)
      throw std::runtime_error("'" + path + "' describes " + std::to_string(switches.network.nodes()) +
                               " nodes, but the run has " + std::to_string(nodes) +
                               ": list the run's nodes in a file, one name per line, and give it with --hosts");
    return switches.network;
  }
  std::map<std::string, std::int32_t> index;
  for (std::size_t i = 0; i < switches.nodes.size(); ++i)
    index.emplace(switches.nodes[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> chosen;
  for (const std::string& host : hosts) {
    const auto at = index.find(host);
    if (at == index.end())
      throw std::runtime_error("'" + path + "' does not name node '" + record::visible(host) +
                               "' of --hosts: correct one of the two files");
    chosen.push_back(at->second);
  }
  return switches.network.of(chosen);
}

}  // namespace effort::tools
