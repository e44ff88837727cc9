// Generated runs of many shapes for testing the decision. Each family comes in several sizes and with several seeds.
#include "bench/balance/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

namespace effort::bench {
namespace {

constexpr std::int64_t steps = 220;

// A periodic bump over the ranks.
double bump(double rank, double centre, double width, double ranks) {
  const double d = std::fabs(std::remainder(rank - centre, ranks));
  return std::exp(-0.5 * d * d / (width * width));
}

// One run's loads before noise: [ranks][steps].
struct Shape {
  int ranks;
  std::vector<double> value;
  explicit Shape(int n) : ranks(n), value(static_cast<std::size_t>(n) * steps, 1.0) {}
  double& at(int r, std::int64_t s) { return value[static_cast<std::size_t>(r) * steps + static_cast<std::size_t>(s)]; }
  void fill(const std::function<double(int, std::int64_t)>& f) {
    for (int r = 0; r < ranks; ++r)
      for (std::int64_t s = 0; s < steps; ++s) at(r, s) = f(r, s);
  }
};

std::vector<double> spread(int ranks, double sigma, Random& random) {
  std::lognormal_distribution<double> draw(0.0, sigma);
  std::vector<double> out(static_cast<std::size_t>(ranks));
  for (double& x : out) x = draw(random);
  return out;
}

void drifting_front(Shape& shape, Random& random) {
  const double n = shape.ranks, start = uniform(random, 0, n),
               speed = n * std::exp(uniform(random, std::log(2e-4), std::log(8e-3)));
  const double height = uniform(random, 1, 6), width = n * uniform(random, 0.05, 0.15);
  shape.fill(
      [=](int r, std::int64_t s) { return 1 + height * bump(r, start + speed * static_cast<double>(s), width, n); });
}

void jump(Shape& shape, Random& random) {
  std::vector<double> now;
  std::int64_t next = 0;
  for (std::int64_t s = 0; s < steps; ++s) {
    if (s == next) {
      now = spread(shape.ranks, 0.4, random);
      next = s + static_cast<std::int64_t>(uniform(random, 40, 100));
    }
    for (int r = 0; r < shape.ranks; ++r) shape.at(r, s) = now[static_cast<std::size_t>(r)];
  }
}

void alternating(Shape& shape, Random& random) {
  const std::vector<double> a = spread(shape.ranks, 0.3, random), b = spread(shape.ranks, 0.3, random);
  const auto length = static_cast<std::int64_t>(uniform(random, 3, 60));
  shape.fill([&](int r, std::int64_t s) { return (s / length % 2 == 0 ? a : b)[static_cast<std::size_t>(r)]; });
}

void slow_node(Shape& shape, Random& random) {
  const int first = shape.ranks / 4, n = std::max(1, shape.ranks / 8);
  const auto from = static_cast<std::int64_t>(uniform(random, 0, 120));
  const double slow = uniform(random, 1.2, 2);
  shape.fill([=](int r, std::int64_t s) { return r >= first && r < first + n && s >= from ? slow : 1.0; });
}

void checkpoints(Shape& shape, Random& random) {
  const auto every = static_cast<std::int64_t>(uniform(random, 7, 40));
  const double height = uniform(random, 3, 20), imbalance = uniform(random, 0, 0.4);
  const bool all = uniform(random, 0, 1) < 0.5;
  const std::vector<double> fixed = spread(shape.ranks, imbalance, random);
  shape.fill([&](int r, std::int64_t s) {
    return fixed[static_cast<std::size_t>(r)] + (s % every == every - 1 && (all || r == 0) ? height : 0);
  });
}

void heavy_tails(Shape& shape, Random& random) {
  std::student_t_distribution<double> tails(3);
  const double size = uniform(random, 0.01, 0.08);
  shape.fill([&](int, std::int64_t) { return 1 + size * std::fabs(tails(random)); });
}

void ramp(Shape& shape, Random& random) {
  const double slope = std::exp(uniform(random, std::log(5e-4), std::log(2e-2)));
  const int n = std::max(1, shape.ranks / 8);
  shape.fill([=](int r, std::int64_t s) { return 1 + (r < n ? slope * static_cast<double>(s) : 0); });
}

void random_walk(Shape& shape, Random& random) {
  std::normal_distribution<double> step(0, uniform(random, 0.005, 0.05));
  for (int r = 0; r < shape.ranks; ++r) {
    double log = 0;
    for (std::int64_t s = 0; s < steps; ++s) shape.at(r, s) = std::exp(log += step(random));
  }
}

void constant(Shape& shape, Random& random) {
  const std::vector<double> fixed = spread(shape.ranks, uniform(random, 0.02, 0.5), random);
  shape.fill([&](int r, std::int64_t) { return fixed[static_cast<std::size_t>(r)]; });
}

// Loads that wander around their mean, like those of a program with its own rebalancer.
void wandering(Shape& shape, Random& random) {
  const double memory = uniform(random, 5, 60), keep = std::exp(-1 / memory), sigma = uniform(random, 0.03, 0.12);
  std::normal_distribution<double> draw(0, sigma * std::sqrt(1 - keep * keep));
  for (int r = 0; r < shape.ranks; ++r) {
    double x = 0;
    for (std::int64_t s = 0; s < steps; ++s) shape.at(r, s) = std::exp(x = keep * x + draw(random));
  }
}

void own_rebalancer(Shape& shape, Random& random) {
  const auto every = static_cast<std::int64_t>(uniform(random, 15, 60));
  const double growth = uniform(random, 0.002, 0.02);
  std::vector<double> drift(static_cast<std::size_t>(shape.ranks));
  for (std::int64_t s = 0; s < steps; ++s)
    for (int r = 0; r < shape.ranks; ++r) {
      if (s % every == 0) drift[static_cast<std::size_t>(r)] = uniform(random, 0, 2);
      shape.at(r, s) = 1 + growth * static_cast<double>(s % every) * drift[static_cast<std::size_t>(r)];
    }
}

struct Family {
  const char* name;
  void (*make)(Shape&, Random&);
};
constexpr Family families[] = {{"drifting front", drifting_front},
                               {"jumps", jump},
                               {"alternating phases", alternating},
                               {"slow node", slow_node},
                               {"checkpoints", checkpoints},
                               {"noise with heavy tails", heavy_tails},
                               {"ramp", ramp},
                               {"random walk", random_walk},
                               {"constant imbalance", constant},
                               {"wandering loads", wandering},
                               {"own rebalancer", own_rebalancer}};

}  // namespace

std::vector<Recording> generated_recordings(unsigned seed) {
  std::vector<Recording> out;
  for (const Family& family : families)
    for (int ranks : {8, 32, 128, 1024})
      for (double noise : {0.02, 0.08}) {
        Random random(seed * 1000003U + out.size());
        Shape shape(ranks);
        family.make(shape, random);
        std::normal_distribution<double> normal(0, noise);
        Recording r{family.name, 1, ranks, steps, std::move(shape.value)};
        for (double& x : r.values) x = std::max(0.0, x * (1 + normal(random)));
        out.push_back(std::move(r));
      }
  return out;
}

}  // namespace effort::bench
