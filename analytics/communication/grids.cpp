#include "analytics/communication/grids.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

namespace effort::communication {

namespace {

/// The neighbours in a halo: ranks that differ in at most `most` coordinates.
struct Stencil {
  std::size_t dimensions = 1, most = 1;
  const char* name = "";
};

constexpr std::array<Stencil, 6> stencils = {{{1, 1, "1D halo"},
                                              {2, 1, "2D halo"},
                                              {2, 2, "2D halo with corners"},
                                              {3, 1, "3D halo"},
                                              {3, 2, "3D halo with edges"},
                                              {3, 3, "3D halo with corners"}}};

using Sizes = std::array<std::uint32_t, 3>;

struct Grid {
  Stencil stencil;
  Sizes size{};
  unsigned periodic = 0;  ///< a bit for each dimension
};

struct Neighbour {
  std::uint32_t rank = 0;
  std::size_t differ = 0;  ///< coordinates

  friend bool operator<(const Neighbour& a, const Neighbour& b) { return a.rank < b.rank; }
};

/// The neighbours of a rank in ascending order; one that can be reached in two ways is listed twice.
void neighbours_of(const Grid& grid, std::uint32_t rank, std::vector<Neighbour>& out) {
  out.clear();
  const std::size_t dimensions = grid.stencil.dimensions;
  std::array<std::uint32_t, 3> at{};
  std::uint32_t rest = rank;
  for (std::size_t d = dimensions; d-- > 0;) {
    at[d] = rest % grid.size[d];
    rest /= grid.size[d];
  }
  const int directions = dimensions == 1 ? 3 : dimensions == 2 ? 9 : 27;
  for (int direction = 0; direction < directions; ++direction) {
    std::uint32_t other = 0;
    std::size_t differ = 0;
    bool inside = true;
    int digits = direction;
    for (std::size_t d = 0; d < dimensions; ++d, digits /= 3) {
      const std::int64_t moved = std::int64_t{at[d]} + digits % 3 - 1, size = grid.size[d];
      if (digits % 3 != 1) ++differ;
      inside = inside && ((moved >= 0 && moved < size) || (grid.periodic >> d & 1u) != 0);
      other = other * grid.size[d] + static_cast<std::uint32_t>((moved + size) % size);
    }
    if (inside && differ > 0 && differ <= grid.stencil.most && other != rank) out.push_back({other, differ});
  }
  std::sort(out.begin(), out.end());
}

/// Checks whether links are those of a halo.
class Matcher {
 public:
  explicit Matcher(const Traffic& traffic) : traffic_(traffic), first_(traffic.ranks + 1) {
    for (const Link& link : traffic.links) ++first_[link.from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (const Link& link : traffic.links) common_ = std::gcd(common_, link.messages);
  }

  /// The number of messages that all links have in common.
  std::uint32_t common() const { return common_; }

  /// @param each  messages to a neighbour, for each way of reaching it
  bool matches(const Grid& grid, std::uint32_t each, bool small_corners) {
    std::uint64_t smallest_face = std::numeric_limits<std::uint64_t>::max(), largest_corner = 0;
    for (std::uint32_t rank = 0; rank < traffic_.ranks; ++rank) {
      neighbours_of(grid, rank, neighbours_);
      std::size_t n = 0;
      for (std::size_t l = first_[rank]; l < first_[rank + 1]; ++l) {
        const Link& link = traffic_.links[l];
        const std::size_t before = n;
        while (n < neighbours_.size() && neighbours_[n].rank == link.to) ++n;
        if (n == before || (n - before) * each != link.messages) return false;
        if (neighbours_[before].differ == 1) {
          smallest_face = std::min(smallest_face, link.bytes);
        } else {
          largest_corner = std::max(largest_corner, link.bytes);
        }
      }
      if (n != neighbours_.size()) return false;
    }
    return !small_corners || largest_corner < smallest_face;
  }

 private:
  const Traffic& traffic_;
  std::vector<std::size_t> first_;
  std::vector<Neighbour> neighbours_;
  std::uint32_t common_ = 0;
};

/// Calls `found` with all ways to write `ranks` as a product of factors of at least 2, until it returns true.
template <typename Found>
bool for_factors(std::uint32_t ranks, std::size_t dimensions, Sizes& size, std::size_t at, const Found& found) {
  if (at + 1 == dimensions) {
    size[at] = ranks;
    return ranks >= 2 && found();
  }
  for (std::uint32_t factor = 2; factor <= ranks / 2; ++factor) {
    if (ranks % factor != 0) continue;
    size[at] = factor;
    if (for_factors(ranks / factor, dimensions, size, at + 1, found)) return true;
  }
  return false;
}

Shape shape_of(const Grid& grid) {
  const unsigned all = (1u << grid.stencil.dimensions) - 1;
  Shape shape{grid.stencil.name, {grid.size.begin(), grid.size.begin() + grid.stencil.dimensions}};
  if (grid.periodic != 0) shape.name += grid.periodic == all ? ", periodic" : ", partly periodic";
  return shape;
}

}  // namespace

std::optional<Shape> recognise_halo(const Traffic& traffic, bool small_corners) {
  Matcher matcher(traffic);
  std::optional<Shape> shape;
  for (const Stencil& stencil : stencils) {
    if (small_corners && stencil.most == 1) continue;
    Grid grid{stencil, {}, 0};
    const auto try_out = [&] {
      for (const std::uint32_t each : {std::uint32_t{1}, matcher.common()}) {
        for (grid.periodic = 0; grid.periodic < 1u << stencil.dimensions; ++grid.periodic) {
          if (!matcher.matches(grid, each, small_corners)) continue;
          shape = shape_of(grid);
          return true;
        }
      }
      return false;
    };
    if (for_factors(traffic.ranks, stencil.dimensions, grid.size, 0, try_out)) return shape;
  }
  return std::nullopt;
}

}  // namespace effort::communication
