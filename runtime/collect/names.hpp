// The tables of names of a node and of the run.
#pragma once

#include "analytics/comm/communicator.hpp"
#include "runtime/measure/registry.hpp"

#include <array>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace effort::engine {

inline constexpr std::size_t n_definition_kinds = 7;

/// A name's id in the tables of a node, and in those of the run.  The ids of a rank (measure::Registry) are plain
/// integers, which convert to neither.
enum class NodeId : std::uint32_t {};
enum class RunId : std::uint32_t {};
/// Position of a name in an array over all names of the run.
constexpr std::size_t position(RunId id) { return static_cast<std::size_t>(id); }

/// A region in a phase, seen by one metric.
template <typename Id>
struct SeriesKey {
  Id region, phase, metric;
  auto operator<=>(const SeriesKey&) const = default;
};
using NodeSeries = SeriesKey<NodeId>;
using RunSeries = SeriesKey<RunId>;

/// Regions, phases, units of work, metrics, modules, notes and communicators, each with dense ids in order of arrival.
template <typename Id>
class Names {
 public:
  struct Item {
    std::string name;
    measure::Kind kind = measure::Kind::compute;  ///< of a region
    std::string unit;                             ///< of a metric; see measure::Defined
    bool conflict = false;                        ///< registered elsewhere with another kind or unit
  };

  /// The id of the name in `d`, which is added if it is new.
  Id add(const measure::Defined& d);
  const std::vector<Item>& of(measure::Definition what) const { return items_[static_cast<std::size_t>(what)]; }
  const Item& at(measure::Definition what, Id id) const { return of(what)[static_cast<std::size_t>(id)]; }

 private:
  std::array<std::vector<Item>, n_definition_kinds> items_;
  std::array<std::unordered_map<std::string, Id>, n_definition_kinds> index_;
};
using RunNames = Names<RunId>;

/// The names of this node and of the whole run.  The run's tables are identical on all nodes.
class NameUnion {
 public:
  /// Adds a definition of a local rank.
  NodeId add(const measure::Defined& d);
  /// Whether the node has names that it has not shared yet.
  bool has_news() const;
  /// Collective: merges new names in alphabetical order, so that ids depend neither on timing nor on the split into
  /// nodes.
  void share(Communicator& nodes);

  bool is_shared(measure::Definition what, NodeId id) const {
    return static_cast<std::size_t>(id) < to_global_[static_cast<std::size_t>(what)].size();
  }
  /// The run's id of a node's name, once shared.
  RunId global(measure::Definition what, NodeId id) const {
    return to_global_[static_cast<std::size_t>(what)][static_cast<std::size_t>(id)];
  }
  RunSeries global(const NodeSeries& key) const {
    return {global(measure::Definition::region, key.region), global(measure::Definition::phase, key.phase),
            global(measure::Definition::metric, key.metric)};
  }
  const RunNames& run() const { return run_; }

 private:
  Names<NodeId> node_;
  RunNames run_;
  std::array<std::vector<RunId>, n_definition_kinds> to_global_;
  std::vector<measure::Defined> conflicts_;  ///< of local ranks, not shared yet: the first one of each name
  std::set<std::pair<measure::Definition, NodeId>> in_conflict_;
};

}  // namespace effort::engine
