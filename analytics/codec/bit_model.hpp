// Adaptive probabilities of single decisions, and their logistic mixing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace effort::codec {

/// The probability of a 1, learned from earlier decisions, quickly at first and then more and more slowly.
class BitModel {
 public:
  /// In units of 1/65536, at least 24 units away from 0 and 1.
  std::uint32_t probability() const { return state_ >> 16; }
  /// In units of 1/4096.
  std::uint32_t coarse_probability() const { return state_ >> 20; }

  void update(bool bit) {
    const std::uint32_t end = -static_cast<std::uint32_t>(bit) & 65535, step = steps_by_state[state_ & 65535];
    const std::uint32_t distance =
        (state_ >> 16) ^ end;  // the distance from the end it moves towards; the remainder is rounded down
    const std::uint32_t left = distance - ((distance * (step >> 16) + (end ^ 65535)) >> 16);
    state_ = (std::max(left, std::uint32_t{24} - bit) ^ end) << 16 | (step & 65535);
  }

 private:
  static constexpr std::uint32_t most_seen = 250;
  /// Indexed by the number of decisions seen: the rate (upper half) and the next number of decisions (lower half).
  static constexpr std::array<std::uint32_t, most_seen + 1> steps_by_state = [] {
    std::array<std::uint32_t, most_seen + 1> steps{};
    for (std::uint32_t n = 0; n <= most_seen; ++n)
      steps[n] = static_cast<std::uint32_t>(32767 / (n / 2.0 + 0.8)) << 16 | std::min(n + 1, most_seen);
    return steps;
  }();

  std::uint32_t state_ = 32768u << 16;  ///< upper half: the probability, lower half: decisions seen
};

// 1 / (1 + exp(-x)) at x = -8, -7.5 .. 8 in units of 1/65536, interpolated linearly.  These are literals because exp()
// may differ in the last bit between machines.
inline constexpr std::array<int, 33> squash_table{22,    36,    60,    98,    162,   267,   439,   720,   1179,
                                                  1922,  3108,  4971,  7812,  11955, 17625, 24743, 32768, 40793,
                                                  47911, 53581, 57724, 60565, 62428, 63614, 64357, 64816, 65097,
                                                  65269, 65374, 65438, 65476, 65500, 65514};

/// The inverse of stretch(): 1 / (1 + exp(-x / 256)) in 1/65536.
constexpr int squash16(int x) {
  const int shifted = (x < -2048 ? -2048 : x > 2047 ? 2047 : x) + 2048;
  const auto i = static_cast<std::size_t>(shifted >> 7);
  const int part = shifted & 127;
  return (squash_table[i] * (128 - part) + squash_table[i + 1] * part + 64) >> 7;
}

inline constexpr std::array<std::int16_t, 4096> stretch_table = [] {
  std::array<std::int16_t, 4096> values{};
  int x = -2047;
  for (int p = 0; p < 4096; ++p) {
    while (x < 2047 && squash16(x) < p * 16 + 8) ++x;
    values[static_cast<std::size_t>(p)] = static_cast<std::int16_t>(x);
  }
  return values;
}();

/// ln(p / (1 - p)) in units of 1/256, for a probability in units of 1/4096.  Integers give the same result on every
/// machine.
inline int stretch(std::uint32_t probability12) { return stretch_table[probability12]; }

/// squash16() of -2048 .. 2047
inline constexpr std::array<std::uint16_t, 4096> squashed = [] {
  std::array<std::uint16_t, 4096> values{};
  for (int x = -2048; x < 2048; ++x)
    values[static_cast<std::size_t>(x) + 2048] = static_cast<std::uint16_t>(squash16(x));
  return values;
}();

/// Weights the predictions of up to most_inputs models by their past quality (logistic mixing, Mahoney 2005).
class Mixer {
 public:
  static constexpr int most_inputs = 5;

  Mixer() { weights_.fill((1 << 16) * 3 / 10); }

  /// Codes a decision by `io` with the models' mixed prediction; weights and models learn from it.
  template <std::size_t N, typename Io>
  [[gnu::always_inline]] inline bool code(Io& io, bool bit, const std::array<BitModel*, N>& models) {
    static_assert(N <= most_inputs);
    std::array<int, N> stretched;
    std::int64_t sum = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < N; ++i) {
      stretched[i] = stretch(models[i]->coarse_probability());
      sum += std::int64_t{weights_[i]} * stretched[i];
    }
    sum >>= 16;
    if (std::abs(sum) > 2047) [[unlikely]]
      sum = sum < 0 ? -2047 : 2047;
    const std::uint32_t mixed = squashed[static_cast<std::size_t>(sum + 2048)];
    bit = io.code(bit, mixed);
    const int error = ((-static_cast<int>(bit) & 65535) - static_cast<int>(mixed)) >> 4;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < N; ++i) {
      weights_[i] += (stretched[i] * error * learning_rate + (1 << 12)) >> 13;
      models[i]->update(bit);
    }
    return bit;
  }

 private:
  static constexpr int learning_rate = 3;
  std::array<std::int32_t, most_inputs> weights_;
};

}  // namespace effort::codec
