// Gives snapshots of a broken or hostile writer to every command, which must answer or refuse them.
//
// The first byte chooses the file that is damaged, the others how: see recipe.hpp.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "golden_run.hpp"
#include "place.hpp"
#include "recipe.hpp"
#include "tools/commands/kokkos_session.hpp"

namespace {

namespace fs = std::filesystem;
using effort::record::test::RawFile;
using effort::tools::test::be_quiet;
using effort::tools::test::Place;
using effort::tools::test::write;

struct Setting {
  Setting() {
    be_quiet();
    files = {effort::tools::test::decompressed(effort::record::test::golden_file(true)),
             effort::tools::test::decompressed(effort::record::test::golden_file(true, true))};
    write(place.path / "good", effort::record::test::golden_file(true));
    fs::create_directory(place.path / "job");
  }
  Place place;
  effort::tools::KokkosSession kokkos;
  std::vector<RawFile> files;
};

/// The commands that read a snapshot; SNAP, GOOD, JOB and OUT stand for paths.
const std::vector<std::vector<std::string>> commands = {
    {"info", "SNAP", "--all", "--heat-map", "always"},
    {"info", "SNAP", "--json"},
    {"report", "SNAP", "-o", "OUT.html"},
    {"report", "GOOD", "SNAP", "-o", "OUT.html", "--json"},
    {"top", "JOB", "--once"},
    {"top", "JOB", "--json"},
    {"diff", "GOOD", "SNAP", "--all"},
    {"diff", "SNAP", "GOOD", "--json"},
    {"export", "SNAP", "--format", "csv", "-o", "OUT.csv"},
    {"export", "SNAP", "--format", "csv", "--exact", "-o", "OUT.csv"},
    {"export", "SNAP", "--format", "npy", "-o", "OUT"},
    {"export", "SNAP", "--format", "vtk", "-o", "OUT.vti"},
    {"export", "SNAP", "--format", "vtk", "--level", "2", "-o", "OUT.vti"},
    {"export", "SNAP", "--format", "hdf5", "-o", "OUT.h5"},
    {"export", "SNAP", "--format", "hdf5", "--exact", "-o", "OUT.h5"},
    {"comm", "waits", "SNAP", "--all"},
    {"comm", "waits", "SNAP", "--json"},
    {"comm", "pairs", "SNAP", "--all"},
    {"comm", "pairs", "SNAP", "--linkage", "average", "--json"},
    {"comm", "matrix", "SNAP", "--all"},
    {"comm", "matrix", "SNAP", "--json"},
    {"place", "SNAP", "-o", "OUT.ranks"},
    {"place", "SNAP", "--format", "mpich", "-o", "OUT.order", "--json"},
    {"check", "SNAP", "--max-imbalance", "0.2", "--max-region", "solve:5%"},
    {"check", "SNAP", "--baseline", "GOOD", "--json"},
    {"check", "GOOD", "--baseline", "SNAP", "--json"}};

std::string resolved(std::string word, const fs::path& place) {
  if (word == "SNAP") return place / "job" / "golden-1-00000060.effort";
  if (word == "GOOD") return place / "good";
  if (word == "JOB") return place / "job";
  if (word.starts_with("OUT")) return place / ("out" + word.substr(3));
  return word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  if (size == 0) return 0;
  RawFile file = setting.files[data[0] % setting.files.size()];
  effort::tools::test::apply({data + 1, size - 1}, file);
  write(setting.place.path / "job" / "golden-1-00000060.effort", file.assemble());
  for (std::vector<std::string> command : commands) {
    for (std::string& word : command) word = resolved(word, setting.place.path);
    effort::tools::test::run_on_damage(command);
  }
  return 0;
}
