#include "analytics/communication/suffix_automaton.hpp"

namespace effort::communication {

SuffixAutomaton::SuffixAutomaton() : states_(1), table_(64, none) {}

void SuffixAutomaton::add(std::span<const std::uint32_t> sequence, std::span<State> states) {
  State last = root;
  for (std::size_t i = 0; i < sequence.size(); ++i) states[i] = last = extended(last, sequence[i]);
}

bool SuffixAutomaton::branches(State state) const {
  const std::uint32_t first = states_[state].first;
  return first != none && transitions_[first].next != none;
}

SuffixAutomaton::State SuffixAutomaton::extended(State last, std::uint32_t symbol) {
  // An earlier sequence may have had this prefix.
  if (const std::uint32_t known = find(last, symbol); known != none) {
    const State to = transitions_[known].to;
    return states_[to].length == states_[last].length + 1 ? to : split(last, to, symbol);
  }
  const auto fresh = static_cast<State>(states_.size());
  states_.push_back({root, states_[last].length + 1, none});
  for (State at = last; at != none; at = states_[at].link) {
    const std::uint32_t known = find(at, symbol);
    if (known == none) {
      connect(at, symbol, fresh);
      continue;
    }
    const State to = transitions_[known].to;
    const State link = states_[to].length == states_[at].length + 1 ? to : split(at, to, symbol);
    states_[fresh].link = link;
    break;
  }
  return fresh;
}

SuffixAutomaton::State SuffixAutomaton::split(State from, State state, std::uint32_t symbol) {
  const auto shorter = static_cast<State>(states_.size());
  states_.push_back({states_[state].link, states_[from].length + 1, none});
  for (std::uint32_t t = states_[state].first; t != none; t = transitions_[t].next)
    connect(shorter, transitions_[t].symbol, transitions_[t].to);
  states_[state].link = shorter;
  for (State at = from; at != none; at = states_[at].link) {
    const std::uint32_t known = find(at, symbol);
    if (known == none || transitions_[known].to != state) break;
    transitions_[known].to = shorter;
  }
  return shorter;
}

std::uint32_t& SuffixAutomaton::slot(State from, std::uint32_t symbol) {
  std::uint64_t hash = ((std::uint64_t{from} << 32) | symbol) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
  const std::size_t mask = table_.size() - 1;
  std::size_t at = (hash * 0xBF58476D1CE4E5B9u >> 20) & mask;
  while (table_[at] != none) {
    const Transition& t = transitions_[table_[at]];
    if (t.from == from && t.symbol == symbol) break;
    at = (at + 1) & mask;
  }
  return table_[at];
}

void SuffixAutomaton::connect(State from, std::uint32_t symbol, State to) {
  if (2 * (transitions_.size() + 1) > table_.size()) grow();
  const auto index = static_cast<std::uint32_t>(transitions_.size());
  slot(from, symbol) = index;
  transitions_.push_back({from, to, symbol, states_[from].first});
  states_[from].first = index;
}

void SuffixAutomaton::grow() {
  table_.assign(2 * table_.size(), none);
  for (std::uint32_t t = 0; t < transitions_.size(); ++t) slot(transitions_[t].from, transitions_[t].symbol) = t;
}

}  // namespace effort::communication
