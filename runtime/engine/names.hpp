// The tables of names of a node and of the run.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "runtime/measure/registry.hpp"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace effort::engine {

inline constexpr std::size_t n_definition_kinds = 6;

/// Regions, phases, units of work, metrics, modules and notes, each with dense ids in order of arrival.
class Names {
 public:
  struct Item {
    std::string name;
    measure::Kind kind = measure::Kind::compute;  ///< of a region
    std::string unit;                             ///< of a metric; see measure::Defined
    bool conflict = false;                        ///< registered elsewhere with another kind or unit
  };

  /// The id of what `d` names, added if it is new.
  std::uint32_t add(const measure::Defined& d);
  const std::vector<Item>& of(measure::Definition what) const { return items_[static_cast<std::size_t>(what)]; }

 private:
  std::array<std::vector<Item>, n_definition_kinds> items_;
  std::array<std::unordered_map<std::string, std::uint32_t>, n_definition_kinds> index_;
};

/// The names of this node and of the whole run.  The run's tables are identical on all nodes.
class NameUnion {
 public:
  /// Adds a definition of a local rank; returns the node's id.
  std::uint32_t add(const measure::Defined& d) { return node_.add(d); }
  /// Whether the node has names that it has not shared yet.
  bool has_news() const;
  /// Collective: merges new names in alphabetical order, so that ids depend neither on timing nor on the split into
  /// nodes.
  void share(Communicator& nodes);

  /// The run's id of a node's id, once shared.
  std::uint32_t global(measure::Definition what, std::uint32_t node_id) const {
    return to_global_[static_cast<std::size_t>(what)][node_id];
  }
  const Names& run() const { return run_; }

 private:
  Names node_, run_;
  std::array<std::vector<std::uint32_t>, n_definition_kinds> to_global_;
};

}  // namespace effort::engine
