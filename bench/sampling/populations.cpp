#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>

#include "bench/sampling/parts.hpp"

namespace effort::bench {
namespace {

constexpr std::int64_t window_steps = 10;
constexpr double noise = 0.05;  // relative, of a window's load

using Random = std::mt19937_64;

double normal(Random& random) { return std::normal_distribution<double>()(random); }

std::vector<double> lognormal(Random& random, std::size_t ranks, double sigma) {
  std::vector<double> out(ranks);
  for (double& x : out) x = std::exp(sigma * normal(random));
  return out;
}

/// Windows of loads around expected ones.
Population shape(const std::string& name, std::size_t ranks, std::size_t windows, Random& random,
                 const std::function<void(std::size_t window, std::vector<double>&)>& expected) {
  Population out{name, ranks, 1, {}};
  std::vector<double> level(ranks, 1.0);
  for (std::size_t w = 0; w < windows; ++w) {
    expected(w, level);
    std::vector<double> load(ranks);
    for (std::size_t r = 0; r < ranks; ++r) load[r] = level[r] * std::max(0.1, 1 + noise * normal(random));
    out.windows.push_back(std::move(load));
  }
  return out;
}

}  // namespace

std::vector<double> Population::loads(std::size_t window) const {
  std::vector<double> out(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t g = 0; g < regions; ++g) out[r] += windows[window][r * regions + g];
  return out;
}

Population read_population(const std::string& path) {
  const std::string ending = ".cpu.f64";
  if (!path.ends_with(ending)) throw std::runtime_error("'" + path + "' is not a recording, pass NAME.cpu.f64");
  const std::string stem = path.substr(0, path.size() - ending.size());
  std::ifstream description(stem + ".json"), in(path, std::ios::binary);
  if (!description || !in) throw std::runtime_error("'" + path + "' or its description cannot be read");
  const auto json = nlohmann::json::parse(description);
  Population out;
  out.name = stem.substr(stem.rfind('/') + 1);
  out.ranks = json.at("ranks").get<std::size_t>();
  out.regions = json.at("regions").get<std::size_t>();
  const auto steps = json.at("steps").get<std::int64_t>();
  const auto windows = static_cast<std::size_t>((steps - 1) / window_steps);
  out.windows.assign(windows, std::vector<double>(out.ranks * out.regions));
  std::vector<double> row(static_cast<std::size_t>(steps));
  for (std::size_t g = 0; g < out.regions; ++g)
    for (std::size_t r = 0; r < out.ranks; ++r) {
      if (!in.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(double))))
        throw std::runtime_error("'" + path + "' is shorter than its description says");
      for (std::size_t s = 0; s < windows * window_steps; ++s)
        out.windows[s / window_steps][r * out.regions + g] += row[s + 1];
    }
  return out;
}

std::vector<Population> generated_populations(std::size_t ranks, std::size_t windows) {
  std::vector<Population> out;
  Random random(ranks);
  const auto add = [&](const char* name, const auto& expected) {
    out.push_back(shape(name, ranks, windows, random, expected));
  };
  const auto n = static_cast<double>(ranks);
  add("even", [](std::size_t, std::vector<double>&) {});
  add("four classes", [&](std::size_t w, std::vector<double>& level) {
    if (w > 0) return;
    for (double& x : level) {
      const double u = std::uniform_real_distribution<double>()(random);
      x = u < 0.6 ? 1 : u < 0.85 ? 1.2 : u < 0.95 ? 2 : 4;
    }
  });
  add("heavy tail", [&](std::size_t w, std::vector<double>& level) {
    if (w == 0) level = lognormal(random, ranks, 0.8);
  });
  add("one rank has a tenth of all load", [&](std::size_t, std::vector<double>& level) { level[ranks / 3] = n / 9; });
  add("moving front", [&](std::size_t w, std::vector<double>& level) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const double away = (static_cast<double>(r) / n - static_cast<double>(w) / static_cast<double>(windows)) / 0.06;
      level[r] = 1 + 4 * std::exp(-away * away / 2);
    }
  });
  add("a jump every 7 windows", [&](std::size_t w, std::vector<double>& level) {
    if (w % 7 == 0) level = lognormal(random, ranks, w / 7 % 2 == 0 ? 0.15 : 0.6);
  });
  add("2 % of the ranks, others each window, take 10 times as long", [&](std::size_t, std::vector<double>& level) {
    for (double& x : level) x = std::uniform_real_distribution<double>()(random) < 0.02 ? 10 : 1;
  });
  return out;
}

}  // namespace effort::bench
