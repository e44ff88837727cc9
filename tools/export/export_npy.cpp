#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "record/text.hpp"
#include "tools/export/export.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Makes a directory, and removes it in the destructor if it is empty.
class NewDirectory {
 public:
  explicit NewDirectory(fs::path path) : path_(std::move(path)), made_(fs::create_directories(path_)) {}
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  ~NewDirectory() {
    std::error_code not_empty;
    if (made_) fs::remove(path_, not_empty);
  }

 private:
  fs::path path_;
  bool made_;
};

/// A metric's name as a file name: '/', characters that record::visible spells out and a leading '.' are replaced.
std::string file_stem(const std::string& metric) {
  std::string out = metric.empty() ? "metric" : record::visible(metric);
  for (char& c : out) {
    if (c == '/' || c == '\\') c = '_';
  }
  if (out[0] == '.') out[0] = '_';
  return out;
}

/// NPY format 1.0: magic, version, length of the description, description padded to a multiple of 64 bytes.
std::string npy_header(std::size_t regions, std::size_t rows, std::size_t cols) {
  std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(regions) + ", " +
                     std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

void write_metric(const Selection& selection, std::size_t metric, OutputFile& file) {
  const std::size_t regions = selection.regions.size(), cols = selection.frame.cols();
  const std::uint64_t plane = 8 * static_cast<std::uint64_t>(selection.plane());
  file.write(npy_header(regions, selection.frame.rows(), cols));
  const std::uint64_t start = file.size();
  file.extend(start + regions * plane);
  put_fill(file, start, regions * selection.plane(), selection.fill());
  selection.each_piece(metric, [&](std::size_t region, const record::Piece& piece) {
    put_piece(file, start + region * plane, cols, piece);
  });
}

ordered_json axes(const Selection& selection, const ordered_json& metrics) {
  const record::Grid& frame = selection.frame;
  ordered_json out;
  out["dimensions"] = {"region", "rank", "step"};
  out["regions"] = ordered_json::array();
  out["kinds"] = ordered_json::array();
  out["phases"] = ordered_json::array();
  for (const RegionRow& region : selection.regions) {
    out["regions"].push_back(region.name);
    out["kinds"].push_back(record::kind_name(region.kind));
    out["phases"].push_back(region.phase);
  }
  if (selection.resolved) out["resolved"] = selection.labels;
  out["ranks"] = frame.first_rank;
  out["rank_counts"] = frame.rank_count;
  out["steps"] = frame.first_step;
  out["level"] = selection.level;
  out["metrics"] = metrics;
  return out;
}

}  // namespace

void export_npy(const Selection& selection, const fs::path& directory) {
  const record::Run& run = selection.reader.run();
  const NewDirectory made(directory);
  ordered_json metrics = ordered_json::object();
  std::set<std::string> taken;
  // All files get their names when all are complete.
  std::vector<std::unique_ptr<OutputFile>> files;
  for (std::size_t m : selection.metrics) {
    std::string stem = file_stem(run.metrics[m].name);
    while (!taken.insert(stem).second) stem += "_";
    files.push_back(std::make_unique<OutputFile>(directory / (stem + ".npy")));
    write_metric(selection, m, *files.back());
    metrics[run.metrics[m].name] = {{"file", stem + ".npy"}, {"unit", run.metrics[m].unit}};
  }
  files.push_back(std::make_unique<OutputFile>(directory / "axes.json"));
  files.back()->write(json_text(axes(selection, metrics), 1) + "\n");
  for (const std::unique_ptr<OutputFile>& file : files) file->commit();
}

}  // namespace effort::tools
