#include "analytics/codec/bit_model.hpp"

#include <cmath>

namespace effort::codec {
namespace {

// 1 / (1 + exp(-x)) at x = -8, -7.5 .. 8 in 1/65536; between them a straight line.  Whole numbers written down, since
// exp() may differ in the last bit between machines.
constexpr std::array<int, 33> kSquash{22,    36,    60,    98,    162,   267,   439,   720,   1179,  1922,  3108,
                                      4971,  7812,  11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
                                      62428, 63614, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};

int squash_at(int x) {
  const int shifted = std::clamp(x, -2048, 2047) + 2048;
  const auto i = static_cast<std::size_t>(shifted >> 7);
  const int part = shifted & 127;
  return (kSquash[i] * (128 - part) + kSquash[i + 1] * part + 64) >> 7;
}

struct StretchTable {
  std::array<std::int16_t, 4096> values{};
  StretchTable() {
    int x = -2047;
    for (int p = 0; p < 4096; ++p) {
      while (x < 2047 && squash_at(x) < p * 16 + 8) ++x;
      values[static_cast<std::size_t>(p)] = static_cast<std::int16_t>(x);
    }
  }
};

}  // namespace

int stretch(std::uint32_t probability12) {
  static const StretchTable table;
  return table.values[std::min<std::uint32_t>(probability12, 4095)];
}

std::uint32_t squash16(int stretched) { return static_cast<std::uint32_t>(squash_at(stretched)); }

}  // namespace effort::codec
