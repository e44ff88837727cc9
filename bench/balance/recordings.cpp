#include "bench/balance/parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <random>
#include <stdexcept>

namespace effort::bench {
namespace {

std::string stem_of(const std::string& path) {
  const std::string ending = ".cpu.f64";
  if (!path.ends_with(ending)) throw std::runtime_error("'" + path + "' is not a recording, pass NAME.cpu.f64");
  return path.substr(0, path.size() - ending.size());
}

std::ifstream open(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("'" + path + "' cannot be read");
  return in;
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
