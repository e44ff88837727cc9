#include "tools/trace/input/read.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

/// The files of a directory that end like this, sorted.
std::vector<fs::path> files_with(const fs::path& directory, const std::string& extension) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.is_regular_file() && entry.path().extension() == extension) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// The OTF2 anchor file that `path` stands for, or nothing.
fs::path anchor_of(const fs::path& path) {
  if (!fs::is_directory(path)) return path.extension() == ".otf2" ? path : fs::path();
  const std::vector<fs::path> anchors = files_with(path, ".otf2");
  if (anchors.size() > 1)
    throw std::runtime_error("'" + path.string() + "' holds " + std::to_string(anchors.size()) +
                             " OTF2 archives: name the .otf2 file of one");
  return anchors.empty() ? fs::path() : anchors[0];
}

}  // namespace

Trace read_trace(const std::string& path) {
  if (!fs::exists(path)) throw std::runtime_error("'" + path + "' does not exist");
  const fs::path anchor = anchor_of(path);
  if (anchor.empty() && fs::is_directory(path) && files_with(path, ".trc").empty())
    throw std::runtime_error("'" + path + "' is not a trace: the directory has no node-*.trc and no .otf2 file");
  if (anchor.empty()) return read_effort_trace(path);
  if (!otf2_available())
    throw std::runtime_error("'" + anchor.string() +
                             "' is an OTF2 archive, and effort was built without OTF2: install "
                             "libopen-trace-format2-dev and build it again");
  return read_otf2_trace(anchor.string());
}

}  // namespace effort::tools
