// effort export SNAP --format csv|npy -o PATH [--region R] [--metric M] [--level L]
#include "tools/export.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "tools/commands.hpp"
#include "tools/kokkos_session.hpp"
#include "tools/output.hpp"

namespace effort::tools {

namespace {

struct Arguments {
  std::string snapshot, format, out, region, metric;
  int level = 0;
  bool exact = false, json = false;
};

Selection select(snapshot::Reader& reader, const snapshot::SeriesReader& series, const Arguments& a) {
  const snapshot::Run& run = reader.run();
  Selection out{reader, series, {}, {}, a.level, a.exact};
  for (const RegionRow& row : regions_of(run)) {
    if (a.region.empty() || row.name == a.region) out.regions.push_back(row);
  }
  for (std::size_t m = 0; m < run.metrics.size(); ++m) {
    if (a.metric.empty() || run.metrics[m].name == a.metric) out.metrics.push_back(m);
  }
  if (out.regions.empty() && !a.region.empty()) throw std::runtime_error("no region '" + a.region + "' in '" + a.snapshot + "', see effort info");
  if (out.metrics.empty() && !a.metric.empty()) throw std::runtime_error("no metric '" + a.metric + "' in '" + a.snapshot + "', see effort info");
  return out;
}

void run_export(const Arguments& a) {
  if (a.format == "hdf5" || a.format == "vtk") throw UsageError("--format " + a.format + " is not built into this effort, give csv or npy");
  if (a.exact && a.level > 0) throw UsageError("--exact values have no approximations, leave --level out");
  snapshot::Reader reader{std::filesystem::path(a.snapshot)};
  reader.verify();
  const snapshot::SeriesReader series(reader);
  const Selection selection = select(reader, series, a);
  const KokkosSession kokkos;
  if (a.format == "csv") {
    export_csv(selection, a.out);
  } else {
    export_npy(selection, a.out);
  }
  const snapshot::Grid frame = series.frame(a.level);
  if (a.json) print_json({{"regions", selection.regions.size()}, {"metrics", selection.metrics.size()}, {"rows", frame.rows()}, {"cols", frame.cols()}, {"path", a.out}});
}

}  // namespace

snapshot::Grid Selection::grid(const RegionRow& region, std::size_t metric) const {
  const std::int64_t index = region.series[metric];
  if (index >= 0) return exact ? series.exact(static_cast<std::uint32_t>(index)) : series.grid(static_cast<std::uint32_t>(index), level);
  snapshot::Grid out = series.frame(level);
  out.values.assign(out.rows() * out.cols(), 0.0);
  return out;
}

void add_export(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("export", "Writes the loads in a snapshot in a format that other programs read");
  command->add_option("SNAP", a->snapshot, "snapshot file")->required();
  command->add_option("--format", a->format, "csv: one line per region, rank and step; npy: a directory with METRIC.npy and axes.json")
      ->required()
      ->check(CLI::IsMember({"hdf5", "vtk", "csv", "npy"}));
  command->add_option("-o", a->out, "file (csv) or directory (npy) to write")->required();
  command->add_option("--region", a->region, "only this region");
  command->add_option("--metric", a->metric, "only this metric");
  command->add_option("--level", a->level, "the approximation that is 2^L times coarser in both directions")->check(CLI::Range(0, 30));
  command->add_flag("--exact", a->exact, "the exact values where they were stored (EXACT=1), NaN elsewhere");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_export(*a); });
}

}  // namespace effort::tools
