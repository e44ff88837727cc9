// Maximal repeats against a search by brute force.
#include "analytics/communication/repeats.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "analytics/communication/suffix_automaton.hpp"

using namespace effort::communication;

namespace {

using Word = std::vector<std::uint32_t>;

Groups groups_of(const std::vector<Word>& words) {
  Groups groups;
  groups.first = {0};
  for (const Word& word : words) {
    groups.symbols.insert(groups.symbols.end(), word.begin(), word.end());
    groups.first.push_back(groups.symbols.size());
  }
  return groups;
}

/// All maximal repeats: occurrences with the symbols before and after them; the borders of groups are all different.
std::set<Word> maximal_repeats(const std::vector<Word>& words) {
  struct Sides {
    std::size_t count = 0;
    std::set<std::int64_t> before, after;
  };
  std::map<Word, Sides> parts;
  std::int64_t border = -1;
  for (const Word& word : words) {
    for (std::size_t first = 0; first < word.size(); ++first) {
      for (std::size_t end = first + 1; end <= word.size(); ++end) {
        Sides& sides = parts[Word(word.begin() + static_cast<std::ptrdiff_t>(first),
                                  word.begin() + static_cast<std::ptrdiff_t>(end))];
        ++sides.count;
        sides.before.insert(first == 0 ? border-- : std::int64_t{word[first - 1]});
        sides.after.insert(end == word.size() ? border-- : std::int64_t{word[end]});
      }
    }
  }
  std::set<Word> out;
  for (const auto& [part, sides] : parts) {
    if (sides.count >= 2 && sides.before.size() >= 2 && sides.after.size() >= 2) out.insert(part);
  }
  return out;
}

std::size_t longest_at(const std::set<Word>& repeats, const Word& word, std::size_t place) {
  std::size_t longest = 0;
  for (const Word& repeat : repeats) {
    if (repeat.size() <= word.size() - place &&
        std::equal(repeat.begin(), repeat.end(), word.begin() + static_cast<std::ptrdiff_t>(place)))
      longest = std::max(longest, repeat.size());
  }
  return longest;
}

/// Each piece is the longest maximal repeat at its place, or a stretch without any; together they cover the groups.
void check(const std::vector<Word>& words) {
  const Groups groups = groups_of(words);
  const Pieces pieces = cut_into_repeats(groups);
  const std::set<Word> repeats = maximal_repeats(words);
  std::size_t next = 0, g = 0;
  bool before = true;
  for (const Piece& piece : pieces.pieces) {
    REQUIRE(piece.first == next);
    REQUIRE(piece.end > piece.first);
    next = piece.end;
    while (groups.first[g + 1] <= piece.first) ++g, before = true;
    REQUIRE(piece.end <= groups.first[g + 1]);
    const std::size_t in_group = piece.first - groups.first[g];
    if (piece.repeats) {
      REQUIRE(piece.end - piece.first == longest_at(repeats, words[g], in_group));
    } else {
      REQUIRE(before);  // two stretches without repeats would be one
      for (std::size_t i = 0; i < piece.end - piece.first; ++i)
        REQUIRE(longest_at(repeats, words[g], in_group + i) == 0);
    }
    before = piece.repeats;
  }
  REQUIRE(next == groups.symbols.size());
  REQUIRE(pieces.work <= 5 * pieces.distinct + 1);
}

}  // namespace

TEST_CASE("pieces are the longest maximal repeats") {
  check({});
  check({{1}});
  check({{1, 2, 3}, {1, 2, 3}});
  check({{1, 1, 1, 1, 1}});
  check({{1, 2, 1, 2, 1}, {2, 1}, {3}});
  check({{1, 2, 9}, {1, 2, 8}, {2, 9, 7, 1, 2}});
  std::mt19937 random(3);
  for (int round = 0; round < 600; ++round) {
    const std::uint32_t alphabet = 1 + static_cast<std::uint32_t>(random() % 5);
    std::vector<Word> words(random() % 8);
    for (Word& word : words) {
      word.resize(1 + random() % 9);
      for (std::uint32_t& symbol : word) symbol = static_cast<std::uint32_t>(random()) % alphabet;
    }
    if (words.size() > 2 && random() % 2 == 0) words.push_back(words[random() % words.size()]);
    check(words);
  }
}

TEST_CASE("the automaton is linear in the number of distinct parts") {
  const auto work = [](const std::vector<Word>& words) {
    const Pieces pieces = cut_into_repeats(groups_of(words));
    REQUIRE(pieces.work <= 5 * pieces.distinct + 1);
    return std::pair(pieces.distinct, pieces.work);
  };
  std::mt19937 random(4);
  for (const std::size_t n : {1000, 4000, 16000}) {
    Word same(n, 7), different(n), binary(n), fibonacci{0}, previous{1}, worst(n, 0);
    for (std::size_t i = 0; i < n; ++i) different[i] = static_cast<std::uint32_t>(i), binary[i] = random() % 2;
    while (fibonacci.size() < n) {
      Word longer = fibonacci;
      longer.insert(longer.end(), previous.begin(), previous.end());
      previous = std::exchange(fibonacci, std::move(longer));
    }
    std::fill(worst.begin() + static_cast<std::ptrdiff_t>(n / 2), worst.end(), 1);  // a...ab...b has most transitions
    worst.push_back(2);
    for (const Word& word : {same, different, binary, fibonacci, worst}) work({word});
    // Repetitions cost nothing.
    const auto [distinct, cost] = work(std::vector<Word>(50, different));
    REQUIRE(distinct == n);
    REQUIRE(cost == work({different}).second);
  }
}

TEST_CASE("the automaton knows all parts and no others") {
  SuffixAutomaton automaton;
  const std::vector<Word> words = {{1, 2, 1, 3}, {2, 1, 2}, {1, 2, 1, 3}, {3}};
  std::vector<SuffixAutomaton::State> states(4);
  for (const Word& word : words) {
    automaton.add(word, states);
    for (std::size_t i = 0; i < word.size(); ++i) REQUIRE(automaton.length(states[i]) == i + 1);
  }
  // Parts that differ: for each state those between its link's length and its own.
  std::size_t parts = 0;
  for (SuffixAutomaton::State s = 1; s < automaton.states(); ++s)
    parts += automaton.length(s) - automaton.length(automaton.link(s));
  std::set<Word> expected;
  for (const Word& word : words) {
    for (std::size_t first = 0; first < word.size(); ++first) {
      for (std::size_t end = first + 1; end <= word.size(); ++end)
        expected.emplace(word.begin() + static_cast<std::ptrdiff_t>(first),
                         word.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  REQUIRE(parts == expected.size());
}
