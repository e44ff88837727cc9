// How similar two segments of a trace must be for one to represent both.
//
// Mohror & Karavanic 2009, "Evaluating similarity-based trace reduction techniques for scalable performance analysis",
// section 3.2, and `bounded`, which is this project's own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effort::reduction {

enum class Similarity : std::uint8_t {
  rel_diff,   ///< each stamp: |x - y| <= T max(x, y)
  abs_diff,   ///< each stamp: |x - y| <= T ns
  manhattan,  ///< sum of |x - y| <= T times the largest stamp of both
  euclidean,  ///< likewise, of the root of the sum of squares
  chebyshev,  ///< likewise, of the largest |x - y|
  iter_k,     ///< the first T segments of a class are kept; the T-th stands for all later ones
  iter_avg,   ///< the mean of all segments of a class stands for each
  avg_wave,   ///< Euclidean distance of the wavelet transforms <= T times their largest coefficient
  haar_wave,  ///< the same with orthonormal wavelets
  bounded,    ///< T: share of a rank's waiting by a cause that may be lost; see Reducer::reduce
};
inline constexpr std::size_t n_similarities = 10;

struct Method {
  Similarity similarity = Similarity::bounded;
  double threshold = 0;
};

/// "relDiff", "absDiff", ...
std::string_view similarity_text(Similarity similarity);
/// The threshold that the paper chose (section 5.2), and this project's for `bounded`.
double default_threshold(Similarity similarity);
/// The thresholds of the paper's study (section 5.1); of iter_avg none, of `bounded` some around the default.
std::vector<double> studied_thresholds(Similarity similarity);
/// "avgWave:0.2"; without a threshold the default one.
std::string method_text(const Method& method);
/// The reverse, in letters of either case; nothing if the name is unknown, or the threshold is not a positive number
/// (iter_k: a positive integer).
std::optional<Method> method_from(const std::string& text);

/// Whether a method can be used while the program runs, with only the segments so far.  iter_avg needs the mean of all
/// segments, `bounded` the waits of all ranks.
constexpr bool decides_at_once(Similarity similarity) {
  return similarity != Similarity::iter_avg && similarity != Similarity::bounded;
}

/// The transform of avg_wave and haar_wave (section 3.2.1 and figure 3): means and differences of pairs, and again of
/// the means, down to one.  The differences are (second - first) / 2, which gives the figure's distance of 1.9; the
/// text does not say.  For haar_wave both are multiplied by the root of 2 at each level, which preserves distances.
/// The text applies that root to level 3 only once, which contradicts its own claim.
/// @param values  in place; their number is a power of two
/// @param means  scratch, of any size; pass the same again to save allocations
void transform(std::span<double> values, bool haar, std::vector<double>& means);

}  // namespace effort::reduction
