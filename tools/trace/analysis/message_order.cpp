#include "tools/trace/analysis/message_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace effort::tools {

namespace {

/// How well two sequences fit if the first `shift` receives have no send, or the first -shift sends no receive.
struct Fit {
  std::ptrdiff_t pairs = 0, bad = 0;  ///< bad: of different sizes, or complete before being sent
  double spread = 0;                  ///< of the transfer times

  double bad_share() const { return pairs == 0 ? 1 : static_cast<double>(bad) / static_cast<double>(pairs); }
};

/// The mean distance from the median, without the eighth that is farthest away, so that a single late message does not
/// favour a shift that leaves it out.
double spread_of(std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double median = *middle;
  for (double& value : values) value = std::abs(value - median);
  std::sort(values.begin(), values.end());
  values.resize(values.size() - std::max<std::size_t>(1, values.size() / 8));
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Fit fit(std::span<const End> sends, std::span<const End> receives, std::ptrdiff_t shift, std::int64_t clocks_ns) {
  Fit out;
  std::vector<double> transfers;
  const auto n = static_cast<std::ptrdiff_t>(sends.size()), m = static_cast<std::ptrdiff_t>(receives.size());
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, -shift); i < n && i + shift < m; ++i) {
    const End &send = sends[static_cast<std::size_t>(i)], &receive = receives[static_cast<std::size_t>(i + shift)];
    ++out.pairs;
    out.bad += possible(send, receive, clocks_ns) ? 0 : 1;
    transfers.push_back(static_cast<double>(receive.time_ns - send.time_ns));
  }
  out.spread = spread_of(transfers);
  return out;
}

}  // namespace

bool possible(const End& send, const End& receive, std::int64_t clocks_ns) {
  return receive.bytes == send.bytes && receive.time_ns + receive.error_ns + send.error_ns + clocks_ns >= send.time_ns;
}

std::ptrdiff_t best_shift(std::span<const End> sends, std::span<const End> receives, std::ptrdiff_t expected,
                          std::int64_t clocks_ns) {
  constexpr std::ptrdiff_t most = 64, fewest_pairs = 4;
  const auto n = static_cast<std::ptrdiff_t>(sends.size()), m = static_cast<std::ptrdiff_t>(receives.size());
  const std::ptrdiff_t enough = std::min(std::min(n, m), std::max(fewest_pairs, std::min(n, m) / 2));
  std::ptrdiff_t best = expected;
  Fit best_fit = fit(sends, receives, expected, clocks_ns);
  const auto try_shift = [&](std::ptrdiff_t shift) {
    if (shift <= -n || shift >= m) return;
    const Fit other = fit(sends, receives, shift, clocks_ns);
    if (other.pairs < enough && best_fit.bad_share() < 1) return;
    const bool more_possible = other.bad_share() < best_fit.bad_share() - 1e-9;
    const bool as_possible = other.bad_share() <= best_fit.bad_share() + 1e-9;
    // The spread of a few values may be due to chance: the fewer there are, the clearer it must be.
    const double clear = 1 - 1.2 / std::sqrt(static_cast<double>(other.pairs));
    const bool more_even = other.pairs >= fewest_pairs && other.spread < clear * best_fit.spread;
    if (more_possible || (as_possible && more_even)) best = shift, best_fit = other;
  };
  for (std::ptrdiff_t distance = 1; distance <= most; ++distance) {
    try_shift(expected + distance);
    try_shift(expected - distance);
  }
  return best;
}

}  // namespace effort::tools
