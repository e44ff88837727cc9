// Gives files that are no snapshots to the commands that read them, which must take or refuse them with exit code 0, 1
// or 2: orders of ranks, strata of ranks, names of regions, source text, raw matrices, recordings, compressed matrices.
//
// The first byte chooses the command, the second the sizes that are claimed for a matrix; the rest is the file.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "golden_run.hpp"
#include "tools/command_line.hpp"
#include "tools/commands/kokkos_session.hpp"

namespace {

namespace fs = std::filesystem;

/// A directory for the files, removed at the end.
struct Place {
  Place() {
    std::string pattern = (fs::temp_directory_path() / "effort-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path = pattern;
  }
  ~Place() { fs::remove_all(path); }
  fs::path path;
};

void write(const fs::path& path, const void* bytes, std::size_t size) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

struct Setting {
  Setting() {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{std::size_t{64} << 20, std::size_t{64} << 20};
    ::setrlimit(RLIMIT_FSIZE, &size);
    const std::vector<std::byte> golden = effort::record::test::golden_file(true);
    write(place.path / "good", golden.data(), golden.size());
    std::vector<double> numbers(24);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 + 0.25 * static_cast<double>(i * i % 7);
    write(place.path / "numbers", numbers.data(), numbers.size() * sizeof numbers[0]);
    fs::create_directory(place.path / "source");
  }
  Place place;
  effort::tools::KokkosSession kokkos;
};

/// The commands; GOOD is a snapshot, NUMBERS 24 numbers, IN the input, ROWS and COLS the sizes claimed for it.
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
    {"info", "IN"}};

class Command {
 public:
  Command(const fs::path& place, std::size_t rows, std::size_t cols) : place_(place), rows_(rows), cols_(cols) {}

  void run(const std::vector<std::string>& words) const {
    std::vector<std::string> resolved = {"effort"};
    for (const std::string& word : words) resolved.push_back(resolve(word));
    std::vector<const char*> arguments;
    for (const std::string& word : resolved) arguments.push_back(word.c_str());
    const int code = effort::tools::run_command(static_cast<int>(arguments.size()), arguments.data());
    if (code < 0 || code > 2) std::abort();
  }

 private:
  std::string resolve(const std::string& word) const {
    if (word == "GOOD") return place_ / "good";
    if (word == "NUMBERS") return place_ / "numbers";
    if (word == "SOURCE") return place_ / "source";
    if (word == "IN") return place_ / "source" / "in.c";
    if (word == "ROWS") return std::to_string(rows_);
    if (word == "COLS") return std::to_string(cols_);
    if (word.starts_with("OUT")) return place_ / ("out" + word.substr(3));
    if (word == "topology=IN") return "topology=" + (place_ / "source" / "in.c").string();
    return word;
  }

  fs::path place_;
  std::size_t rows_, cols_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  if (size < 2) return 0;
  const std::size_t values = (size - 2) / sizeof(double), rows = 1 + data[1] % 16;
  const std::size_t cols = values / rows;
  const bool matrix = data[0] % commands.size() >= 4 && data[0] % commands.size() < 12;
  const std::size_t length = matrix ? rows * cols * sizeof(double) : size - 2;
  write(setting.place.path / "source" / "in.c", data + 2, length);
  Command(setting.place.path, rows, cols).run(commands[data[0] % commands.size()]);
  return 0;
}
