#include "runtime/collect/names.hpp"

#include "runtime/measure/frame.hpp"

#include <algorithm>
#include <tuple>

namespace effort::engine {

using measure::Defined;
using measure::Definition;

template <typename Id>
Id Names<Id>::add(const Defined& d) {
  const auto what = static_cast<std::size_t>(d.what);
  auto [at, fresh] = index_[what].try_emplace(d.name, static_cast<Id>(items_[what].size()));
  if (fresh) {
    items_[what].push_back({d.name, d.kind, d.unit, false});
    return at->second;
  }
  Item& item = items_[what][static_cast<std::size_t>(at->second)];
  if (d.what == Definition::metric && item.unit.empty())
    item.unit = d.unit;  // LOAD_METRIC may have named the metric before its unit was known
  else if (item.kind != d.kind || (item.unit != d.unit && !d.unit.empty()))
    item.conflict = true;
  return at->second;
}

template class Names<NodeId>;
template class Names<RunId>;

NodeId NameUnion::add(const Defined& d) {
  const NodeId id = node_.add(d);
  if (node_.at(d.what, id).conflict && in_conflict_.emplace(d.what, id).second) conflicts_.push_back(d);
  return id;
}

bool NameUnion::has_news() const {
  if (!conflicts_.empty()) return true;
  for (std::size_t k = 0; k < n_definition_kinds; ++k)
    if (to_global_[k].size() < node_.of(static_cast<Definition>(k)).size()) return true;
  return false;
}

// Definitions that contradict others of their node come last, so that they do not replace these.
void NameUnion::share(Communicator& nodes) {
  constexpr std::uint32_t contradicts = ~std::uint32_t{0};
  measure::RecordStream news;
  for (std::size_t k = 0; k < n_definition_kinds; ++k) {
    const auto what = static_cast<Definition>(k);
    const auto& items = node_.of(what);
    for (std::size_t i = to_global_[k].size(); i < items.size(); ++i)
      news.definition({what, static_cast<std::uint32_t>(i), items[i].kind, items[i].name, items[i].unit});
  }
  for (const Defined& d : conflicts_) news.definition({d.what, contradicts, d.kind, d.name, d.unit});
  conflicts_.clear();
  const auto all = nodes.allgatherv(std::span<const std::byte>(news.bytes()));
  std::vector<Defined> united;
  for (std::span<const std::byte> bytes(all.values); !bytes.empty();) {
    measure::RecordHeader h;
    std::memcpy(&h, bytes.data(), sizeof h);
    united.push_back(measure::read_definition(bytes.first(h.bytes)));
    bytes = bytes.subspan(h.bytes);
  }
  const auto key = [](const Defined& d) { return std::tuple(d.id == contradicts, d.what, d.name, d.kind, d.unit); };
  std::sort(united.begin(), united.end(), [&](const Defined& a, const Defined& b) { return key(a) < key(b); });
  for (const Defined& d : united) run_.add(d);
  for (std::size_t k = 0; k < n_definition_kinds; ++k) {
    const auto what = static_cast<Definition>(k);
    const auto& items = node_.of(what);
    for (std::size_t i = to_global_[k].size(); i < items.size(); ++i)
      to_global_[k].push_back(run_.add({what, 0, items[i].kind, items[i].name, items[i].unit}));
  }
}

}  // namespace effort::engine
