// The suffix automaton of several sequences of symbols.  Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// Accepts all parts of the sequences that were added.  A state stands for all parts that end at the same places; its
/// length is that of the longest of them (Blumer et al., "The smallest automaton recognizing the subwords of a text",
/// Theoretical Computer Science 40, 1985).  n symbols make at most 2 n states and 3 n transitions, in O(n) time.
class SuffixAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State root = 0;

  SuffixAutomaton();

  /// Adds a sequence.
  /// @param states  [sequence.size()] receives the state of each prefix, the shortest first; the prefix is the longest
  ///                part that its state stands for, also after further sequences have been added
  void add(std::span<const std::uint32_t> sequence, std::span<State> states);

  std::size_t states() const { return states_.size(); }
  std::size_t transitions() const { return transitions_.size(); }
  std::uint32_t length(State state) const { return states_[state].length; }
  /// The state of the longest suffix that ends at more places.  Undefined for the root.
  State link(State state) const { return states_[state].link; }
  /// Whether at least two different symbols follow.
  bool branches(State state) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Node {
    State link = none;
    std::uint32_t length = 0;
    std::uint32_t first = none;  ///< transition
  };
  struct Transition {
    State from = 0, to = 0;
    std::uint32_t symbol = 0;
    std::uint32_t next = none;  ///< of the same state
  };

  State extended(State last, std::uint32_t symbol);
  /// Splits the part that is one symbol longer than that of `from` off its state.
  State split(State from, State state, std::uint32_t symbol);
  std::uint32_t& slot(State from, std::uint32_t symbol);
  std::uint32_t find(State from, std::uint32_t symbol) { return slot(from, symbol); }
  void connect(State from, std::uint32_t symbol, State to);
  void grow();

  std::vector<Node> states_;
  std::vector<Transition> transitions_;
  std::vector<std::uint32_t> table_;  ///< transitions by state and symbol: open addressing, half empty
};

}  // namespace effort::communication
