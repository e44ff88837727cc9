#include <array>
#include <charconv>
#include <cmath>

#include "tools/export.hpp"
#include "tools/raw_file.hpp"

namespace effort::tools {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// Quoted as RFC 4180 asks where a name holds a comma, a quote or a line's end.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

/// The shortest text that reads back to the same number; nothing for a NaN.
void append(std::string& out, double value) {
  if (std::isnan(value)) return;
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

void append_grid(OutputFile& file, std::string& buffer, const std::string& prefix, const snapshot::Grid& grid) {
  for (std::size_t r = 0; r < grid.rows(); ++r) {
    const std::string row = prefix + std::to_string(grid.first_rank[r]) + ",";
    for (std::size_t c = 0; c < grid.cols(); ++c) {
      buffer += row;
      buffer += std::to_string(grid.first_step[c]);
      buffer += ',';
      append(buffer, grid.values[r * grid.cols() + c]);
      buffer += '\n';
      if (buffer.size() < buffer_bytes) continue;
      file.write(buffer);
      buffer.clear();
    }
  }
}

}  // namespace

void export_csv(const Selection& selection, const std::filesystem::path& path) {
  const snapshot::Run& run = selection.reader.run();
  OutputFile file(path);
  std::string buffer = "metric,region,kind,phase,rank,step,value\n";
  for (std::size_t m : selection.metrics) {
    for (const RegionRow& region : selection.regions) {
      if (region.series[m] < 0) continue;
      const std::string prefix = field(run.metrics[m].name) + "," + field(region.name) + "," + snapshot::kind_name(region.kind) + "," + field(region.phase) + ",";
      append_grid(file, buffer, prefix, selection.grid(region, m));
    }
  }
  file.write(buffer);
  file.commit();
}

}  // namespace effort::tools
