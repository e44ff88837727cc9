#include "analytics/communication/alignment.hpp"

#include <algorithm>

namespace effort::communication {

double similarity(const Shares& a, const Shares& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::min(a[i], b[i]);
  return sum;
}

std::vector<AlignedPhases> align_phases(std::span<const Shares> a, std::span<const Shares> b) {
  constexpr double least = 0.5;
  const std::size_t width = b.size() + 1;
  std::vector<double> alike(a.size() * b.size()), best((a.size() + 1) * width);  // best of the phases from (i, j) on
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      double& same = alike[i * b.size() + j] = similarity(a[i], b[j]);
      if (same < least) same = 0;
      best[i * width + j] = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      if (same > 0) best[i * width + j] = std::max(best[i * width + j], same + best[(i + 1) * width + j + 1]);
    }
  }
  std::vector<AlignedPhases> out;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double same = alike[i * b.size() + j], now = best[i * width + j];
    if (same > 0 && now == same + best[(i + 1) * width + j + 1]) {
      out.push_back({i++, j++, same});
    } else if (now == best[(i + 1) * width + j]) {
      out.push_back({i++, AlignedPhases::nothing, 0});
    } else {
      out.push_back({AlignedPhases::nothing, j++, 0});
    }
  }
  for (; i < a.size(); ++i) out.push_back({i, AlignedPhases::nothing, 0});
  for (; j < b.size(); ++j) out.push_back({AlignedPhases::nothing, j, 0});
  return out;
}

}  // namespace effort::communication
