// Compares what was measured of known_load, as `effort export --format npy` gives it, with the set load as the program's own
// clock saw it burned (known_load.h).
// check_loads DIRECTORY STEPS HOW: the arrays are in DIRECTORY, the program's own account beside it; HOW is "all" (the first STEPS steps are the
// program's, one comes after), "host" (there are no others), "found" (the steps of phase main are its last ones) or "polled"
// ("all", but what interrupts the program between two polls, such as a machine that halts, is computation to whoever looks
// from MPI alone, and the program keeps no account of it: one of a rank's steps in twelve may be long).
#include "known_load.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Array {
  std::size_t regions, ranks, steps;
  std::vector<double> values;
  double at(std::size_t g, std::size_t r, std::size_t s) const { return values[(g * ranks + r) * steps + s]; }
};

Array read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(10, '\0');
  in.read(head.data(), 10);
  std::string text(static_cast<unsigned char>(head[8]) + 256u * static_cast<unsigned char>(head[9]), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  Array a{};
  if (!in || std::sscanf(text.c_str() + text.find("'shape'"), "'shape': (%zu, %zu, %zu)", &a.regions, &a.ranks, &a.steps) != 3)
    throw std::runtime_error(path + " is no array");
  a.values.resize(a.regions * a.ranks * a.steps);
  in.read(reinterpret_cast<char*>(a.values.data()), static_cast<std::streamsize>(a.values.size() * sizeof(double)));
  if (!in) throw std::runtime_error(path + " is cut");
  return a;
}

/// What a rank burned in each step, by its own account; never less than was set.
std::vector<double> account_of(const std::string& directory, std::size_t rank, std::size_t steps) {
  const std::string path = directory + "/../own." + std::to_string(rank);
  std::ifstream in(path);
  std::vector<double> own(steps, 0);
  std::size_t step = 0;
  for (double seconds = 0; in >> step >> seconds;)
    if (step < steps) own[step] = seconds;
  for (step = 0; step < steps; ++step)
    if (own[step] < 0.999999 * known_load(static_cast<int>(rank), static_cast<int>(step)))
      throw std::runtime_error(path + " says that less was burned than was set, in step " + std::to_string(step));
  return own;
}

int compare(const std::string& directory, std::size_t steps, const std::string& how) {
  const auto axes = nlohmann::json::parse(std::ifstream(directory + "/axes.json"));
  const Array cpu = read(directory + "/" + axes["metrics"]["cpu_time"]["file"].get<std::string>());
  // With found steps: one before and one after; the program's first ones are in the one before.
  const bool found = how == "found";
  const std::size_t extra = found ? 2 : how == "host" ? 0 : 1;
  if (cpu.steps < extra + (found ? steps / 2 : steps) || cpu.steps > steps + extra) {
    std::printf("%zu steps were measured of %zu\n", cpu.steps, steps);
    return 1;
  }
  const std::size_t skipped = found ? steps - (cpu.steps - 2) : 0, begin = found ? 1 : 0;
  int wrong = 0;
  const bool polled = how == "polled";
  double worst = 0, worst_burned = 0;
  for (std::size_t r = 0; r < cpu.ranks; ++r) {
    const std::vector<double> own = account_of(directory, r, steps);
    std::size_t longer = 0;
    for (std::size_t s = 0; s + skipped < steps; ++s) {
      double measured = 0, other = 0;
      for (std::size_t g = 0; g < cpu.regions; ++g) (axes["kinds"][g] == "compute" ? measured : other) += cpu.at(g, r, s + begin);
      const double set = known_load(static_cast<int>(r), static_cast<int>(s + skipped)), burned = own[s + skipped];
      worst_burned = std::max(worst_burned, burned / set - 1);
      const double error = measured / burned - 1;
      worst = std::max(worst, std::abs(error));
      if (std::abs(error) <= 0.03 || (polled && error > 0 && ++longer <= steps / 12)) continue;
      if (++wrong <= 10)
        std::printf("rank %zu, step %zu: set %.6f s, burned %.6f s, measured %.6f s (and %.6f s in MPI)\n", r, s + skipped, set, burned, measured, other);
    }
  }
  std::printf("%zu ranks, %zu steps compared, largest error %.2f %%, %d beyond 3 %%; at most %.2f %% more burned than set\n", cpu.ranks, steps - skipped,
              100 * worst, wrong, 100 * worst_burned);
  return wrong > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    return compare(argv[1], static_cast<std::size_t>(std::atoi(argv[2])), argv[3]);
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
