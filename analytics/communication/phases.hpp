// Phases: a sequence of pattern instances, cut where the communication changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace effort::communication {

enum class Criterion { aic, bic };

struct PhaseOptions {
  Criterion criterion = Criterion::aic;
  std::size_t depth = std::numeric_limits<std::size_t>::max();  ///< of the tree; 0: no cut
  std::size_t length = 2;                                       ///< shorter parts are not cut
};

/// A part of the sequence that was cut in two.
struct Split {
  std::size_t first = 0, end = 0;  ///< instances [first, end)
  std::size_t split = 0;           ///< the first instance of the second part
  std::size_t depth = 0;           ///< in the tree; 0 for the whole sequence
  double divergence = 0;           ///< Jensen-Shannon, natural logarithm
  double strength = 0;             ///< above 0
};

struct Phase {
  std::size_t first = 0, end = 0;
};

struct Phases {
  std::vector<Phase> leaves;  ///< in order; they cover the sequence
  std::vector<Split> tree;    ///< all parts that were cut, each before the parts inside it, in order
};

/// Cuts a sequence of symbols where the Jensen-Shannon divergence of both sides is largest, and again inside the parts,
/// as long as the criterion says that two distributions describe a part better than one (Alawneh & Hamou-Lhadj 2022,
/// sections 2.2 and 4.1.2; Li et al. 2002).
///
/// With N symbols in a part, k different ones in it and k_l and k_r on the two sides, it is cut if the strength is
/// above 0: with K = k_l + k_r + 1 - k, (N D - K) / K for AIC (18), (2 N D - K log N) / (K log N) for BIC (15).
/// Equation (1) lacks a minus sign in print, and the 0.42 and 1.11 of Table 5 are 0.386 and 0.93 with natural
/// logarithms.  Among places with the same divergence, the first is taken; sums are integers, so that equal divergences
/// compare as equal.
///
/// @param sequence  symbols, below `symbols`
/// Cost: O(N) for each level of the tree with a few table look-ups per symbol, and no recursion.  The divergence
/// favours cuts near the middle, so trees are some log2 N levels deep; docs/performance/communication.md has the
/// deepest that were found.  Memory: 16 bytes per symbol of the sequence and 8 per symbol of the alphabet, besides the
/// result.
Phases find_phases(std::span<const std::uint32_t> sequence, std::size_t symbols, const PhaseOptions& options = {});

/// The same phases with less depth.
Phases at_depth(const Phases& phases, std::size_t depth);

}  // namespace effort::communication
