// The contents of the exported HDF5 file and their names (docs/command.md).
#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <stdexcept>

#include "tools/export/export.hpp"
#include "tools/export/hdf5_file.hpp"

namespace effort::tools {

namespace {

using hdf5::File;
using hdf5::Handle;
using hdf5::put;
using hdf5::require;
using hdf5::space_of;

constexpr std::size_t chunk_rows = 128, chunk_cols = 1024;  ///< 1 MiB
constexpr std::size_t least_cache = std::size_t{16} << 20,
                      most_cache = std::size_t{256} << 20;  ///< bytes of chunks held while pieces arrive

void put_run(File& file, const Selection& selection) {
  const record::Run& run = selection.reader.run();
  put(file.id(), "title", "Loads of " + (run.name.empty() ? "a run" : run.name) + ", region by rank by step");
  put(file.id(), "source", "effort " + run.version);
  put(file.id(), "name", run.name);
  put(file.id(), "job", run.job);
  put(file.id(), "ranks", std::int64_t{run.ranks});
  put(file.id(), "nodes", std::int64_t{run.nodes});
  put(file.id(), "steps", run.steps);
  put(file.id(), "window", std::int64_t{run.window});
  put(file.id(), "load_metric", run.load_metric);
  put(file.id(), "wall_seconds", run.wall_seconds);
  put(file.id(), "own_cpu_seconds", run.own_cpu_seconds_total());
  put(file.id(), "level", std::int64_t{selection.level});
}

void put_regions(File& file, const Selection& selection) {
  std::vector<std::string> names, kinds, phases;
  for (const RegionRow& region : selection.regions) {
    names.push_back(region.name);
    kinds.emplace_back(record::kind_name(region.kind));
    phases.push_back(region.phase);
  }
  file.add_dimension("region", names, "name of the region");
  file.add_values("kind", "region", kinds, "kind of work: compute, comm, wait, io");
  file.add_values("phase", "region", phases, "phase of the run");
  if (selection.resolved)
    file.add_values("location", "region", selection.labels, "call path by function, file and line, innermost first");
}

/// Strata exist for single ranks only.
bool has_strata(const Selection& selection) { return selection.level == 0 && !selection.reader.run().strata.empty(); }

void put_ranks(File& file, const Selection& selection) {
  const record::Run& run = selection.reader.run();
  const record::Grid& frame = selection.frame;
  file.add_dimension("rank", frame.first_rank,
                     selection.level == 0 ? "MPI rank" : "first of the MPI ranks that a row represents");
  std::vector<std::int32_t> node_of_rank;
  for (const record::NodeRun& part : run.placement)
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(part.count), part.node);
  std::vector<std::int32_t> nodes;
  for (std::int32_t rank : frame.first_rank) nodes.push_back(node_of_rank[static_cast<std::size_t>(rank)]);
  file.add_values("node", "rank", nodes, "node that the rank ran on");
  if (selection.level > 0) file.add_values("rank_count", "rank", frame.rank_count, "ranks that a row represents");
  if (has_strata(selection))
    file.add_values("stratum", "rank", run.strata.back().label,
                    "group of ranks that behave alike, in the last window with strata");
}

template <typename T, typename Value>
std::vector<T> of_windows(const record::Run& run, Value&& value) {
  std::vector<T> out;
  for (const record::Window& w : run.windows) out.push_back(static_cast<T>(value(w)));
  return out;
}

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

void put_windows(File& file, const record::Run& run) {
  if (run.windows.empty()) return;
  std::vector<std::int64_t> index(run.windows.size());
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int64_t>(i);
  file.add_dimension("window", index, "analysis window");
  using W = record::Window;
  file.add_values("window_first", "window", of_windows<std::int64_t>(run, [](const W& w) { return w.first; }),
                  "first step of the window");
  file.add_values("window_last", "window", of_windows<std::int64_t>(run, [](const W& w) { return w.last; }),
                  "last step of the window");
  file.add_values("window_rebalance", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.rebalance; }),
                  "1: a rebalance was recommended");
  file.add_values("window_rebalanced", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.rebalanced; }),
                  "1: the host rebalanced");
  file.add_values("window_strata", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.strata; }),
                  "groups of ranks that behave alike");
#define EFFORT_NUMBER(name, unknown, unit, meaning)                                                              \
  file.add_values("window_" #name, "window",                                                                     \
                  of_windows<double>(run, [](const W& w) { return w.name >= 0 ? w.name : not_known; }), meaning, \
                  unit);
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
}

/// Whether ranks of different nodes interleave, so that a node's pieces touch chunks all over a region.
bool is_interleaved(const Selection& selection) {
  for (std::int32_t node : selection.reader.nodes()) {
    const std::vector<std::size_t> rows = selection.series.rows_of(node, selection.frame);
    if (!rows.empty() && rows.back() - rows.front() + 1 != rows.size()) return true;
  }
  return false;
}

/// A dataset with chunks of a region's matrix, and a cache for those that pieces can leave unfinished.  Exact values
/// arrive window by window for all regions; they are stored contiguously, because chunks would be reloaded repeatedly.
Handle make_cube(const File& file, const Selection& selection, const std::string& name) {
  const hsize_t rows = selection.frame.rows(), cols = selection.frame.cols();
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "create a dataset");
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "create a dataset");
  const double fill = selection.fill();
  require(H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &fill), "create a dataset");
  require(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "create a dataset");
  if (!selection.exact && rows * cols > 0) {
    const std::array<hsize_t, 3> chunk = {1, std::min<hsize_t>(rows, chunk_rows), std::min<hsize_t>(cols, chunk_cols)};
    require(H5Pset_chunk(properties, 3, chunk.data()), "create a dataset");
    const std::size_t bytes =
        is_interleaved(selection) ? std::clamp<std::size_t>(8 * rows * cols, least_cache, most_cache) : least_cache;
    require(H5Pset_chunk_cache(access, 10007, bytes, 1.0), "create a dataset");
  }
  const Handle space = space_of({selection.regions.size(), rows, cols});
  return {H5Dcreate2(file.id(), name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, access), H5Dclose,
          "create a dataset"};
}

/// Writes a piece: its rows as stretches of constant stride.  One stretch suffices for nodes of consecutive ranks and
/// for round-robin placement.
void write_piece(hid_t dataset, hid_t space, std::size_t region, const record::Piece& piece) {
  for (std::size_t r = 0; r < piece.rows.size();) {
    const std::size_t stride = r + 1 < piece.rows.size() ? piece.rows[r + 1] - piece.rows[r] : 1;
    std::size_t count = 1;
    while (r + count < piece.rows.size() && piece.rows[r + count] - piece.rows[r + count - 1] == stride) ++count;
    const std::array<hsize_t, 3> start = {region, piece.rows[r], piece.first_col}, steps = {1, stride, 1},
                                 counts = {1, count, piece.cols};
    require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), steps.data(), counts.data(), nullptr),
            "select rows");
    const Handle memory = space_of({count * piece.cols});
    require(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, piece.values.data() + r * piece.cols),
            "write values (is the disk full?)");
    r += count;
  }
}

/// The coordinates for xarray in addition to those of the dimensions.
std::string coordinates(const Selection& selection) {
  std::string out = "kind phase node";
  if (selection.resolved) out += " location";
  if (has_strata(selection)) out += " stratum";
  return out;
}

void put_metric(File& file, const Selection& selection, std::size_t metric) {
  const record::Run& run = selection.reader.run();
  const std::string unit = run.metrics[metric].unit.empty() ? "1" : run.metrics[metric].unit;
  const std::string name = file.free_name(run.metrics[metric].name);
  std::vector<double> nrmse, max_error, totals;
  for (const RegionRow& region : selection.regions) {
    const auto index = static_cast<std::uint32_t>(region.series[metric]);
    const bool measured = region.series[metric] >= 0;
    const bool lossy = measured && !selection.exact;
    nrmse.push_back(lossy ? std::max(0.0, selection.series.nrmse(index)) : 0.0);
    max_error.push_back(lossy ? std::max(0.0, selection.series.max_error(index)) : 0.0);
    totals.push_back(measured ? run.series[index].total : 0.0);
  }
  {
    const Handle dataset = make_cube(file, selection, name);
    file.attach(dataset, {"region", "rank", "step"});
    put(dataset, "units", unit);
    put(dataset, "long_name", run.metrics[metric].name + " per step, exclusive of nested regions");
    put(dataset, "coordinates", coordinates(selection));
    put(dataset, "compression_nrmse", nrmse.empty() ? 0.0 : *std::max_element(nrmse.begin(), nrmse.end()));
    put(dataset, "compression_max_error",
        max_error.empty() ? 0.0 : *std::max_element(max_error.begin(), max_error.end()));
    const Handle space(H5Dget_space(dataset), H5Sclose, "read a dataset's shape");
    selection.each_piece(
        metric, [&](std::size_t region, const record::Piece& piece) { write_piece(dataset, space, region, piece); });
  }
  file.add_values(name + "_total", "region", totals, "sum over all ranks and steps, exact", unit);
  file.add_values(name + "_nrmse", "region", nrmse,
                  "root mean square error of the stored history over the range of the values", "1");
  file.add_values(name + "_max_error", "region", max_error, "largest absolute error of the stored history", unit);
}

}  // namespace

bool hdf5_available() { return true; }

void export_hdf5(const Selection& selection, const std::filesystem::path& out) {
  PendingFile name(out, PendingFile::Name::beside);
  if (!name.is_regular()) name.fail("HDF5 needs a regular file, which is not", ESPIPE);
  try {
    File file(name.at());
    put_run(file, selection);
    put_regions(file, selection);
    put_ranks(file, selection);
    file.add_dimension("step", selection.frame.first_step,
                       selection.level == 0 ? "progress step" : "first of the progress steps that a column represents");
    put_windows(file, selection.reader.run());
    for (std::size_t m : selection.metrics) put_metric(file, selection, m);
    file.close();
  } catch (const record::FormatError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + out.string() + "')");
  }
  name.commit();
}

}  // namespace effort::tools
