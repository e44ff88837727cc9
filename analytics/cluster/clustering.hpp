// The input and the result of a clustering of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace effort::cluster {

/// A borrowed table of n objects (ranks) with d values (regions) each, row-major: object i is
/// values[i * d .. (i + 1) * d).  The dissimilarity of two objects is the Euclidean distance of their rows
/// (Gamblin 2009, equation 5.1).
struct Signatures {
  std::span<const double> values;
  std::size_t n = 0;
  std::size_t d = 0;

  const double* row(std::size_t i) const { return values.data() + i * d; }
};

/// Throws std::invalid_argument when the table is empty (n or d is 0), has a number of values other than n * d, holds a
/// NaN or an infinity (named by row and column), or has more than 2^31 - 1 rows.  Cost: one pass over the data.
void check_signatures(const Signatures& signatures);

/// Throws std::invalid_argument unless 1 <= k <= n.
void check_k(std::int64_t k, std::int64_t n);

/// k groups of objects, each around one of its members.
/// Strata are numbered by ascending id of their medoid; every medoid belongs to its own stratum, so none is empty; an
/// object with several nearest medoids belongs to the first of them.
struct Clustering {
  int k = 0;
  std::vector<std::int32_t> medoids;  ///< [k] ids of the medoids, ascending
  std::vector<std::int32_t> labels;   ///< [n] stratum of each object, 0 to k - 1
  double cost = 0;                    ///< mean distance of an object to its medoid, in the unit of the values
  std::vector<std::int64_t> sizes;    ///< [k] members of each stratum
  std::vector<std::int32_t> lone;     ///< strata of one member, ascending: objects far from all others
  double silhouette = -1;             ///< average silhouette on the sample, if k was chosen by data; else -1
};

}  // namespace effort::cluster
