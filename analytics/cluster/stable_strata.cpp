#include "analytics/cluster/stable_strata.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace effort::cluster {
namespace {

// The assignment of rows to columns (rows <= columns) with the largest sum: the Hungarian method with potentials
// (Kuhn 1955; Jonker & Volgenant 1987).  Returns each row's column.
std::vector<std::size_t> assign_exactly(const std::vector<std::int64_t>& gain, std::size_t rows, std::size_t columns) {
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;
  // Row and column 0 are artificial starting points.
  std::vector<std::int64_t> row_price(rows + 1, 0), column_price(columns + 1, 0);
  std::vector<std::size_t> owner(columns + 1, 0), back(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    std::vector<std::int64_t> slack(columns + 1, far);
    std::vector<char> seen(columns + 1, 0);
    std::size_t at = 0;
    owner[0] = row;
    do {
      seen[at] = 1;
      std::int64_t step = far;
      std::size_t next = 0;
      for (std::size_t c = 1; c <= columns; ++c) {
        if (seen[c]) continue;
        const std::int64_t reduced = -gain[(owner[at] - 1) * columns + c - 1] - row_price[owner[at]] - column_price[c];
        if (reduced < slack[c]) {
          slack[c] = reduced;
          back[c] = at;
        }
        if (slack[c] < step) {
          step = slack[c];
          next = c;
        }
      }
      for (std::size_t c = 0; c <= columns; ++c) {
        if (seen[c]) {
          row_price[owner[c]] += step;
          column_price[c] -= step;
        } else {
          slack[c] -= step;
        }
      }
      at = next;
    } while (owner[at] != 0);
    for (; at != 0; at = back[at]) owner[at] = owner[back[at]];
  }
  std::vector<std::size_t> column_of(rows, 0);
  for (std::size_t c = 1; c <= columns; ++c)
    if (owner[c] > 0) column_of[owner[c] - 1] = c - 1;
  return column_of;
}

// The largest overlap first.
std::vector<std::int32_t> match_greedily(std::span<const std::int64_t> overlap, std::size_t before, std::size_t now) {
  std::vector<std::size_t> pairs(before * now);
  std::iota(pairs.begin(), pairs.end(), std::size_t{0});
  std::stable_sort(pairs.begin(), pairs.end(), [&](std::size_t a, std::size_t b) { return overlap[a] > overlap[b]; });
  std::vector<std::int32_t> continued(now, -1);
  std::vector<char> used(before, 0);
  for (const std::size_t pair : pairs) {
    if (overlap[pair] == 0) break;
    if (used[pair / now] || continued[pair % now] >= 0) continue;
    used[pair / now] = 1;
    continued[pair % now] = static_cast<std::int32_t>(pair / now);
  }
  return continued;
}

std::vector<std::int32_t> match_exactly(std::span<const std::int64_t> overlap, std::size_t before, std::size_t now) {
  const bool wide = now >= before;
  const std::size_t rows = wide ? before : now, columns = wide ? now : before;
  std::vector<std::int64_t> gain(rows * columns);
  for (std::size_t i = 0; i < before; ++i)
    for (std::size_t j = 0; j < now; ++j) gain[wide ? i * columns + j : j * columns + i] = overlap[i * now + j];
  const auto column_of = assign_exactly(gain, rows, columns);
  std::vector<std::int32_t> continued(now, -1);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t i = wide ? row : column_of[row], j = wide ? column_of[row] : row;
    if (overlap[i * now + j] > 0) continued[j] = static_cast<std::int32_t>(i);
  }
  return continued;
}

// A stratum that continues a previous one keeps its number if that is below k_now; the others get unused numbers.
StrataMatch rename(const std::vector<std::int32_t>& continued) {
  const std::size_t now = continued.size();
  StrataMatch match;
  match.renamed.assign(now, -1);
  match.previous.assign(now, -1);
  std::vector<char> used(now, 0);
  for (std::size_t j = 0; j < now; ++j) {
    const std::int32_t number = continued[j];
    if (number < 0 || static_cast<std::size_t>(number) >= now) continue;
    match.renamed[j] = number;
    used[static_cast<std::size_t>(number)] = 1;
  }
  std::size_t free = 0;
  for (std::size_t j = 0; j < now; ++j) {
    if (match.renamed[j] < 0) {
      while (used[free]) ++free;
      used[free] = 1;
      match.renamed[j] = static_cast<std::int32_t>(free);
    }
    match.previous[static_cast<std::size_t>(match.renamed[j])] = continued[j];
  }
  return match;
}

}  // namespace

StrataMatch match_strata(std::span<const std::int64_t> overlap, int k_before, int k_now) {
  if (k_before < 0 || k_now < 1 ||
      overlap.size() != static_cast<std::size_t>(k_before) * static_cast<std::size_t>(k_now))
    throw std::invalid_argument("the overlap must have one entry per stratum before and stratum now");
  constexpr int exactly = 64;
  const auto before = static_cast<std::size_t>(k_before), now = static_cast<std::size_t>(k_now);
  std::vector<std::int32_t> continued(now, -1);
  if (before > 0)
    continued = k_before <= exactly && k_now <= exactly ? match_exactly(overlap, before, now)
                                                        : match_greedily(overlap, before, now);
  StrataMatch match = rename(continued);
  const std::int64_t all = std::accumulate(overlap.begin(), overlap.end(), std::int64_t{0});
  std::int64_t kept = 0;
  for (std::size_t j = 0; j < now; ++j)
    if (continued[j] >= 0) kept += overlap[static_cast<std::size_t>(continued[j]) * now + j];
  match.agreement = all > 0 ? static_cast<double>(kept) / static_cast<double>(all) : 0;
  return match;
}

}  // namespace effort::cluster
