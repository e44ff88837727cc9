#include "tests/viewer/halo.hpp"

#include <cstdlib>

namespace effort::test {

namespace {

/// Directions without the middle: -1, 0 or 1 in each dimension.
std::array<int, 3> steps_of(int direction) {
  const int k = direction < 13 ? direction : direction + 1;
  return {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
}

/// The largest divisor of `of` that is at most `most`.
std::int32_t divisor(std::int32_t of, std::int32_t most) {
  for (; of % most != 0; --most) {
  }
  return most;
}

}  // namespace

Grid::Grid(std::int32_t ranks) {
  std::int32_t edge = 1;
  while ((edge + 1) * (edge + 1) * (edge + 1) <= ranks) ++edge;
  n_[0] = divisor(ranks, edge);
  const std::int32_t rest = ranks / n_[0];
  for (edge = 1; (edge + 1) * (edge + 1) <= rest;) ++edge;
  n_[1] = divisor(rest, edge);
  n_[2] = rest / n_[1];
}

std::array<std::int32_t, 26> Grid::neighbours(std::int32_t rank) const {
  const std::array<std::int32_t, 3> at = {rank / (n_[1] * n_[2]), rank / n_[2] % n_[1], rank % n_[2]};
  std::array<std::int32_t, 26> out{};
  for (int k = 0; k < 26; ++k) {
    std::int32_t to = 0;
    for (std::size_t d = 0; d < 3; ++d) to = to * n_[d] + (at[d] + steps_of(k)[d] + n_[d]) % n_[d];
    out[static_cast<std::size_t>(k)] = to;
  }
  return out;
}

int Grid::distance(int direction) {
  int out = 0;
  for (const int step : steps_of(direction)) out += std::abs(step);
  return out;
}

std::uint64_t bytes_to(int direction) {
  const int distance = Grid::distance(direction);
  return distance == 1 ? 32768 : distance == 2 ? 1024 : 64;
}

double waits(std::int32_t ranks, std::string_view metric, std::int32_t rank, std::int64_t step) {
  const std::int64_t window = step / 10;
  const std::int32_t last = window < 5 ? 7 : window == 7 ? 20 : -1, cause = last == 7 ? 3 : last;
  const double each = 1e-3 * static_cast<double>(1 + step % 3);
  const auto all = static_cast<double>(ranks - 1);
  if (metric == "collective_delay") return rank == last ? each * all : 0;
  if (metric == "collective_wait") return last >= 0 && rank != last ? each : 0;
  if (metric == "collective_transfer") return 1e-4;
  if (metric == "caused_wait") return rank == cause ? each * (last == 7 ? all + 1 : all) : 0;
  if (metric == "late_sender_wait") return rank == 7 && last == 7 ? each : 0;
  return 2e-4;
}

}  // namespace effort::test
