#include "tools/report_summary.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tools/snapshot_view.hpp"

namespace effort::tools {

namespace {

using snapshot::Grid;

constexpr std::int64_t spark_bins = 64;
constexpr std::int64_t load_bins = 2048;
constexpr std::size_t most_shapes = 2048;
constexpr std::uint32_t shape_rows = 24, shape_cols = 24;

/// The level at which a grid has at most so many values.
int level_for(const snapshot::Run& run, std::size_t most_values) {
  const double values = static_cast<double>(run.ranks) * static_cast<double>(run.steps);
  int level = 0;
  while (level < 30 && values / std::exp2(2.0 * level) > static_cast<double>(most_values)) ++level;
  return level;
}

/// Rows and columns of the coarse pictures: all of them together stay near a million cells.
std::pair<std::uint32_t, std::uint32_t> coarse_size(const Grid& frame, std::size_t series) {
  const std::size_t cells = std::clamp<std::size_t>((std::size_t{1} << 20) / std::max<std::size_t>(series, 1), 256, 12288);
  const auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(cells) * 0.75));
  const auto cols = static_cast<std::uint32_t>(cells / rows);
  return {static_cast<std::uint32_t>(std::min<std::size_t>(rows, frame.rows())), static_cast<std::uint32_t>(std::min<std::size_t>(cols, frame.cols()))};
}

/// Means over `rows` x `cols` bins of a grid; rows count as many ranks as they stand for.
std::vector<float> block_means(const Grid& grid, std::uint32_t rows, std::uint32_t cols) {
  std::vector<double> sums(std::size_t{rows} * cols), weights(rows);
  std::vector<double> widths(cols);
  const std::size_t from_cols = grid.cols();
  for (std::size_t j = 0; j < from_cols; ++j) widths[j * cols / from_cols] += 1;
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const std::size_t to = i * rows / grid.rows();
    const double count = grid.rank_count[i];
    weights[to] += count;
    for (std::size_t j = 0; j < from_cols; ++j) sums[to * cols + j * cols / from_cols] += count * grid.values[i * from_cols + j];
  }
  std::vector<float> out(sums.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(sums[k] / (weights[k / cols] * widths[k % cols]));
  return out;
}

/// The load as fine as a screen, for runs that take seconds to decode.
void add_picture(LoadSummary& out, const Grid& load, std::size_t series) {
  constexpr std::size_t most_rows = 512, most_cols = 1024, quick_values = std::size_t{1} << 24;
  if (load.values.size() * series <= quick_values) return;
  out.rows = static_cast<std::uint32_t>(std::min(most_rows, load.rows()));
  out.cols = static_cast<std::uint32_t>(std::min(most_cols, load.cols()));
  out.picture = block_means(load, out.rows, out.cols);
}

/// Mean and largest value over the ranks, per column.
struct Profile {
  std::vector<double> mean, max;
};
Profile profile_of(const Grid& grid, std::int32_t ranks) {
  const std::size_t cols = grid.cols();
  Profile out{std::vector<double>(cols), std::vector<double>(cols)};
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const double* row = grid.values.data() + i * cols;
    for (std::size_t j = 0; j < cols; ++j) {
      out.mean[j] += row[j] * grid.rank_count[i];
      out.max[j] = std::max(out.max[j], row[j]);
    }
  }
  for (double& v : out.mean) v /= ranks;
  return out;
}

std::vector<float> binned(const std::vector<double>& values, std::size_t bins) {
  std::vector<double> sums(bins), counts(bins);
  for (std::size_t j = 0; j < values.size(); ++j) {
    sums[j * bins / values.size()] += values[j];
    counts[j * bins / values.size()] += 1;
  }
  std::vector<float> out(bins);
  for (std::size_t k = 0; k < bins; ++k) out[k] = static_cast<float>(sums[k] / counts[k]);
  return out;
}

LoadSummary load_summary(const snapshot::Run& run, const Grid& load) {
  LoadSummary out;
  out.level = load.level;
  out.rank_total.assign(static_cast<std::size_t>(run.ranks), 0);
  if (load.values.empty()) return out;
  const std::size_t cols = load.cols();
  const Profile profile = profile_of(load, run.ranks);
  const auto steps_of = [&](std::size_t j) {
    return static_cast<double>((j + 1 < cols ? load.first_step[j + 1] : run.steps) - load.first_step[j]);
  };
  for (std::size_t j = 0; j < cols; ++j) {
    out.critical_path += profile.max[j] * steps_of(j);
    out.mean_path += profile.mean[j] * steps_of(j);
  }
  const auto bin = static_cast<std::size_t>((run.steps + load_bins - 1) / load_bins);
  const std::size_t per_bin = std::max<std::size_t>((bin + (std::size_t{1} << load.level) - 1) >> load.level, 1);
  const std::size_t bins = (cols + per_bin - 1) / per_bin;
  out.steps_per_bin = static_cast<std::int64_t>(per_bin << load.level);
  std::vector<double> best(bins, -1);
  out.mean.assign(bins, 0);
  out.max.assign(bins, 0);
  out.worst_rank.assign(bins, 0);
  for (std::size_t k = 0; k < bins; ++k) {
    const std::size_t end = std::min(cols, (k + 1) * per_bin), n = end - k * per_bin;
    for (std::size_t j = k * per_bin; j < end; ++j) {
      out.mean[k] += static_cast<float>(profile.mean[j] / static_cast<double>(n));
      out.max[k] += static_cast<float>(profile.max[j] / static_cast<double>(n));
    }
  }
  for (std::size_t i = 0; i < load.rows(); ++i) {
    double total = 0;
    for (std::size_t k = 0; k < bins; ++k) {
      double sum = 0;
      for (std::size_t j = k * per_bin; j < std::min(cols, (k + 1) * per_bin); ++j) sum += load.values[i * cols + j] * steps_of(j);
      total += sum;
      if (sum > best[k]) {
        best[k] = sum;
        out.worst_rank[k] = load.first_rank[i];
      }
    }
    // Above level 0 the neighbours that a row stands for share its value.
    for (std::int32_t r = 0; r < load.rank_count[i] && load.first_rank[i] + r < run.ranks; ++r) out.rank_total[static_cast<std::size_t>(load.first_rank[i]) + static_cast<std::size_t>(r)] = static_cast<float>(total);
  }
  return out;
}

/// The series to compare: those of the load metric, dearest first.
std::vector<std::uint32_t> series_to_compare(const snapshot::Run& run, std::size_t metric) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < run.series.size(); ++i)
    if (run.series[i].metric == metric && run.series[i].total > 0) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return run.series[a].total > run.series[b].total; });
  if (out.size() > most_shapes) out.resize(most_shapes);
  return out;
}

}  // namespace

RunSummary summarise(const snapshot::Run& run, const snapshot::SeriesReader& reader, const std::function<void(double)>& progress, std::size_t most_values) {
  RunSummary out;
  const int level = level_for(run, most_values);
  const std::size_t metric = load_metric_of(run);
  Grid load = reader.frame(level);
  const bool has_values = load.rows() > 0 && load.cols() > 0;
  out.shape_series = series_to_compare(run, metric);
  std::map<std::uint32_t, std::size_t> leaf;
  for (std::size_t k = 0; k < out.shape_series.size(); ++k) leaf[out.shape_series[k]] = k;
  const auto r = static_cast<std::uint32_t>(std::min<std::size_t>(shape_rows, load.rows())), c = static_cast<std::uint32_t>(std::min<std::size_t>(shape_cols, load.cols()));
  const std::size_t d = std::size_t{r} * c;
  std::vector<double> shapes(out.shape_series.size() * d);
  if (has_values) load.values.assign(load.rows() * load.cols(), 0.0);
  const auto [rows, cols] = coarse_size(load, run.series.size());
  for (std::uint32_t i = 0; i < run.series.size() && has_values; ++i) {
    Grid grid = reader.grid(i, level);
    // Ranks that are missing for some steps do no work there.
    for (double& v : grid.values)
      if (std::isnan(v)) v = 0;
    const Profile profile = profile_of(grid, run.ranks);
    const std::size_t sparks = std::min<std::size_t>(spark_bins, grid.cols());
    out.series.push_back({binned(profile.mean, sparks), binned(profile.max, sparks), rows, cols, block_means(grid, rows, cols)});
    const snapshot::Series& s = run.series[i];
    if (s.metric == metric && s.kind == snapshot::Kind::compute)
      std::transform(grid.values.begin(), grid.values.end(), load.values.begin(), load.values.begin(), [](double a, double b) { return a + b; });
    if (leaf.contains(i)) {
      const std::vector<float> shape = block_means(grid, r, c);
      std::copy(shape.begin(), shape.end(), shapes.begin() + static_cast<std::ptrdiff_t>(leaf[i] * d));
    }
    progress(static_cast<double>(i + 1) / static_cast<double>(run.series.size()));
  }
  out.series.resize(run.series.size());
  out.load = load_summary(run, load);
  if (has_values) add_picture(out.load, load, run.series.size());
  if (const std::size_t n = out.shape_series.size(); n > 1 && d > 0) {
    cluster::normalise_shapes(shapes, n, d);
    out.shapes = cluster::hierarchical(Kokkos::DefaultHostExecutionSpace(), cluster::Signatures{shapes, n, d}, cluster::Linkage::average);
  }
  return out;
}

void use_step_loads(LoadSummary& load, const snapshot::Run& run, const snapshot::SeriesReader& reader) {
  const snapshot::StepLoads steps = reader.step_loads();
  if (steps.largest.empty() || !(run.critical_path >= 0) || !(run.mean_path >= 0)) return;
  const auto per_bin = static_cast<std::size_t>(load.steps_per_bin);
  for (std::size_t k = 0; k < load.mean.size(); ++k) {
    const std::size_t end = std::min(steps.mean.size(), (k + 1) * per_bin);
    double mean = 0, largest = 0;
    for (std::size_t t = k * per_bin; t < end; ++t) {
      mean += steps.mean[t];
      largest += std::max(steps.largest[t], steps.mean[t]);
    }
    const auto n = static_cast<double>(end > k * per_bin ? end - k * per_bin : 1);
    load.mean[k] = static_cast<float>(mean / n);
    load.max[k] = static_cast<float>(largest / n);
  }
  load.critical_path = run.critical_path;
  load.mean_path = run.mean_path;
  load.exact = true;
}

}  // namespace effort::tools
