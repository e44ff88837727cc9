// effort export SNAP --format hdf5|vtk|csv|npy -o PATH [--region R] [--metric M] [--level L]
#include "tools/export/export.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/output/output.hpp"
#include "tools/symbols/symbols.hpp"

namespace effort::tools {

namespace {

/// Distinct names for the regions: resolved, then extended by whatever distinguishes them.
std::vector<std::string> labels_of(const std::vector<RegionRow>& regions, Symbols* symbols) {
  std::vector<std::string> out;
  for (const RegionRow& r : regions) out.push_back(symbols != nullptr ? symbols->readable(r.name) : r.name);
  const auto tell_apart = [&](auto&& suffix) {
    std::map<std::string, int> count;
    for (const std::string& label : out) ++count[label];
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (count[out[i]] > 1) out[i] += suffix(regions[i]);
    }
  };
  tell_apart([](const RegionRow& r) { return r.phase.empty() ? "" : " (" + r.phase + ")"; });
  tell_apart([](const RegionRow& r) { return std::string(" (") + record::kind_name(r.kind) + ")"; });
  tell_apart([](const RegionRow& r) { return " " + r.name; });
  return out;
}

Selection select(record::Reader& reader, const record::SeriesReader& series, const ExportArguments& a,
                 Symbols* symbols) {
  const record::Run& run = reader.run();
  Selection out{reader, series, {}, {}, false, {}, a.level, a.exact, series.frame(a.level), nullptr};
  for (const RegionRow& row : regions_of(run)) {
    if (a.region.empty() || row.name == a.region || (symbols != nullptr && symbols->readable(row.name) == a.region))
      out.regions.push_back(row);
  }
  for (std::size_t m = 0; m < run.metrics.size(); ++m) {
    if (a.metric.empty() || run.metrics[m].name == a.metric) out.metrics.push_back(m);
  }
  if (out.regions.empty() && !a.region.empty())
    throw std::runtime_error("no region '" + a.region + "' in '" + a.snapshot + "': see effort info");
  if (out.metrics.empty() && !a.metric.empty())
    throw std::runtime_error("no metric '" + a.metric + "' in '" + a.snapshot + "': see effort info");
  out.labels = labels_of(out.regions, symbols);
  out.resolved = symbols != nullptr && has_call_paths(run);
  return out;
}

/// The number of cells that each_piece visits.
double work_of(const Selection& selection) {
  double series = 0;
  for (std::size_t m : selection.metrics) {
    for (const RegionRow& region : selection.regions) series += region.series[m] >= 0 ? 1 : 0;
  }
  return series * static_cast<double>(selection.plane());
}

void write(const Selection& selection, const std::string& format, const std::filesystem::path& out) {
  if (format == "csv") {
    export_csv(selection, out);
  } else if (format == "npy") {
    export_npy(selection, out);
  } else if (format == "vtk") {
    export_vtk(selection, out);
  } else {
    export_hdf5(selection, out);
  }
}

}  // namespace

void run_export(const ExportArguments& a) {
  if (a.format == "hdf5" && !hdf5_available())
    throw UsageError(
        "effort was built without HDF5, which --format hdf5 needs: install libhdf5-dev and build it again, or "
        "give vtk, csv or npy");
  if (a.exact && a.level > 0) throw UsageError("--exact values have no approximations: omit --level");
  record::Reader reader{std::filesystem::path(a.snapshot)};
  reader.verify();
  const record::SeriesReader series(reader);
  Symbols symbols(reader.run().modules, {a.module_paths.begin(), a.module_paths.end()});
  Selection selection = select(reader, series, a, a.raw_names ? nullptr : &symbols);
  {
    Progress progress("exporting", work_of(selection));
    selection.progress = &progress;
    const KokkosSession kokkos;
    write(selection, a.format, a.out);
  }
  if (a.json) {
    print_json({{"regions", selection.regions.size()},
                {"metrics", selection.metrics.size()},
                {"rows", selection.frame.rows()},
                {"cols", selection.frame.cols()},
                {"path", a.out}});
  }
}

double Selection::fill() const { return exact ? std::numeric_limits<double>::quiet_NaN() : 0.0; }

void Selection::each_piece(std::size_t metric, const Take& take) const {
  const auto counted = [&](std::size_t region, const record::Piece& piece) {
    take(region, piece);
    if (progress != nullptr) progress->advance(static_cast<double>(piece.values.size()));
  };
  if (exact) {
    std::map<std::uint32_t, std::size_t> wanted;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].series[metric] >= 0) wanted[static_cast<std::uint32_t>(regions[i].series[metric])] = i;
    }
    series.each_exact_piece([&](std::uint32_t index, const record::Piece& piece) {
      const auto at = wanted.find(index);
      if (at != wanted.end()) counted(at->second, piece);
    });
    return;
  }
  const std::vector<std::int32_t> nodes = reader.nodes();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::int64_t index = regions[i].series[metric];
    if (index < 0) continue;
    for (std::int32_t node : nodes)
      series.each_piece(static_cast<std::uint32_t>(index), frame, node,
                        [&](const record::Piece& piece) { counted(i, piece); });
  }
}

void put_piece(OutputFile& file, std::uint64_t offset, std::size_t cols, const record::Piece& piece) {
  const auto at = [&](std::size_t row) {
    return offset + 8 * (static_cast<std::uint64_t>(row) * cols + piece.first_col);
  };
  const bool whole =
      piece.cols == cols && !piece.rows.empty() && piece.rows.back() - piece.rows.front() + 1 == piece.rows.size();
  if (whole) {
    file.write_at(at(piece.rows.front()), piece.values);
    return;
  }
  for (std::size_t r = 0; r < piece.rows.size(); ++r)
    file.write_at(at(piece.rows[r]), piece.values.subspan(r * piece.cols, piece.cols));
}

void put_fill(OutputFile& file, std::uint64_t offset, std::uint64_t cells, double fill) {
  if (fill == 0) return;
  const std::vector<double> block(std::size_t{1} << 17, fill);
  for (std::uint64_t done = 0; done < cells; done += block.size()) {
    file.write_at(offset + 8 * done, std::span(block).first(std::min<std::uint64_t>(block.size(), cells - done)));
  }
}

}  // namespace effort::tools
