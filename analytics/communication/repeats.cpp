#include "analytics/communication/repeats.hpp"

#include <algorithm>
#include <unordered_map>

#include "analytics/communication/suffix_automaton.hpp"

namespace effort::communication {

namespace {

using State = SuffixAutomaton::State;

/// The distinct groups, and the distinct group that each group equals.
struct Distinct {
  std::vector<std::size_t> groups;    ///< the first of each
  std::vector<std::uint64_t> counts;  ///< how often it occurs
  std::vector<std::uint32_t> of_group;
};

std::span<const std::uint32_t> symbols_of(const Groups& groups, std::size_t g) {
  return std::span(groups.symbols).subspan(groups.first[g], groups.first[g + 1] - groups.first[g]);
}

std::uint64_t hash_of(std::span<const std::uint32_t> symbols) {
  std::uint64_t hash = symbols.size();
  for (const std::uint32_t symbol : symbols) {
    hash = (hash ^ symbol) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

Distinct distinct_groups(const Groups& groups) {
  Distinct out;
  out.of_group.resize(groups.count());
  std::unordered_multimap<std::uint64_t, std::uint32_t> known;
  for (std::size_t g = 0; g < groups.count(); ++g) {
    const auto symbols = symbols_of(groups, g);
    const std::uint64_t hash = hash_of(symbols);
    const auto [begin, end] = known.equal_range(hash);
    auto same = std::find_if(begin, end, [&](const auto& entry) {
      return std::ranges::equal(symbols_of(groups, out.groups[entry.second]), symbols);
    });
    if (same == end) {
      same = known.emplace(hash, static_cast<std::uint32_t>(out.groups.size()));
      out.groups.push_back(g);
      out.counts.push_back(0);
    }
    out.of_group[g] = same->second;
    ++out.counts[same->second];
  }
  return out;
}

/// Finds the maximal repeats that begin at each symbol of the distinct groups.  The automaton reads the groups
/// backwards, so that the suffix links of a place lead to ever shorter repeats that begin there.
class RepeatFinder {
 public:
  RepeatFinder(const Groups& groups, const Distinct& distinct) {
    std::size_t total = 0;
    for (const std::size_t g : distinct.groups) {
      first_.push_back(total);
      total += groups.first[g + 1] - groups.first[g];
    }
    states_.resize(total);
    std::vector<std::uint32_t> backwards;
    for (std::size_t d = 0; d < distinct.groups.size(); ++d) {
      const auto symbols = symbols_of(groups, distinct.groups[d]);
      backwards.assign(symbols.rbegin(), symbols.rend());
      automaton_.add(backwards, std::span(states_).subspan(first_[d], symbols.size()));
    }
    find_repeats(distinct);
  }

  /// The length of the longest maximal repeat that begins `left` symbols before the end of a distinct group; 0 none.
  std::size_t longest(std::size_t distinct, std::size_t left) const {
    return automaton_.length(repeat_[states_[first_[distinct] + left - 1]]);
  }
  std::size_t symbols() const { return states_.size(); }
  std::size_t work() const { return automaton_.states() + automaton_.transitions(); }

 private:
  /// The number of occurrences of each state's parts, and whether one of them begins a group.
  struct Occurrences {
    std::uint64_t count = 0;
    bool begins = false;
  };

  std::vector<State> by_length() const {
    std::vector<std::size_t> place(automaton_.states() + 1);  // no part is longer than there are states
    for (State s = 0; s < automaton_.states(); ++s) ++place[automaton_.length(s) + 1];
    for (std::size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
    std::vector<State> order(automaton_.states());
    for (State s = 0; s < automaton_.states(); ++s) order[place[automaton_.length(s)]++] = s;
    return order;
  }

  void find_repeats(const Distinct& distinct) {
    std::vector<Occurrences> occurrences(automaton_.states());
    for (std::size_t d = 0; d < distinct.groups.size(); ++d) {
      const std::size_t end = d + 1 < first_.size() ? first_[d + 1] : states_.size();
      for (std::size_t i = first_[d]; i < end; ++i) occurrences[states_[i]].count += distinct.counts[d];
      if (end > first_[d]) occurrences[states_[end - 1]].begins = true;
    }
    const std::vector<State> order = by_length();
    for (std::size_t i = order.size(); i-- > 1;) {
      const Occurrences& of = occurrences[order[i]];
      Occurrences& shorter = occurrences[automaton_.link(order[i])];
      shorter.count += of.count;
      shorter.begins |= of.begins;
    }
    repeat_.assign(automaton_.states(), SuffixAutomaton::root);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const State s = order[i];
      // Its parts are the longest that end where they do (backwards), so only the other side remains to be checked.
      const bool maximal = occurrences[s].count >= 2 && (occurrences[s].begins || automaton_.branches(s));
      repeat_[s] = maximal ? s : repeat_[automaton_.link(s)];
    }
  }

  SuffixAutomaton automaton_;
  std::vector<std::size_t> first_;  ///< of each distinct group in states_
  std::vector<State> states_;       ///< of the symbols of the distinct groups, the last symbol of a group first
  std::vector<State> repeat_;       ///< of each state: that of the longest maximal repeat
};

void cut(const Groups& groups, std::size_t g, const RepeatFinder& finder, std::size_t distinct,
         std::vector<Piece>& pieces) {
  const std::size_t end = groups.first[g + 1];
  bool open = false;  // whether the last piece takes symbols that begin no repeat
  for (std::size_t at = groups.first[g]; at < end;) {
    const std::size_t length = finder.longest(distinct, end - at);
    if (length > 0) {
      pieces.push_back({at, at + length, true});
    } else if (open) {
      ++pieces.back().end;
    } else {
      pieces.push_back({at, at + 1, false});
    }
    open = length == 0;
    at += std::max<std::size_t>(length, 1);
  }
}

}  // namespace

Pieces cut_into_repeats(const Groups& groups) {
  Pieces out;
  const Distinct distinct = distinct_groups(groups);
  const RepeatFinder finder(groups, distinct);
  for (std::size_t g = 0; g < groups.count(); ++g) cut(groups, g, finder, distinct.of_group[g], out.pieces);
  out.distinct = finder.symbols();
  out.work = finder.work();
  return out;
}

}  // namespace effort::communication
