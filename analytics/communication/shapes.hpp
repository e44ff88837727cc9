// Names for traffic between ranks: rings, halos, trees, ...
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace effort::communication {

/// All messages from one rank to another.
struct Link {
  std::uint32_t from = 0, to = 0;
  std::uint32_t messages = 1;
  std::uint64_t bytes = 0;

  friend bool operator==(const Link&, const Link&) = default;
};

/// Messages between ranks, which are numbered from 0.
struct Traffic {
  std::uint32_t ranks = 0;
  std::vector<Link> links;  ///< of ranks below `ranks`; ascending by `from` and `to`, each pair once
  bool in_rounds = false;   ///< whether a rank completes its exchange with one rank before it begins one with another
};

/// The shape of traffic.
struct Shape {
  std::string name;
  std::vector<std::uint32_t> grid;  ///< of a halo: ranks in each dimension, the last one varying fastest
};

/// Names traffic: "ring", "shift", "1D halo", "2D halo", "2D halo with corners", "3D halo", "3D halo with edges",
/// "3D halo with corners" (each also with ", periodic" or ", partly periodic"), "butterfly", "dissemination", "binomial
/// tree", "binary tree", "transpose", "all-to-all", "gather to a root", "scatter from a root", "master-worker",
/// "message" (one or more, from one rank to another), "exchange" (both ways between two ranks), "self messages",
/// "none", or else "irregular".
///
/// - ring: each rank sends to the next one, and the last to the first, or the other way round.
/// - shift: each rank sends to the one at a fixed distance, cyclically or up to the end.
/// - halo: on a grid of at least 2 ranks in each dimension, in row-major order, each rank exchanges with its
///   neighbours.  Messages of a rank to itself, as in periodic dimensions of one rank, do not matter.
/// - butterfly: each rank exchanges with the ranks that differ from it in one binary digit.  If the number of ranks is
///   not a power of two, some ranks first hand their part to another one, which answers at the end.  With 4 and 8 ranks
///   these are also the neighbours in a grid, so the exchange must take place in rounds.
/// - dissemination: rank r sends to r + 1, r + 2, r + 4, ..., modulo the number of ranks.
/// - binomial tree: the parent of a rank is found by clearing its lowest or its highest binary digit, counted from the
///   root; towards the root or away from it.
/// - transpose: rank (i, j) of a square grid exchanges with (j, i).
///
/// In small groups several names may fit; the first in this order is used: all-to-all, roots, ring and shift, trees,
/// butterfly, halos, dissemination, transpose.  If all ranks exchange with all others and each message to a corner is
/// smaller than each message to a face, the name is a halo with corners.
///
/// @param traffic  may be empty
/// Errors: none.  Cost: O(links) times the number of possible grids that the traffic of rank 0 fits.
Shape recognise(const Traffic& traffic);

}  // namespace effort::communication
