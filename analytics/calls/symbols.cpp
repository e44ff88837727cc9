#include "analytics/calls/symbols.hpp"

namespace effort::calls {

SymbolCoder::SymbolCoder()
    : slots_(n_contexts << table_bits),
      models_(std::size_t{1} << models_bits),
      guess_models_(4 * n_contexts * 4 * 64),
      mixers_(std::size_t{4} << n_contexts),
      count_mixers_(128),
      last_counts_(std::size_t{1} << models_bits, 1) {}

void SymbolCoder::find_slots(ListState& l) {
  const std::array<std::uint32_t, n_contexts> contexts{
      hashed(l.prefix, l.function), hashed(l.long_past, l.function),
      hashed(hashed(l.last[0], l.last[1]), hashed(l.last[2], l.function)),
      hashed(hashed(l.last_functions[0], l.last_functions[1]), hashed(l.last_functions[2], l.function)),
      hashed(hashed(l.last[0], l.function), 1)};
  for (std::size_t i = 0; i < n_contexts; ++i) {
    l.slots[i] = contexts[i] >> (32 - table_bits);
    Slot& s = slot(l, i);
    const auto check = static_cast<std::uint16_t>(contexts[i]);
    if (s.check != check) s = {check, 0, 0, 0, 0};
  }
}

void SymbolCoder::learn_symbol(const ListState& list, std::uint32_t symbol) {
  for (std::size_t i = 0; i < n_contexts; ++i) {
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
  list.long_past = list.long_past * (0x9E3779B1u << 2) + hashed(node, 11);
}

void SymbolCoder::learn_stray(ListState& list) {
  learn_symbol(list, end_symbol);
  list.last = {end_symbol, list.last[0], list.last[1]};
  list.last_functions = {0, list.last_functions[0], list.last_functions[1]};
}

void SymbolCoder::learn_end(const ListState& list) { learn_symbol(list, end_symbol); }

}  // namespace effort::calls
