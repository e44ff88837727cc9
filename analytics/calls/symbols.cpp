#include "analytics/calls/symbols.hpp"

namespace effort::calls {

SymbolCoder::SymbolCoder()
    : slots_((n_contexts - 1) << table_bits),
      models_(std::size_t{1} << models_bits),
      guess_models_(4 * n_contexts * 4 * 64),
      mixers_(std::size_t{4} << n_contexts),
      count_mixers_(128),
      last_counts_(std::size_t{1} << models_bits, 1) {}

void SymbolCoder::find_slots(ListState& l) {
  const std::array<std::uint32_t, n_contexts> contexts{
      0, hashed(l.prefix, l.function), hashed(hashed(l.last[0], l.last[1]), hashed(l.last[2], l.function)),
      hashed(hashed(l.last_functions[0], l.last_functions[1]), hashed(l.last_functions[2], l.function)),
      hashed(hashed(l.last[0], l.function), 1)};
  const std::vector<std::uint32_t>& before = last_list(l);
  l.aligned.symbol = l.place < before.size() ? before[l.place] : 0;
#pragma GCC unroll 8
  for (std::size_t i = 1; i < n_contexts; ++i) {
    Slot& s = slots_[(i - 1) << table_bits | contexts[i] >> (32 - table_bits)];
    l.slots[i] = &s;
    const auto check = static_cast<std::uint16_t>(contexts[i]);
    if (s.check != check) s = {check, 0, 0, 0, 0};
  }
}

void SymbolCoder::align(ListState& l) const {
  // The place where most of the last symbols match; the nearest one of several.
  const std::vector<std::uint32_t>& before = last_list(l);
  if (before.empty()) return;
  const std::size_t n = l.symbols.size();
  const std::uint32_t last = l.symbols[n - 1];
  const auto matching = [&](std::size_t place) {
    if (before[place - 1] != last) return std::size_t{0};
    std::size_t same = 1;
    for (const std::size_t most = std::min({n, place, std::size_t{24}}); same < most; ++same)
      if (before[place - 1 - same] != l.symbols[n - 1 - same]) break;
    return same;
  };
  std::size_t best = l.place, most = best <= before.size() && best > 0 ? matching(best) : 0;
  for (std::size_t far = 1; far <= 16 && most < 24; ++far)
    for (const std::size_t place : {l.place + far, l.place - far}) {
      if (place - 1 >= before.size()) continue;  // or below 1
      const std::size_t same = matching(place);
      if (same > most) {
        most = same;
        best = place;
      }
    }
  l.place = best;
}

void SymbolCoder::learn_symbol(ListState& list, std::uint32_t symbol) {
  const bool right = list.aligned.symbol == symbol;
  list.aligned.hits = right ? static_cast<std::uint8_t>(std::min(list.aligned.hits + 1, 255)) : 0;
  if (!right) list.aligned.misses = static_cast<std::uint8_t>(std::min(list.aligned.misses + 1, 3));
  if (right && list.aligned.hits % 16 == 0 && list.aligned.misses > 0) --list.aligned.misses;
  list.symbols.push_back(symbol);
  ++list.place;
  if (!right) list.unsure = 8;
  if (list.unsure > 0) {
    --list.unsure;
    align(list);
  }
#pragma GCC unroll 8
  for (std::size_t i = 1; i < n_contexts; ++i) {
    Slot& s = slot(list, i);
    if (s.symbol == symbol) {
      s.hits = static_cast<std::uint8_t>(std::min(s.hits + 1, 255));
      if (s.hits % 4 == 0 && s.misses > 0) --s.misses;
    } else {
      if (s.symbol != 0) s.misses = static_cast<std::uint8_t>(std::min(s.misses + 1, 3));
      s.second = s.symbol;
      s.symbol = symbol;
      s.hits = 0;
    }
  }
}

void SymbolCoder::learn(ListState& list, std::uint32_t node, std::uint32_t function, bool fresh) {
  learn_symbol(list, node + first_node);
  if (fresh) {
    if (nodes_of_.size() <= function) nodes_of_.resize(function + 1);
    nodes_of_[function].push_back(node);
  }
  list.last = {node + first_node, list.last[0], list.last[1]};
  list.last_functions = {function + 1, list.last_functions[0], list.last_functions[1]};
  list.prefix = hashed(list.prefix, node + first_node);
}

void SymbolCoder::learn_stray(ListState& list) {
  learn_symbol(list, end_symbol);
  list.last = {end_symbol, list.last[0], list.last[1]};
  list.last_functions = {0, list.last_functions[0], list.last_functions[1]};
}

void SymbolCoder::learn_end(ListState& list) {
  learn_symbol(list, end_symbol);
  keep(list);
}

void SymbolCoder::keep(ListState& list) {
  if (last_lists_.size() <= list.function) last_lists_.resize(list.function + 1);
  last_lists_[list.function] = std::move(list.symbols);
}

}  // namespace effort::calls
