// Adaptive probabilities of single decisions, and their logistic mixing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace effort::codec {

/// The probability of a 1, learned from what it has seen: quickly at first, then ever more slowly.
struct BitModel {
  std::uint16_t one = 32768;  ///< in 1/65536
  std::uint16_t seen = 0;

  void update(bool bit, int limit) {
    const int rate = kRate[seen];
    const int error = (-static_cast<int>(bit) & 65535) - static_cast<int>(one);
    // Kept away from certainty here, not where the coder waits for it.
    one = static_cast<std::uint16_t>(std::clamp(static_cast<int>(one) + ((error * rate) >> 16), 24, 65536 - 24));
    seen = static_cast<std::uint16_t>(seen + (seen < limit));
  }

  std::uint32_t probability() const { return one; }

  static constexpr int kMostSeen = 255;
  static constexpr std::array<std::uint16_t, kMostSeen + 1> kRate = [] {
    std::array<std::uint16_t, kMostSeen + 1> rates{};
    for (int n = 0; n <= kMostSeen; ++n) rates[static_cast<std::size_t>(n)] = static_cast<std::uint16_t>(32767 / (n / 2.0 + 0.8));
    return rates;
  }();
};

// 1 / (1 + exp(-x)) at x = -8, -7.5 .. 8 in 1/65536; between them a straight line.  Whole numbers written down, since
// exp() may differ in the last bit between machines.
inline constexpr std::array<int, 33> kSquash{22,    36,    60,    98,    162,   267,   439,   720,   1179,  1922,  3108,
                                      4971,  7812,  11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
                                      62428, 63614, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};

/// The inverse of stretch(): 1 / (1 + exp(-x / 256)) in 1/65536.
constexpr int squash16(int x) {
  const int shifted = (x < -2048 ? -2048 : x > 2047 ? 2047 : x) + 2048;
  const auto i = static_cast<std::size_t>(shifted >> 7);
  const int part = shifted & 127;
  return (kSquash[i] * (128 - part) + kSquash[i + 1] * part + 64) >> 7;
}

inline constexpr std::array<std::int16_t, 4096> kStretch = [] {
  std::array<std::int16_t, 4096> values{};
  int x = -2047;
  for (int p = 0; p < 4096; ++p) {
    while (x < 2047 && squash16(x) < p * 16 + 8) ++x;
    values[static_cast<std::size_t>(p)] = static_cast<std::int16_t>(x);
  }
  return values;
}();

/// ln(p / (1 - p)) in 1/256, of a probability in 1/4096; integers, so that every machine agrees.
inline int stretch(std::uint32_t probability12) { return kStretch[probability12]; }

/// Weighs the predictions of up to kInputs models by what they were worth so far (logistic mixing, Mahoney 2005).
class Mixer {
 public:
  static constexpr int kInputs = 5;

  Mixer() { weights_.fill((1 << 16) * 3 / 10); }

  template <std::size_t N>
  std::uint32_t mix(const std::array<BitModel*, N>& models) {
    static_assert(N <= kInputs);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < N; ++i) {
      stretched_[i] = stretch(models[i]->probability() >> 4);
      sum += std::int64_t{weights_[i]} * stretched_[i];
    }
    mixed_ = static_cast<std::uint32_t>(squash16(static_cast<int>(std::clamp<std::int64_t>(sum >> 16, -2047, 2047))));
    return mixed_;
  }

  template <std::size_t N>
  void update(bool bit) {
    const int error = ((bit ? 65535 : 0) - static_cast<int>(mixed_)) >> 4;
    for (std::size_t i = 0; i < N; ++i) weights_[i] += (stretched_[i] * error * kLearning + (1 << 13)) >> 14;
  }

 private:
  static constexpr int kLearning = 6;
  std::array<std::int32_t, kInputs> weights_;
  std::array<int, kInputs> stretched_{};
  std::uint32_t mixed_ = 32768;
};

}  // namespace effort::codec
