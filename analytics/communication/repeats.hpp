// Repeats within the event sequences of a thread: which parts of groups of symbols recur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::communication {

/// Groups of symbols, one after the other.
struct Groups {
  std::vector<std::uint32_t> symbols;
  std::vector<std::size_t> first;  ///< [groups + 1] group g has symbols [first[g], first[g + 1])

  std::size_t count() const { return first.empty() ? 0 : first.size() - 1; }
};

/// A part of a group.
struct Piece {
  std::size_t first = 0, end = 0;  ///< symbols [first, end)
  bool repeats = false;            ///< false: no maximal repeat begins in it
};

struct Pieces {
  std::vector<Piece> pieces;  ///< in order; together they cover all symbols
  std::size_t distinct = 0;   ///< symbols of all distinct groups
  std::size_t work = 0;       ///< states and transitions of the automaton: at most 5 x `distinct` + 1
};

/// Cuts groups into their maximal repeats.
///
/// A maximal repeat occurs at least twice, and on neither side can all its occurrences be extended by the same symbol
/// (Gusfield 1997, section 7.12.1).  The borders of a group count as symbols that differ from all others, so no repeat
/// crosses them (Alawneh & Hamou-Lhadj 2022, section 4.1.1).  The paper does not say which of several overlapping
/// repeats to use.  Here each group is read from its beginning, and the longest repeat at each place is taken, so a
/// group that recurs as a whole is one piece.  Consecutive symbols at which no repeat begins also form one piece.
///
/// Cost: O(symbols); a group that occurs several times enters the automaton once.
Pieces cut_into_repeats(const Groups& groups);

}  // namespace effort::communication
