// Gives snapshots of a broken or hostile writer to every command, which must answer or refuse them.
//
// The first byte chooses the file that is damaged, the others how: see recipe.hpp.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "golden_run.hpp"
#include "recipe.hpp"
#include "tools/command_line.hpp"
#include "tools/commands/kokkos_session.hpp"

namespace {

namespace fs = std::filesystem;
using effort::record::test::RawFile;

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

void write(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Discards the output of commands, and limits the size of the files they write.
struct Setting {
  Setting() {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{std::size_t{64} << 20, std::size_t{64} << 20};
    ::setrlimit(RLIMIT_FSIZE, &size);
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
    {"export", "SNAP", "--format", "hdf5", "--exact", "-o", "OUT.h5"}};

std::string resolved(std::string word, const fs::path& place) {
  if (word == "SNAP") return place / "job" / "golden-1-00000060.effort";
  if (word == "GOOD") return place / "good";
  if (word == "JOB") return place / "job";
  if (word.starts_with("OUT")) return place / ("out" + word.substr(3));
  return word;
}

void run(const std::vector<std::string>& command, const fs::path& place) {
  std::vector<std::string> words = {"effort"};
  for (const std::string& word : command) words.push_back(resolved(word, place));
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  // Damage is a data error, never a usage error.
  const int code = effort::tools::run_command(static_cast<int>(arguments.size()), arguments.data());
  if (code != 0 && code != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  if (size == 0) return 0;
  RawFile file = setting.files[data[0] % setting.files.size()];
  effort::tools::test::apply({data + 1, size - 1}, file);
  write(setting.place.path / "job" / "golden-1-00000060.effort", file.assemble());
  for (const std::vector<std::string>& command : commands) run(command, setting.place.path);
  return 0;
}
