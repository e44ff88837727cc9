#include "reference.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace effort::bench {

Figures reference(std::span<const double> values, std::size_t n, std::size_t d, int k, const std::string& what) {
  const auto path = std::filesystem::temp_directory_path() / ("effort-bench-" + std::to_string(getpid()) + ".f64");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  const std::string command = "Rscript '" EFFORT_BENCH_R_SCRIPT "' '" + path.string() + "' " + std::to_string(n) + " " +
                              std::to_string(d) + " " + std::to_string(k) + " " + what + " 2>/dev/null";
  Figures figures;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char line[65536];
    while (std::fgets(line, sizeof line, pipe)) {
      std::istringstream words(line);
      std::string word, value;
      words >> word;
      while (words >> value) figures[word].push_back(value);
    }
    pclose(pipe);
  }
  std::filesystem::remove(path);
  return figures;
}

std::vector<double> numbers(const Figures& figures, const std::string& word) {
  std::vector<double> result;
  if (const auto at = figures.find(word); at != figures.end())
    for (const std::string& value : at->second) result.push_back(std::strtod(value.c_str(), nullptr));
  return result;
}

}  // namespace effort::bench
