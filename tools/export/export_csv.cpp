#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "tools/export/export.hpp"
#include "tools/output/csv_field.hpp"

namespace effort::tools {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// The shortest text that reads back as the same number; empty for a NaN.
void append(std::string& out, double value) {
  if (std::isnan(value)) return;
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), result.ptr);
}

/// Nodes whose ranks interleave, and the rows from their first to their last.  They must be in memory together to be
/// written in the order of ranks.  A node of consecutive ranks is a group by itself.
struct Group {
  std::vector<std::int32_t> nodes;
  std::size_t first = 0, last = 0;  ///< rows
};

std::vector<Group> groups_of(const Selection& selection) {
  std::vector<Group> spans;
  for (const std::int32_t node : selection.series.parts()) {
    const std::vector<std::size_t> rows = selection.series.rows_of(node, selection.frame);
    if (!rows.empty()) spans.push_back({{node}, rows.front(), rows.back()});
  }
  std::sort(spans.begin(), spans.end(), [](const Group& a, const Group& b) { return a.first < b.first; });
  std::vector<Group> out;
  for (const Group& span : spans) {
    if (out.empty() || span.first > out.back().last) {
      out.push_back(span);
    } else {
      out.back().nodes.push_back(span.nodes[0]);
      out.back().last = std::max(out.back().last, span.last);
    }
  }
  return out;
}

/// The group's rows of one region.
std::vector<double> values_of(const Selection& selection, std::uint32_t series, const Group& group) {
  const std::size_t cols = selection.frame.cols();
  std::vector<double> out((group.last - group.first + 1) * cols, 0.0);
  for (std::int32_t node : group.nodes) {
    selection.series.each_piece(series, selection.frame, node, [&](const record::Piece& piece) {
      for (std::size_t r = 0; r < piece.rows.size(); ++r) {
        const std::span<const double> from = piece.values.subspan(r * piece.cols, piece.cols);
        std::copy(from.begin(), from.end(),
                  out.begin() + static_cast<std::ptrdiff_t>((piece.rows[r] - group.first) * cols + piece.first_col));
      }
      if (selection.progress != nullptr) selection.progress->advance(static_cast<double>(piece.values.size()));
    });
  }
  return out;
}

void append_rows(OutputFile& file, std::string& buffer, const std::string& prefix, const record::Grid& frame,
                 std::size_t first, std::span<const double> values) {
  for (std::size_t r = 0; (r + 1) * frame.cols() <= values.size() && frame.cols() > 0; ++r) {
    const std::string row = prefix + std::to_string(frame.first_rank[first + r]) + ",";
    for (std::size_t c = 0; c < frame.cols(); ++c) {
      buffer += row;
      buffer += std::to_string(frame.first_step[c]);
      buffer += ',';
      append(buffer, values[r * frame.cols() + c]);
      buffer += '\n';
      if (buffer.size() < buffer_bytes) continue;
      file.write(buffer);
      buffer.clear();
    }
  }
}

}  // namespace

void export_csv(const Selection& selection, const std::filesystem::path& out) {
  const record::Run& run = selection.reader.run();
  const std::vector<Group> groups = groups_of(selection);
  OutputFile file(out);
  std::string buffer = "metric,region,kind,phase,rank,step,value\n";
  for (std::size_t m : selection.metrics) {
    for (std::size_t g = 0; g < selection.regions.size(); ++g) {
      const RegionRow& region = selection.regions[g];
      if (region.series[m] < 0) continue;
      const auto series = static_cast<std::uint32_t>(region.series[m]);
      const std::string prefix = csv_field(run.metrics[m].name) + "," +
                                 csv_field(selection.resolved ? selection.labels[g] : region.name) + "," +
                                 record::kind_name(region.kind) + "," + csv_field(region.phase) + ",";
      if (selection.exact) {
        append_rows(file, buffer, prefix, selection.frame, 0, selection.series.exact(series).values);
        continue;
      }
      for (const Group& group : groups)
        append_rows(file, buffer, prefix, selection.frame, group.first, values_of(selection, series, group));
    }
  }
  file.write(buffer);
  file.commit();
}

}  // namespace effort::tools
