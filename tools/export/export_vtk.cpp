// VTK XML image data (.vti) with arrays appended as raw bytes: they can be written in any order, and a reader loads
// only those that it shows.
#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string_view>

#include "record/text.hpp"
#include "tools/export/export.hpp"

namespace effort::tools {

namespace {

struct Array {
  std::string name;
  std::size_t metric = 0, region = 0;  ///< row of Run::metrics, of Selection::regions
  double nrmse = -1, max_error = -1;
};

/// Attribute text.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : record::visible(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::vector<Array> arrays_of(const Selection& selection) {
  std::vector<Array> out;
  for (std::size_t m : selection.metrics) {
    const record::Metric& metric = selection.reader.run().metrics[m];
    const std::string unit = metric.unit.empty() || metric.unit == "1" ? "" : " [" + metric.unit + "]";
    for (std::size_t g = 0; g < selection.regions.size(); ++g) {
      if (selection.regions[g].series[m] < 0) continue;
      const auto series = static_cast<std::uint32_t>(selection.regions[g].series[m]);
      const bool exact = selection.exact;
      out.push_back({metric.name + unit + ": " + selection.labels[g], m, g, exact ? 0 : selection.series.nrmse(series),
                     exact ? 0 : selection.series.max_error(series)});
    }
  }
  return out;
}

template <typename Values>
std::string field(const char* type, const char* name, const Values& values) {
  std::string out = "      <DataArray type=\"" + std::string(type) + "\" Name=\"" + name + "\" NumberOfTuples=\"" +
                    std::to_string(values.size()) + "\" format=\"ascii\">";
  for (const auto& value : values) {
    std::array<char, 32> text{};
    out += ' ';
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
  }
  return out + " </DataArray>\n";
}

std::string header(const Selection& selection, const std::vector<Array>& arrays) {
  const record::Grid& frame = selection.frame;
  const std::string extent =
      "0 " + std::to_string(frame.cols() - 1) + " 0 " + std::to_string(frame.rows() - 1) + " 0 0";
  const std::string cell = std::to_string(std::uint64_t{1} << selection.level);
  std::vector<double> nrmse, max_error;
  for (const Array& a : arrays) {
    nrmse.push_back(a.nrmse);
    max_error.push_back(a.max_error);
  }
  std::string out =
      "<?xml version=\"1.0\"?>\n<!-- effort: x = steps, y = ranks; compression errors are in the order of the arrays "
      "-->\n"
      "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "  <ImageData WholeExtent=\"" +
      extent + "\" Origin=\"0 0 0\" Spacing=\"" + cell + " " + cell + " 1\">\n    <FieldData>\n";
  out += field("Int64", "step", frame.first_step) + field("Int32", "rank", frame.first_rank) +
         field("Float64", "compression_nrmse", nrmse) + field("Float64", "compression_max_error", max_error);
  out += "    </FieldData>\n    <Piece Extent=\"" + extent + "\">\n      <PointData" +
         (arrays.empty() ? "" : " Scalars=\"" + escaped(arrays[0].name) + "\"") + ">\n";
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    out += "        <DataArray type=\"Float64\" Name=\"" + escaped(arrays[i].name) +
           "\" format=\"appended\" offset=\"" + std::to_string(i * (8 + 8 * selection.plane())) + "\"/>\n";
  }
  return out + "      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n_";
}

constexpr std::string_view footer = "\n  </AppendedData>\n</VTKFile>\n";

}  // namespace

void export_vtk(const Selection& selection, const std::filesystem::path& out) {
  if (selection.plane() == 0)
    throw std::runtime_error("an image needs at least one step, but '" + selection.reader.name() +
                             "' holds none: give --format csv or npy");
  const std::vector<Array> arrays = arrays_of(selection);
  OutputFile file(out);
  file.write(header(selection, arrays));
  const std::uint64_t start = file.size(), block = 8 + 8 * static_cast<std::uint64_t>(selection.plane());
  const std::uint64_t end = start + arrays.size() * block;
  file.extend(end + footer.size());
  // Every array is preceded by its length in bytes.
  std::vector<std::vector<std::size_t>> at(selection.reader.run().metrics.size(),
                                           std::vector<std::size_t>(selection.regions.size()));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    at[arrays[i].metric][arrays[i].region] = i;
    const std::uint64_t bytes = block - 8;
    file.write_at(start + i * block, std::as_bytes(std::span(&bytes, 1)));
    put_fill(file, start + i * block + 8, selection.plane(), selection.fill());
  }
  for (std::size_t m : selection.metrics) {
    selection.each_piece(m, [&](std::size_t region, const record::Piece& piece) {
      put_piece(file, start + at[m][region] * block + 8, selection.frame.cols(), piece);
    });
  }
  file.write_at(end, std::as_bytes(std::span(footer)));
  file.commit();
}

}  // namespace effort::tools
