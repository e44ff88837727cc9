#include "bench/balance/parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>

namespace effort::bench {
namespace {

std::string stem_of(const std::string& path) {
  const std::string ending = ".cpu.f64";
  if (!path.ends_with(ending)) throw std::runtime_error("'" + path + "' is no recording, pass NAME.cpu.f64");
  return path.substr(0, path.size() - ending.size());
}

std::ifstream open(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("'" + path + "' cannot be read");
  return in;
}

using Load = std::function<double(int rank, std::int64_t step)>;

Recording make(const std::string& name, int ranks, std::int64_t steps, double noise, unsigned seed, const Load& load) {
  Recording r{name, 1, ranks, steps, {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int rank = 0; rank < ranks; ++rank)
    for (std::int64_t s = 0; s < steps; ++s) r.values.push_back(std::max(0.0, load(rank, s) * (1 + noise * normal(random))));
  return r;
}

// A bump over the ranks, periodic.
double bump(double rank, double centre, double width, double ranks) {
  double d = std::fabs(std::remainder(rank - centre, ranks));
  return std::exp(-0.5 * d * d / (width * width));
}

}  // namespace

Recording read_recording(const std::string& path) {
  const std::string stem = stem_of(path);
  const auto json = nlohmann::json::parse(open(stem + ".json"));
  Recording r;
  r.name = stem.substr(stem.rfind('/') + 1);
  r.regions = json.at("regions").get<int>();
  r.ranks = json.at("ranks").get<int>();
  const auto steps = json.at("steps").get<std::int64_t>();
  r.steps = steps - 1;
  std::vector<double> row(static_cast<std::size_t>(steps));
  std::ifstream in = open(path);
  for (int i = 0; i < r.regions * r.ranks; ++i) {
    if (!in.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(double))))
      throw std::runtime_error("'" + path + "' is shorter than its description says");
    r.values.insert(r.values.end(), row.begin() + 1, row.end());
  }
  return r;
}

std::vector<Recording> generated_recordings(unsigned seed) {
  std::vector<Recording> out;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  for (double speed : {0.01, 0.05, 0.2})
    out.push_back(make("hot spot, " + std::to_string(speed).substr(0, 4) + " ranks a step", 40, 240, 0.03, seed,
                       [speed](int r, std::int64_t s) { return 1 + 5 * bump(r, 7 + speed * static_cast<double>(s), 3, 40); }));
  std::vector<double> fixed;
  for (int r = 0; r < 48; ++r) fixed.push_back(std::exp(0.4 * normal(random)));
  out.push_back(make("constant imbalance", 48, 200, 0.05, seed + 1, [&](int r, std::int64_t) { return fixed[static_cast<std::size_t>(r)]; }));
  out.push_back(make("constant imbalance, noisy", 48, 200, 0.2, seed + 2, [&](int r, std::int64_t) { return fixed[static_cast<std::size_t>(r)]; }));
  out.push_back(make("growing", 32, 200, 0.03, seed + 3, [](int r, std::int64_t s) { return 1 + (r < 4 ? 0.015 * static_cast<double>(s) : 0.0); }));
  out.push_back(make("jumps", 32, 220, 0.03, seed + 4, [](int r, std::int64_t s) { return (r * 7 + s / 55 * 11) % 32 < 5 ? 3.0 : 1.0; }));
  out.push_back(make("checkpoints of one rank", 32, 200, 0.03, seed + 5, [](int r, std::int64_t s) { return s % 25 == 7 && r == 0 ? 20.0 : 1.0; }));
  std::vector<double> walk(64 * 200);
  for (std::size_t r = 0; r < 64; ++r) {
    double log = 0;
    for (std::size_t s = 0; s < 200; ++s) walk[r * 200 + s] = std::exp(log += 0.03 * normal(random));
  }
  out.push_back(make("random walk", 64, 200, 0.03, seed + 6, [&](int r, std::int64_t s) { return walk[static_cast<std::size_t>(r) * 200 + static_cast<std::size_t>(s)]; }));
  for (double noise : {0.05, 0.15})
    out.push_back(make("balanced, noise " + std::to_string(noise).substr(0, 4), 32, 200, noise, seed + 7, [](int, std::int64_t) { return 1.0; }));
  return out;
}

Recording many_regions(int regions, int ranks, std::int64_t steps) {
  Recording out{"", regions, ranks, steps, {}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int g = 0; g < regions; ++g)
    for (int r = 0; r < ranks; ++r) {
      const double level = 1e-3 * (1 + g % 5) * (r % 4 == g % 4 ? 2 : 1);
      for (std::int64_t s = 0; s < steps; ++s) out.values.push_back(level * std::max(0.1, 1 + 0.05 * normal(random)));
    }
  return out;
}

}  // namespace effort::bench
