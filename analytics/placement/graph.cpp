#include "analytics/placement/graph.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

namespace effort::placement {

TrafficGraph::TrafficGraph(std::int32_t ranks, std::span<const Exchange> exchanges) {
  std::vector<Exchange> both;
  both.reserve(2 * exchanges.size());
  for (const Exchange& e : exchanges) {
    if (e.a < 0 || e.a >= ranks || e.b < 0 || e.b >= ranks)
      throw std::invalid_argument("rank " + std::to_string(e.a < 0 || e.a >= ranks ? e.a : e.b) +
                                  " of an exchange is out of range: there are ranks 0 to " + std::to_string(ranks - 1));
    if (!(e.bytes >= 0) || !std::isfinite(e.bytes))
      throw std::invalid_argument("bytes of an exchange must be finite and not negative");
    if (e.a == e.b || e.bytes == 0) continue;
    both.push_back(e);
    both.push_back({e.b, e.a, e.bytes});
  }
  std::sort(both.begin(), both.end(), [](const Exchange& x, const Exchange& y) {
    return std::tuple(x.a, x.b, x.bytes) < std::tuple(y.a, y.b, y.bytes);
  });
  first_.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (std::size_t i = 0; i < both.size(); ++i) {
    const Exchange& e = both[i];
    if (i > 0 && both[i - 1].a == e.a && both[i - 1].b == e.b) {
      neighbours_.back().bytes += e.bytes;
    } else {
      neighbours_.push_back({e.b, e.bytes});
      ++first_[static_cast<std::size_t>(e.a) + 1];
    }
    if (e.a < e.b) bytes_ += e.bytes;
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) first_[r + 1] += first_[r];
}

}  // namespace effort::placement
