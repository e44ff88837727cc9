// HDF5 with dimension scales, as netCDF-4 lays it out: h5py, xarray and netCDF tools read names, coordinates and units.
#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "tools/export.hpp"
#include "tools/output.hpp"

namespace effort::tools {

namespace {

constexpr std::size_t chunk_rows = 128, chunk_cols = 1024;          ///< 1 MiB
constexpr std::size_t least_cache = std::size_t{16} << 20, most_cache = std::size_t{256} << 20;  ///< bytes of chunks held while pieces come in

/// A handle of HDF5 with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t), const char* problem) : id_(id), close_(closer) {
    if (id_ < 0) throw std::runtime_error(std::string("HDF5 cannot ") + problem);
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): stands in for the handle in HDF5's calls
  /// Closing is where a full disk shows.
  void close(const char* problem) {
    if (close_(std::exchange(id_, -1)) < 0) throw std::runtime_error(std::string("HDF5 cannot ") + problem);
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void require(herr_t result, const char* problem) {
  if (result < 0) throw std::runtime_error(std::string("HDF5 cannot ") + problem);
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a type");
  require(H5Tset_size(type, H5T_VARIABLE), "make a type");
  require(H5Tset_cset(type, H5T_CSET_UTF8), "make a type");
  return type;
}

Handle space_of(const std::vector<hsize_t>& shape) {
  return {shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "make a data space"};
}

void put_attribute(hid_t object, const char* name, hid_t stored, hid_t in_memory, const void* value) {
  const Handle space = space_of({});
  const Handle attribute(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "make an attribute");
  require(H5Awrite(attribute, in_memory, value), "write an attribute");
}
void put(hid_t object, const char* name, const std::string& value) {
  const Handle type = text_type();
  const std::string text = valid_utf8(value);
  const char* const pointer = text.c_str();
  put_attribute(object, name, type, type, &pointer);
}
void put(hid_t object, const char* name, double value) { put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value); }
void put(hid_t object, const char* name, std::int64_t value) { put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value); }

/// The file under way and the dimensions that its datasets share.
class File {
 public:
  explicit File(const std::filesystem::path& path) : id_(create(path)) {}
  hid_t id() const { return id_; }
  void close() {
    dimensions_.clear();
    id_.close("finish the file (is the disk full?)");
  }

  /// A coordinate: a dataset of one dimension that carries the dimension's name.
  template <typename T>
  void add_dimension(const std::string& name, const std::vector<T>& values) {
    taken_.insert(name);
    dimensions_.emplace_back(name, write_values(name, values));
    require(H5DSset_scale(dimensions_.back().second, name.c_str()), "make a dimension");
  }
  /// Numbers or text along one dimension.
  template <typename T>
  void add_values(const std::string& name, const std::string& dimension, const std::vector<T>& values, const std::string& meaning, const std::string& unit = "") {
    taken_.insert(name);
    const Handle dataset = write_values(name, values);
    attach(dataset, {dimension});
    put(dataset, "long_name", meaning);
    if (!unit.empty()) put(dataset, "units", unit);
  }
  void attach(hid_t dataset, const std::vector<std::string>& names) {
    for (unsigned i = 0; i < names.size(); ++i) {
      const auto at = std::find_if(dimensions_.begin(), dimensions_.end(), [&](const auto& d) { return d.first == names[i]; });
      require(H5DSattach_scale(dataset, at->second, i), "attach a dimension");
    }
  }
  void describe(const std::string& dimension, const std::string& meaning) {
    for (const auto& [name, dataset] : dimensions_) {
      if (name == dimension) put(dataset, "long_name", meaning);
    }
  }
  /// A name that no other dataset has; '/' would make a group.
  std::string free_name(std::string name) {
    for (char& c : name) c = c == '/' ? '_' : c;
    if (name.empty() || name == "." || name == "..") name = "metric";
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

 private:
  static Handle create(const std::filesystem::path& path) {
    const Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "make the file");
    // What netCDF asks of a file that it is to open.
    require(H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "make the file");
    return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT), H5Fclose, "make the file (is the directory writable?)"};
  }
  Handle make(const std::string& name, hid_t type, std::size_t size) {
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a dataset");
    require(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "make a dataset");
    const Handle space = space_of({size});
    return {H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose, "make a dataset"};
  }
  Handle write_numbers(const std::string& name, hid_t stored, hid_t in_memory, const void* values, std::size_t size) {
    Handle dataset = make(name, stored, size);
    require(H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write a dataset");
    return dataset;
  }
  Handle write_values(const std::string& name, const std::vector<double>& v) { return write_numbers(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, v.data(), v.size()); }
  Handle write_values(const std::string& name, const std::vector<std::int32_t>& v) { return write_numbers(name, H5T_STD_I32LE, H5T_NATIVE_INT32, v.data(), v.size()); }
  Handle write_values(const std::string& name, const std::vector<std::int64_t>& v) { return write_numbers(name, H5T_STD_I64LE, H5T_NATIVE_INT64, v.data(), v.size()); }
  Handle write_values(const std::string& name, const std::vector<std::string>& v) {
    std::vector<std::string> texts;
    for (const std::string& text : v) texts.push_back(valid_utf8(text));
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const Handle type = text_type();
    return write_numbers(name, type, type, pointers.data(), pointers.size());
  }

  Handle id_;
  std::vector<std::pair<std::string, Handle>> dimensions_;
  std::set<std::string> taken_;
};

void put_run(File& file, const Selection& selection) {
  const snapshot::Run& run = selection.reader.run();
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
    kinds.emplace_back(snapshot::kind_name(region.kind));
    phases.push_back(region.phase);
  }
  file.add_dimension("region", names);
  file.describe("region", "name of the region");
  file.add_values("kind", "region", kinds, "kind of work: compute, comm, wait, io");
  file.add_values("phase", "region", phases, "phase of the run");
  if (selection.resolved) file.add_values("location", "region", selection.labels, "call path by function, file and line, innermost first");
}

void put_ranks(File& file, const Selection& selection) {
  const snapshot::Run& run = selection.reader.run();
  const snapshot::Grid& frame = selection.frame;
  file.add_dimension("rank", frame.first_rank);
  file.describe("rank", selection.level == 0 ? "MPI rank" : "first of the MPI ranks that a row stands for");
  std::vector<std::int32_t> node_of_rank;
  for (const snapshot::NodeRun& part : run.placement) node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(part.count), part.node);
  std::vector<std::int32_t> nodes;
  for (std::int32_t rank : frame.first_rank) nodes.push_back(node_of_rank[static_cast<std::size_t>(rank)]);
  file.add_values("node", "rank", nodes, "node that the rank ran on");
  if (selection.level > 0) file.add_values("rank_count", "rank", frame.rank_count, "ranks that a row stands for");
  if (selection.level == 0 && !run.strata.empty()) file.add_values("stratum", "rank", run.strata.back().label, "group of ranks that behave alike, in the last window that kept them");
}

template <typename T, typename Value>
std::vector<T> of_windows(const snapshot::Run& run, Value&& value) {
  std::vector<T> out;
  for (const snapshot::Window& w : run.windows) out.push_back(static_cast<T>(value(w)));
  return out;
}

void put_windows(File& file, const snapshot::Run& run) {
  if (run.windows.empty()) return;
  std::vector<std::int64_t> index(run.windows.size());
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int64_t>(i);
  file.add_dimension("window", index);
  file.describe("window", "analysis window");
  using W = snapshot::Window;
  file.add_values("window_first", "window", of_windows<std::int64_t>(run, [](const W& w) { return w.first; }), "first step of the window");
  file.add_values("window_last", "window", of_windows<std::int64_t>(run, [](const W& w) { return w.last; }), "last step of the window");
  file.add_values("window_imbalance", "window", of_windows<double>(run, [](const W& w) { return w.imbalance; }), "largest load / mean load - 1", "1");
  file.add_values("window_rebalance", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.rebalance; }), "1: a rebalance was recommended");
  file.add_values("window_rebalanced", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.rebalanced; }), "1: the host rebalanced");
  file.add_values("window_strata", "window", of_windows<std::int32_t>(run, [](const W& w) { return w.strata; }), "groups of ranks that behave alike");
  const auto efficiency = [&](const char* name, const char* meaning, double W::* value) {
    file.add_values(name, "window", of_windows<double>(run, [&](const W& w) { return w.*value >= 0 ? w.*value : std::numeric_limits<double>::quiet_NaN(); }), meaning, "1");
  };
  efficiency("window_load_balance", "mean load / largest load", &W::load_balance);
  efficiency("window_parallel_efficiency", "mean load / elapsed time", &W::parallel_efficiency);
}

/// Whether ranks of different nodes lie among each other, so that a node's pieces touch chunks all over a region.
bool is_interleaved(const Selection& selection) {
  for (std::int32_t node : selection.reader.nodes()) {
    const std::vector<std::size_t> rows = selection.series.rows_of(node, selection.frame);
    if (!rows.empty() && rows.back() - rows.front() + 1 != rows.size()) return true;
  }
  return false;
}

/// Chunks of a region's matrix, and room for as many of them as pieces can leave unfinished.  Exact values come window by
/// window through all regions: they lie in one block, as chunks would be taken up again and again.
Handle make_cube(const File& file, const Selection& selection, const std::string& name) {
  const hsize_t rows = selection.frame.rows(), cols = selection.frame.cols();
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a dataset");
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "make a dataset");
  const double fill = selection.fill();
  require(H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &fill), "make a dataset");
  require(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "make a dataset");
  if (!selection.exact && rows * cols > 0) {
    const std::array<hsize_t, 3> chunk = {1, std::min<hsize_t>(rows, chunk_rows), std::min<hsize_t>(cols, chunk_cols)};
    require(H5Pset_chunk(properties, 3, chunk.data()), "make a dataset");
    const std::size_t bytes = is_interleaved(selection) ? std::clamp<std::size_t>(8 * rows * cols, least_cache, most_cache) : least_cache;
    require(H5Pset_chunk_cache(access, 10007, bytes, 1.0), "make a dataset");
  }
  const Handle space = space_of({selection.regions.size(), rows, cols});
  return {H5Dcreate2(file.id(), name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, access), H5Dclose, "make a dataset"};
}

/// Writes a piece: its rows as stretches with a common distance, which is one for nodes of consecutive ranks and for
/// nodes that take ranks in turn.
void write_piece(hid_t dataset, hid_t space, std::size_t region, const snapshot::Piece& piece) {
  for (std::size_t r = 0; r < piece.rows.size();) {
    const std::size_t stride = r + 1 < piece.rows.size() ? piece.rows[r + 1] - piece.rows[r] : 1;
    std::size_t count = 1;
    while (r + count < piece.rows.size() && piece.rows[r + count] - piece.rows[r + count - 1] == stride) ++count;
    const std::array<hsize_t, 3> start = {region, piece.rows[r], piece.first_col}, steps = {1, stride, 1}, counts = {1, count, piece.cols};
    require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), steps.data(), counts.data(), nullptr), "select rows");
    const Handle memory = space_of({count * piece.cols});
    require(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, piece.values.data() + r * piece.cols), "write values (is the disk full?)");
    r += count;
  }
}

void put_metric(File& file, const Selection& selection, std::size_t metric) {
  const snapshot::Run& run = selection.reader.run();
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
    put(dataset, "coordinates", "kind phase node");
    put(dataset, "compression_nrmse", nrmse.empty() ? 0.0 : *std::max_element(nrmse.begin(), nrmse.end()));
    put(dataset, "compression_max_error", max_error.empty() ? 0.0 : *std::max_element(max_error.begin(), max_error.end()));
    const Handle space(H5Dget_space(dataset), H5Sclose, "read a dataset's shape");
    selection.each_piece(metric, [&](std::size_t region, const snapshot::Piece& piece) { write_piece(dataset, space, region, piece); });
  }
  file.add_values(name + "_total", "region", totals, "sum over all ranks and steps, exact", unit);
  file.add_values(name + "_nrmse", "region", nrmse, "root mean square error of the stored history over the range of the values", "1");
  file.add_values(name + "_max_error", "region", max_error, "largest absolute error of the stored history", unit);
}

}  // namespace

bool hdf5_available() { return true; }

void export_hdf5(const Selection& selection, const std::filesystem::path& path) {
  PendingFile name(path);
  if (!name.is_regular()) name.fail("HDF5 needs a regular file, which is not", ESPIPE);
  require(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "start");
  try {
    File file(name.at());
    put_run(file, selection);
    put_regions(file, selection);
    put_ranks(file, selection);
    file.add_dimension("step", selection.frame.first_step);
    file.describe("step", selection.level == 0 ? "progress step" : "first of the progress steps that a column stands for");
    put_windows(file, selection.reader.run());
    for (std::size_t m : selection.metrics) put_metric(file, selection, m);
    file.close();
  } catch (const snapshot::FormatError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string(e.what()) + " (file '" + path.string() + "')");
  }
  name.commit();
}

}  // namespace effort::tools
