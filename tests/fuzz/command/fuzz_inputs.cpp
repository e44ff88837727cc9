// Gives files that are no snapshots to the commands that read them, which must take or refuse them with exit code 0, 1
// or 2: orders of ranks, strata of ranks, names of regions, source text, raw matrices, recordings, compressed matrices,
// switches and names of nodes, topologies of hwloc, function calls, programs.
//
// The first byte chooses the command, the second the sizes that are claimed for a matrix; the rest is the file.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "golden_run.hpp"
#include "place.hpp"
#include "tools/commands/kokkos_session.hpp"

namespace {

namespace fs = std::filesystem;
using effort::tools::test::Place;
using effort::tools::test::run;
using effort::tools::test::write;

struct Setting {
  Setting() {
    write(place.path / "good", effort::record::test::golden_file(true));
    std::vector<double> numbers(24);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 + 0.25 * static_cast<double>(i * i % 7);
    write(place.path / "numbers", std::as_bytes(std::span(numbers)));
    write(place.path / "nodes", std::as_bytes(std::span("n0\nn1\n", 6)));
    fs::create_directory(place.path / "source");
  }
  Place place;
  effort::tools::KokkosSession kokkos;
};

/// The commands; GOOD is a snapshot, NUMBERS 24 numbers, NODES the names of its nodes, IN the input, ROWS and COLS the
/// sizes claimed for it.
const std::vector<std::vector<std::string>> commands = {
    {"report", "GOOD", "-o", "OUT.html", "--order", "topology=IN"},
    {"sample-size", "--rows", "8", "--cols", "3", "--labels", "IN", "NUMBERS", "--json"},
    {"replay", "--regions", "2", "--ranks", "3", "--steps", "4", "--names", "IN", "-o", "OUT.effort", "NUMBERS"},
    {"report", "GOOD", "-o", "OUT.html", "--source", "SOURCE"},
    {"sample-size", "--rows", "ROWS", "--cols", "COLS", "IN"},
    {"cluster", "--rows", "ROWS", "--cols", "COLS", "-k", "auto", "--labels", "OUT.labels", "IN"},
    {"cluster", "--rows", "ROWS", "--cols", "COLS", "-k", "2", "--algorithm", "quality", "IN", "--json"},
    {"cluster", "--rows", "ROWS", "--cols", "COLS", "-k", "1", "--algorithm", "hierarchical", "IN"},
    {"replay", "--regions", "1", "--ranks", "ROWS", "--steps", "COLS", "IN", "--exact", "-o", "OUT.effort"},
    {"replay", "--regions", "1", "--ranks", "ROWS", "--steps", "COLS", "--window", "3", "--price", "0.5", "IN"},
    {"encode", "--rows", "ROWS", "--cols", "COLS", "--nrmse", "0.01", "IN", "OUT.ewz"},
    {"encode", "--rows", "ROWS", "--cols", "COLS", "--coder", "ezw", "--max-bytes", "300", "IN", "OUT.ewz"},
    {"decode", "IN", "OUT.f64"},
    {"decode", "--level", "1", "--passes", "2", "IN", "OUT.f64"},
    {"info", "IN"},
    {"place", "GOOD", "--topology", "IN", "-o", "OUT.ranks"},
    {"place", "GOOD", "--topology", "IN", "--hosts", "NODES", "-o", "OUT.ranks"},
    {"place", "GOOD", "--hosts", "IN", "-o", "OUT.ranks", "--json"},
    {"place", "GOOD", "--hosts", "IN", "--format", "slurm", "-o", "OUT.hosts"},
    {"calls", "info", "IN", "--all", "--folded", "OUT.folded"},
    {"calls", "info", "IN", "--width", "2", "--json"},
    {"calls", "graph", "IN", "-o", "OUT.dot"},
    {"calls", "diff", "IN", "IN", "--all"},
    {"calls", "decode", "IN", "OUT.raw"},
    {"calls", "encode", "IN", "-o", "OUT.calls"},
    {"report", "GOOD", "IN", "-o", "OUT.html"},
    {"calls", "names", "IN", "--file", "*.c"},
    {"place", "GOOD", "--node", "IN", "-o", "OUT.ranks"}};

std::string resolved(const std::string& word, const fs::path& place, std::size_t rows, std::size_t cols) {
  if (word == "GOOD") return place / "good";
  if (word == "NUMBERS") return place / "numbers";
  if (word == "NODES") return place / "nodes";
  if (word == "SOURCE") return place / "source";
  if (word == "IN") return place / "source" / "in.c";
  if (word == "ROWS") return std::to_string(rows);
  if (word == "COLS") return std::to_string(cols);
  if (word.starts_with("OUT")) return place / ("out" + word.substr(3));
  if (word == "topology=IN") return "topology=" + (place / "source" / "in.c").string();
  return word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  if (size < 2) return 0;
  const std::size_t values = (size - 2) / sizeof(double), rows = 1 + data[1] % 16;
  const std::size_t cols = values / rows;
  const bool matrix = data[0] % commands.size() >= 4 && data[0] % commands.size() < 12;
  const std::size_t length = matrix ? rows * cols * sizeof(double) : size - 2;
  write(setting.place.path / "source" / "in.c", std::as_bytes(std::span(data + 2, length)));
  std::vector<std::string> command = commands[data[0] % commands.size()];
  for (std::string& word : command) word = resolved(word, setting.place.path, rows, cols);
  const int code = run(command);
  if (code < 0 || code > 2) std::abort();
  return 0;
}
