// From the ids of a file to indices of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// Indices for ids.  An id without a name gets a name that says so.
template <typename Item>
class Ids {
 public:
  Ids(std::vector<Item>& items, std::string noun) : items_(items), noun_(std::move(noun)) {}

  /// The last definition of an id counts.
  void define(std::uint32_t id, Item item) {
    const auto [at, fresh] = index_.emplace(id, static_cast<std::uint32_t>(items_.size()));
    if (fresh) {
      items_.push_back(std::move(item));
    } else {
      items_[at->second] = std::move(item);
    }
  }

  std::uint32_t index(std::uint32_t id) {
    const auto at = index_.find(id);
    if (at != index_.end()) return at->second;
    ++unnamed_;
    define(id, named(noun_ + " " + std::to_string(id)));
    return index_.at(id);
  }

  /// The index of an id that is known.
  std::optional<std::uint32_t> find(std::uint32_t id) const {
    const auto at = index_.find(id);
    return at != index_.end() ? std::optional(at->second) : std::nullopt;
  }

  /// Ids that were looked up but never defined.
  std::size_t unnamed() const { return unnamed_; }

 private:
  static Item named(const std::string& name) {
    Item item;
    if constexpr (std::is_same_v<Item, std::string>) {
      item = name;
    } else {
      item.name = name;
    }
    return item;
  }

  std::vector<Item>& items_;
  std::string noun_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;
  std::size_t unnamed_ = 0;
};

}  // namespace effort::tools
