// The common part of the formats of `effort export`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/series.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/progress.hpp"
#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

/// The data to export: for every metric a cube of regions x rows x columns.
struct Selection {
  record::Reader& reader;
  const record::SeriesReader& series;
  std::vector<RegionRow> regions;    ///< the selected ones
  std::vector<std::string> labels;   ///< [regions] readable and distinct: call paths resolved
  bool resolved = false;             ///< whether there are call paths, so that labels differ from names
  std::vector<std::size_t> metrics;  ///< rows of Run::metrics, the selected ones
  int level = 0;
  bool exact = false;  ///< the stored exact values instead of the histories
  record::Grid frame;  ///< rows and columns of every region
  Progress* progress = nullptr;

  /// A metric's cube in pieces, region by region (with `exact` window by window); cells in no piece are fill().
  /// Memory: see SeriesReader.
  using Take = std::function<void(std::size_t region, const record::Piece& piece)>;
  void each_piece(std::size_t metric, const Take& take) const;
  /// The value of unmeasured cells: 0; NaN for exact values that were not stored.
  double fill() const;
  /// Cells of one region.
  std::size_t plane() const { return frame.rows() * frame.cols(); }
};

/// Puts a piece into a raw matrix of `cols` columns that begins at byte `offset` of a file.
void put_piece(OutputFile& file, std::uint64_t offset, std::size_t cols, const record::Piece& piece);
/// Puts fill() into a raw matrix or cube of `cells` cells that was extended; nothing to do for zeros.
void put_fill(OutputFile& file, std::uint64_t offset, std::uint64_t cells, double fill);

/// One line per region, rank and step: metric,region,kind,phase,rank,step,value.
void export_csv(const Selection& selection, const std::filesystem::path& out);
/// DIR/METRIC.npy, shape regions x ranks x steps, and DIR/axes.json.
void export_npy(const Selection& selection, const std::filesystem::path& directory);
/// VTK XML image data: columns (steps) along x, rows (ranks) along y, an array per metric and region.
void export_vtk(const Selection& selection, const std::filesystem::path& out);
/// HDF5, as h5py, xarray and netCDF-4 read it: dimensions region, rank, step; a dataset per metric.
void export_hdf5(const Selection& selection, const std::filesystem::path& out);
/// Whether this build of effort writes HDF5.
bool hdf5_available();

}  // namespace effort::tools
