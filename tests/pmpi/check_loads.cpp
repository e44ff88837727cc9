// Compares the measured loads of known_load, exported by `effort export --format npy`, with the set loads as the
// program burned them by its own clock (known_load.h). check_loads STEPS HOW DIRECTORY...: each DIRECTORY holds the
// arrays of one run, and the program's own account lies beside it.  HOW is "all" (the first STEPS steps are the
// program's, one comes after), "host" (all steps are the program's), "found" (the steps of phase main are its last
// ones) or "polled" ("all", but one in twelve of a rank's steps may be too long, because there are thousands of gaps
// between polls).  If a virtual machine pauses, the lost time, up to tens of milliseconds, is charged to the running
// thread.  If this happens outside the parts that the program accounts for, a measurement that sees only MPI calls
// takes it for computation.  In another run it hits other steps, whereas a measurement error hits the same ones.
// Therefore each step of each rank must be right in at least one run.  Exit code 1: something is wrong; 3: no run was
// right for some steps.
#include "known_load.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
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
  if (!in ||
      std::sscanf(text.c_str() + text.find("'shape'"), "'shape': (%zu, %zu, %zu)", &a.regions, &a.ranks, &a.steps) != 3)
    throw std::runtime_error(path + " is not an array");
  a.values.resize(a.regions * a.ranks * a.steps);
  in.read(reinterpret_cast<char*>(a.values.data()), static_cast<std::streamsize>(a.values.size() * sizeof(double)));
  if (!in) throw std::runtime_error(path + " is truncated");
  return a;
}

/// The measured seconds of one step of one rank in one run, and the program's own account of it.
struct Step {
  double burned = 0, polled = 0;
  double computed = 0, in_mpi = 0;
  double error() const { return computed / burned - 1; }
  /// Polling is waiting in MPI; other waiting is added to it.
  bool right() const { return std::abs(error()) <= 0.03 && in_mpi >= 0.97 * polled; }
};

/// The seconds that a rank burned and polled in each step, by its own account; never less than was set.
std::vector<Step> account_of(const std::string& directory, std::size_t rank, std::size_t steps) {
  const std::string path = directory + "/../own." + std::to_string(rank);
  std::ifstream in(path);
  std::vector<Step> own(steps);
  std::size_t step = 0;
  for (double seconds = 0, polled = 0; in >> step >> seconds >> polled;)
    if (step < steps) own[step] = {.burned = seconds, .polled = polled};
  for (step = 0; step < steps; ++step)
    if (own[step].burned < 0.999999 * known_load(static_cast<int>(rank), static_cast<int>(step)))
      throw std::runtime_error(path + " says that less was burned than was set, in step " + std::to_string(step));
  return own;
}

/// Indexed by rank and step of the program; empty if the steps were not found.
using Run = std::vector<std::vector<std::optional<Step>>>;

Run read_run(const std::string& directory, std::size_t steps, const std::string& how) {
  const auto axes = nlohmann::json::parse(std::ifstream(directory + "/axes.json"));
  const Array cpu = read(directory + "/" + axes["metrics"]["cpu_time"]["file"].get<std::string>());
  // Found steps have one step before and one after; the step before contains the program's first steps.
  const bool found = how == "found";
  const std::size_t extra = found ? 2 : how == "host" ? 0 : 1;
  if (cpu.steps < extra + (found ? steps / 2 : steps) || cpu.steps > steps + extra)
    throw std::runtime_error(std::to_string(cpu.steps) + " steps were measured of " + std::to_string(steps));
  const std::size_t skipped = found ? steps - (cpu.steps - 2) : 0, begin = found ? 1 : 0;
  Run run(cpu.ranks, std::vector<std::optional<Step>>(steps));
  for (std::size_t r = 0; r < cpu.ranks; ++r) {
    const std::vector<Step> own = account_of(directory, r, steps);
    for (std::size_t s = skipped; s < steps; ++s) {
      Step step = own[s];
      for (std::size_t g = 0; g < cpu.regions; ++g)
        (axes["kinds"][g] == "compute" ? step.computed : step.in_mpi) += cpu.at(g, r, s - skipped + begin);
      run[r][s] = step;
    }
  }
  return run;
}

int compare(std::size_t steps, const std::string& how, const std::vector<std::string>& directories) {
  std::vector<Run> runs;
  for (const std::string& directory : directories) runs.push_back(read_run(directory, steps, how));
  const std::size_t may_be_long = how == "polled" ? steps / 12 : 0;
  std::size_t compared = 0, wrong = 0;
  double worst = 0, worst_burned = 0;
  for (std::size_t r = 0; r < runs.front().size(); ++r) {
    std::size_t longer = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      std::optional<Step> best;
      for (const Run& run : runs)
        if (const auto& step = run.at(r)[s]; step && (!best || std::abs(step->error()) < std::abs(best->error())))
          best = step;
      if (!best) continue;
      ++compared;
      const double set = known_load(static_cast<int>(r), static_cast<int>(s));
      worst_burned = std::max(worst_burned, best->burned / set - 1);
      worst = std::max(worst, std::abs(best->error()));
      if (best->right() || (best->error() > 0 && ++longer <= may_be_long)) continue;
      if (++wrong <= 10)
        std::printf("rank %zu, step %zu: set %.6f s, burned %.6f s, measured %.6f s (and %.6f s in MPI)\n", r, s, set,
                    best->burned, best->computed, best->in_mpi);
    }
  }
  std::printf(
      "run %zu: %zu steps of %zu ranks compared, largest error %.2f %%, %zu beyond 3 %%; at most %.2f %% more burned "
      "than set\n",
      runs.size(), compared, runs.front().size(), 100 * worst, wrong, 100 * worst_burned);
  return wrong > 0 ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    return compare(static_cast<std::size_t>(std::atoi(argv[1])), argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
