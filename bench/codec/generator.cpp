#include "generator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

namespace effort::bench {
namespace {

constexpr double pi = std::numbers::pi;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low = 0, double high = 1) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  std::size_t index(std::size_t low, std::size_t high) {
    return low + static_cast<std::size_t>(uniform() * static_cast<double>(high - low));
  }
  double normal() {  // Box and Muller
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

struct Matrix {
  std::size_t rows, cols;
  std::vector<double> values;
  template <typename Value>
  void fill(const Value& value) {
    values.resize(rows * cols);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) values[i * cols + j] = value(i, j);
  }
};

/// Eight contiguous groups of ranks, each with its own load.
void fill_static(Matrix& m, Draw& draw) {
  std::vector<std::size_t> cuts;
  for (int k = 0; k < 7; ++k) cuts.push_back(draw.index(1, m.rows));
  std::sort(cuts.begin(), cuts.end());
  std::vector<double> load;
  for (int k = 0; k < 8; ++k) load.push_back(draw.uniform(0.5, 2));
  m.fill([&](std::size_t i, std::size_t) {
    const auto group = static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), i) - cuts.begin());
    return load[group] * (1 + 0.01 * draw.normal());
  });
}

/// A front that drifts over the ranks; imbalance grows and is reset every 100 steps.
void fill_front(Matrix& m, Draw& draw, double rank_noise, double noise) {
  const std::size_t epochs = m.cols / 100 + 1;
  std::vector<double> jump, width, rank;
  for (std::size_t e = 0; e < epochs; ++e) jump.push_back(draw.uniform(-0.08, 0.08));
  for (std::size_t e = 0; e < epochs; ++e) width.push_back(draw.uniform(0.03, 0.08));
  for (std::size_t i = 0; i < m.rows; ++i) rank.push_back(1 + rank_noise * draw.normal());
  m.fill([&](std::size_t i, std::size_t j) {
    const double x = static_cast<double>(i) / static_cast<double>(m.rows),
                 t = static_cast<double>(j) / static_cast<double>(m.cols);
    const double height = 0.2 + 1.8 * static_cast<double>(j % 100) / 100;
    const double centre = 0.1 + 0.8 * t + jump[j / 100];
    const double front = 1 + height * std::exp(-0.5 * std::pow((x - centre) / width[j / 100], 2));
    return front * rank[i] * (1 + noise * draw.normal());
  });
}

/// Every 100th step writes a checkpoint.
void fill_checkpoint(Matrix& m, Draw& draw) {
  m.fill([&](std::size_t i, std::size_t j) {
    const double usual = 1 + 0.01 * draw.normal();
    if (j % 100 != 99) return usual;
    return usual + (5 + 3 * static_cast<double>(i % 128) / 128) * (1 + 0.05 * draw.normal());
  });
}

/// Ridges that move and bend; their strength changes at every remeshing.
void fill_remesh(Matrix& m, Draw& draw) {
  std::vector<double> gain;
  while (gain.size() < m.cols) gain.insert(gain.end(), draw.index(20, 120), draw.uniform(0.5, 1.5));
  m.fill([&](std::size_t i, std::size_t j) {
    const double x = static_cast<double>(i) / static_cast<double>(m.rows),
                 t = static_cast<double>(j) / static_cast<double>(m.cols);
    const double phase = 2 * pi * (3 * x + 40 * t * t + 2 * t * std::sin(2 * pi * x));
    const double ridge = std::pow(std::max(0.0, std::cos(phase)), 4);
    return (1 + 1.5 * gain[j] * ridge * (1 + 0.3 * std::cos(14 * pi * x))) * (1 + 0.01 * draw.normal());
  });
}

/// Quiet ranks with rare events that decay over six steps.
void fill_spiky(Matrix& m, Draw& draw) {
  m.fill([&](std::size_t, std::size_t) { return 1 + 0.02 * draw.normal(); });
  const auto events = static_cast<std::size_t>(std::lround(5e-4 * static_cast<double>(m.rows * m.cols)));
  for (std::size_t e = 0; e < events; ++e) {
    const std::size_t i = draw.index(0, m.rows), j = draw.index(0, m.cols);
    const double size = std::min(0.5 * std::pow(1 - draw.uniform(), -1 / 1.5), 100.0);
    for (std::size_t k = 0; k < 6 && j + k < m.cols; ++k)
      m.values[i * m.cols + j + k] += size * std::pow(0.5, static_cast<double>(k));
  }
}

}  // namespace

const std::vector<std::string>& matrix_kinds() {
  static const std::vector<std::string> kinds{"rough", "amr", "static", "ckpt", "remesh", "spiky", "noise"};
  return kinds;
}

std::vector<double> make_matrix(const std::string& kind, std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix m{rows, cols, {}};
  Draw draw(seed);
  if (kind == "static") {
    fill_static(m, draw);
  } else if (kind == "amr") {
    fill_front(m, draw, 0, 0.005);
  } else if (kind == "rough") {
    fill_front(m, draw, 0.1, 0.1);
  } else if (kind == "ckpt") {
    fill_checkpoint(m, draw);
  } else if (kind == "remesh") {
    fill_remesh(m, draw);
  } else if (kind == "spiky") {
    fill_spiky(m, draw);
  } else if (kind == "noise") {
    m.fill([&](std::size_t, std::size_t) { return std::exp(0.5 * draw.normal()); });
  } else {
    throw std::invalid_argument("unknown kind of matrix '" + kind + "': see matrix_kinds()");
  }
  return std::move(m.values);
}

}  // namespace effort::bench
