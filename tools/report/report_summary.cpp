#include "tools/report/report_summary.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <numeric>
#include <thread>
#include <tuple>

#include "analytics/codec/history.hpp"
#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

namespace {

using record::Grid;

constexpr std::int64_t spark_bins = 64;
constexpr std::int64_t load_bins = 2048;
constexpr std::size_t most_shapes = 2048;
constexpr std::uint32_t shape_rows = 24, shape_cols = 24;

/// The level at which a grid has at most this many values.
int level_for(const record::Run& run, std::size_t most_values) {
  const double values = static_cast<double>(run.ranks) * static_cast<double>(run.steps);
  int level = 0;
  while (level < 30 && values / std::exp2(2.0 * level) > static_cast<double>(most_values)) ++level;
  return level;
}

/// Rows and columns of the coarse pictures, about a million cells for all pictures together.
std::pair<std::uint32_t, std::uint32_t> coarse_size(const Grid& frame, std::size_t series) {
  const std::size_t cells =
      std::clamp<std::size_t>((std::size_t{1} << 20) / std::max<std::size_t>(series, 1), 256, 12288);
  const auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(cells) * 0.75));
  const auto cols = static_cast<std::uint32_t>(cells / rows);
  return {static_cast<std::uint32_t>(std::min<std::size_t>(rows, frame.rows())),
          static_cast<std::uint32_t>(std::min<std::size_t>(cols, frame.cols()))};
}

/// Means over `rows` x `cols` bins of a grid; rows are weighted by the number of ranks that they represent.
std::vector<float> block_means(const Grid& grid, std::uint32_t rows, std::uint32_t cols) {
  std::vector<double> sums(std::size_t{rows} * cols), weights(rows);
  const std::size_t from_cols = grid.cols();
  std::vector<std::size_t> begin;  // of the columns that are a bin's
  for (std::size_t k = 0; k <= cols; ++k) begin.push_back((k * from_cols + cols - 1) / cols);
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const std::size_t to = i * rows / grid.rows();
    const double count = grid.rank_count[i];
    weights[to] += count;
    const double* row = grid.values.data() + i * from_cols;
    for (std::size_t k = 0; k < cols; ++k)
      sums[to * cols + k] += count * std::accumulate(row + begin[k], row + begin[k + 1], 0.0);
  }
  std::vector<float> out(sums.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] =
        static_cast<float>(sums[k] / (weights[k / cols] * static_cast<double>(begin[k % cols + 1] - begin[k % cols])));
  return out;
}

/// The number of steps in a column of a grid.
double steps_of(const Grid& grid, std::size_t col, std::int64_t steps) {
  return static_cast<double>((col + 1 < grid.cols() ? grid.first_step[col + 1] : steps) - grid.first_step[col]);
}

/// Sums over all steps; above level 0 the ranks of a row share its value equally.
std::vector<float> rank_totals(const Grid& grid, const record::Run& run) {
  std::vector<float> out(static_cast<std::size_t>(run.ranks));
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    double total = 0;
    for (std::size_t j = 0; j < grid.cols(); ++j)
      total += grid.values[i * grid.cols() + j] * steps_of(grid, j, run.steps);
    const auto first = static_cast<std::size_t>(grid.first_rank[i]),
               end = std::min(out.size(), first + static_cast<std::size_t>(grid.rank_count[i]));
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(first), out.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<float>(total));
  }
  return out;
}

/// Whether a page needs seconds to decode all series; it then also gets the load at screen resolution.
bool takes_seconds(const Grid& frame, std::size_t series) {
  constexpr std::size_t quick_values = std::size_t{1} << 24;
  return frame.rows() * frame.cols() * series > quick_values;
}

/// Rows and columns of a picture at screen resolution.
std::pair<std::uint32_t, std::uint32_t> screen_size(const Grid& frame) {
  constexpr std::size_t most_rows = 512, most_cols = 1024;
  return {static_cast<std::uint32_t>(std::min(most_rows, frame.rows())),
          static_cast<std::uint32_t>(std::min(most_cols, frame.cols()))};
}

/// The picture of a series, or of a sum of several, that a page shows before it has decoded the histories; only if a
/// single history takes long to decode.
void add_screen(SeriesSummary& out, const Grid& grid, const record::Run& run) {
  constexpr std::size_t worth_it = 8, most_series = 128, most_totals = std::size_t{1} << 20;
  constexpr double nrmse = 1.0 / 512;  // the resolution of the bytes of the other pictures
  const auto [rows, cols] = screen_size(grid);
  if (grid.rows() * grid.cols() < worth_it * rows * cols || run.series.size() > most_series) return;
  const std::vector<float> picture = block_means(grid, rows, cols);
  codec::History history(rows, codec::Target::nrmse(nrmse));
  history.append(std::vector<double>(picture.begin(), picture.end()), cols);
  out.screen_rows = rows;
  out.screen_cols = cols;
  out.screen = history.serialize_final();
  if (grid.level == 0 && grid.rows() * run.series.size() <= most_totals) out.rank_total = rank_totals(grid, run);
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

LoadSummary load_summary(const record::Run& run, const Grid& load) {
  LoadSummary out;
  out.level = load.level;
  out.rank_total.assign(static_cast<std::size_t>(run.ranks), 0);
  if (load.values.empty()) return out;
  out.rank_total = rank_totals(load, run);
  const std::size_t cols = load.cols();
  const Profile profile = profile_of(load, run.ranks);
  for (std::size_t j = 0; j < cols; ++j) {
    out.critical_path += profile.max[j] * steps_of(load, j, run.steps);
    out.mean_path += profile.mean[j] * steps_of(load, j, run.steps);
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
    for (std::size_t k = 0; k < bins; ++k) {
      double sum = 0;
      for (std::size_t j = k * per_bin; j < std::min(cols, (k + 1) * per_bin); ++j)
        sum += load.values[i * cols + j] * steps_of(load, j, run.steps);
      if (sum > best[k]) {
        best[k] = sum;
        out.worst_rank[k] = load.first_rank[i];
      }
    }
  }
  return out;
}

/// The series to compare: those of the load metric, most expensive first.
std::vector<std::uint32_t> series_to_compare(const record::Run& run, std::size_t metric) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < run.series.size(); ++i)
    if (run.series[i].metric == metric && run.series[i].total > 0) out.push_back(i);
  std::stable_sort(out.begin(), out.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return run.series[a].total > run.series[b].total; });
  if (out.size() > most_shapes) out.resize(most_shapes);
  return out;
}

/// The summary of one series, and those of its values that are still needed.
struct Digest {
  SeriesSummary series;
  std::vector<float> shape;  ///< [shape rows][shape cols]; empty: not compared
  std::vector<double> load;  ///< all values; empty: no part of the load
};

/// The summaries to make of a series.
struct Plan {
  const record::Run& run;
  const record::SeriesReader& reader;
  Grid frame;
  std::size_t metric = 0;
  std::map<std::uint32_t, std::size_t> leaf;  ///< of the series that are compared

  std::uint32_t rows(std::uint32_t most) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, frame.rows()));
  }
  std::uint32_t cols(std::uint32_t most) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(most, frame.cols()));
  }
};

Digest digest(const Plan& plan, std::uint32_t index) {
  Grid grid = plan.reader.grid(index, plan.frame.level);
  // Ranks that are missing for some steps do no work there.
  for (double& v : grid.values)
    if (std::isnan(v)) v = 0;
  Digest out;
  const Profile profile = profile_of(grid, plan.run.ranks);
  const std::size_t sparks = std::min<std::size_t>(spark_bins, grid.cols());
  const auto [rows, cols] = coarse_size(grid, plan.run.series.size());
  out.series.spark_mean = binned(profile.mean, sparks);
  out.series.spark_max = binned(profile.max, sparks);
  out.series.rows = rows;
  out.series.cols = cols;
  out.series.coarse = block_means(grid, rows, cols);
  add_screen(out.series, grid, plan.run);
  if (plan.leaf.contains(index)) out.shape = block_means(grid, plan.rows(shape_rows), plan.cols(shape_cols));
  const record::Series& s = plan.run.series[index];
  if (s.metric == plan.metric && s.kind == record::Kind::compute) out.load = std::move(grid.values);
  return out;
}

/// Number of series that are decoded at a time.
std::size_t series_at_once(const Grid& frame) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  const std::size_t bytes = std::max<std::size_t>(8 * frame.rows() * frame.cols(), 1);
  return std::clamp<std::size_t>(most_bytes / bytes, 1, std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

RunSummary summarise(const record::Run& run, const record::SeriesReader& reader, const std::function<void()>& progress,
                     std::size_t most_values) {
  RunSummary out;
  const std::size_t metric = load_metric_of(run);
  Grid load = reader.frame(level_for(run, most_values));
  Plan plan{run, reader, load, metric, {}};
  out.shape_series = series_to_compare(run, metric);
  for (std::size_t k = 0; k < out.shape_series.size(); ++k) plan.leaf[out.shape_series[k]] = k;
  const bool has_values = load.rows() > 0 && load.cols() > 0;
  const std::size_t d = std::size_t{plan.rows(shape_rows)} * plan.cols(shape_cols);
  std::vector<double> shapes(out.shape_series.size() * d);
  if (has_values) load.values.assign(load.rows() * load.cols(), 0.0);
  const std::size_t at_once = series_at_once(load), count = has_values ? run.series.size() : 0;
  for (std::size_t first = 0; first < count; first += at_once) {
    std::vector<std::future<Digest>> under_way;
    for (std::size_t i = first; i < std::min(count, first + at_once); ++i)
      under_way.push_back(std::async(std::launch::async, digest, std::cref(plan), static_cast<std::uint32_t>(i)));
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      Digest one = under_way[k].get();
      out.series.push_back(std::move(one.series));
      if (!one.load.empty())
        std::transform(one.load.begin(), one.load.end(), load.values.begin(), load.values.begin(),
                       [](double a, double b) { return a + b; });
      if (!one.shape.empty())
        std::copy(
            one.shape.begin(), one.shape.end(),
            shapes.begin() + static_cast<std::ptrdiff_t>(plan.leaf.at(static_cast<std::uint32_t>(first + k)) * d));
      progress();
    }
  }
  out.series.resize(run.series.size());
  out.load = load_summary(run, load);
  if (has_values && takes_seconds(load, run.series.size())) {
    std::tie(out.load.rows, out.load.cols) = screen_size(load);
    out.load.picture = block_means(load, out.load.rows, out.load.cols);
  }
  if (const std::size_t n = out.shape_series.size(); n > 1 && d > 0) {
    cluster::normalise_shapes(shapes, n, d);
    out.shapes = cluster::hierarchical(Kokkos::DefaultHostExecutionSpace(), cluster::Signatures{shapes, n, d},
                                       cluster::Linkage::average);
  }
  return out;
}

void use_step_loads(LoadSummary& load, const record::Run& run, const record::SeriesReader& reader) {
  const record::StepLoads steps = reader.step_loads();
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
