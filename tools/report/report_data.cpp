#include "tools/report/report_data.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tools/output/output.hpp"
#include "tools/view/info_json.hpp"
#include "tools/view/snapshot_view.hpp"
#include "tools/view/strata_moves.hpp"

namespace effort::tools {

using nlohmann::ordered_json;
using record::Run;

namespace {

constexpr std::size_t most_shown_windows = 24;  ///< with strata drawn side by side
constexpr std::size_t most_movers = 20;

template <typename T>
std::string base64_of(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little);
  return base64(std::as_bytes(std::span(values)));
}

/// Values as bytes between the smallest and the largest; those that are not finite are 0.
ordered_json quantised(std::vector<float> values) {
  for (float& v : values) v = std::isfinite(v) ? v : 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  // In double, where the difference of two floats is finite.
  const double from = values.empty() ? 0 : *low, range = values.empty() ? 0 : *high - from;
  std::vector<std::uint8_t> levels;
  for (const float v : values)
    levels.push_back(range > 0 ? static_cast<std::uint8_t>(255 * ((v - from) / range) + 0.5) : 0);
  return {{"from", from}, {"range", range}, {"values", base64_of(levels)}};
}

/// The histories in the bytes of each series: [node, first step, bytes], in order.
std::vector<ordered_json> history_tables(record::Reader& reader) {
  std::vector<ordered_json> out(reader.run().series.size(), ordered_json::array());
  for (const std::int32_t node : reader.nodes())
    for (const record::Tile& tile : reader.tiles(node))
      out[tile.series].push_back({node, tile.first_step, tile.history.size()});
  return out;
}

ordered_json series_json(record::Reader& reader, const RunSummary& summary, const ExactValues& exact) {
  const Run& run = reader.run();
  const std::vector<RegionRow> regions = regions_of(run);
  const std::vector<ordered_json> tables = history_tables(reader);
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < run.series.size(); ++i) {
    const record::Series& s = run.series[i];
    const auto region = std::find_if(regions.begin(), regions.end(), [&](const RegionRow& r) {
      return r.series[s.metric] == static_cast<std::int64_t>(i);
    });
    const SeriesSummary& short_form = summary.series[i];
    out.push_back(
        {{"region", region - regions.begin()},
         {"metric", s.metric},
         {"histories", tables[i]},
         {"mean", quantised(short_form.spark_mean)},
         {"max", quantised(short_form.spark_max)},
         {"coarse", {{"rows", short_form.rows}, {"cols", short_form.cols}, {"cells", quantised(short_form.coarse)}}},
         {"screen", {short_form.screen_rows, short_form.screen_cols}},
         {"rank_totals", !short_form.rank_total.empty()},
         {"exact", !exact.series.empty() && !exact.series[i].empty()}});
  }
  return out;
}

ordered_json load_json(const LoadSummary& load) {
  return {{"steps_per_bin", load.steps_per_bin},
          {"level", load.level},
          {"mean", base64_of(load.mean)},
          {"max", base64_of(load.max)},
          {"worst_rank", base64_of(load.worst_rank)},
          {"rank_total", base64_of(load.rank_total)},
          {"critical_path", load.critical_path},
          {"mean_path", load.mean_path},
          {"exact", load.exact},
          {"picture", {{"rows", load.rows}, {"cols", load.cols}, {"cells", quantised(load.picture)}}}};
}

ordered_json shapes_json(const RunSummary& summary) {
  ordered_json merges = ordered_json::array();
  for (const cluster::Merge& m : summary.shapes.merges) merges.push_back({m.first, m.second, m.height, m.size});
  return {{"series", summary.shape_series}, {"merges", merges}};
}

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < n ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

ordered_json report_json(record::Reader& reader, const record::SeriesReader& series, const RunSummary& summary,
                         const ExactValues& exact, std::span<const RankOrder> orders) {
  const Run& run = reader.run();
  ordered_json out;
  out["file"] = std::filesystem::path(reader.name()).filename().string();
  out["info"] = info_json(reader, series);
  out["placement"] = ordered_json::array();
  for (const record::NodeRun& part : run.placement) out["placement"].push_back({part.node, part.count});
  out["series"] = series_json(reader, summary, exact);
  out["exact_left_out"] = exact.left_out;
  out["load"] = load_json(summary.load);
  out["shapes"] = shapes_json(summary);
  out["movement"] = movement_json(strata_movement(run, most_shown_windows, most_movers));
  out["orders"] = ordered_json::array();
  for (const RankOrder& order : orders)
    if (order.ranks.size() == static_cast<std::size_t>(run.ranks))
      out["orders"].push_back({{"name", order.name}, {"ranks", base64_of(order.ranks)}});
  return out;
}

ExactValues report_exact(const Run& run, const record::SeriesReader& series, std::size_t most_bytes) {
  ExactValues out;
  std::vector<bool> stored(run.series.size());
  series.each_exact_piece([&](std::uint32_t which, const record::Piece&) { stored[which] = true; });
  const std::size_t metric = load_metric_of(run);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool load_a = run.series[a].metric == metric, load_b = run.series[b].metric == metric;
    return load_a != load_b ? load_a : run.series[a].total > run.series[b].total;
  });
  const auto steps = static_cast<std::size_t>(run.steps), ranks = static_cast<std::size_t>(run.ranks);
  const std::size_t room = steps > 0 ? std::min(order.size(), most_bytes / 8 / ranks / steps) : 0,
                    values = room > 0 ? ranks * steps : 0;
  out.left_out = order.size() - room;
  out.series.resize(run.series.size());
  for (std::size_t k = 0; k < room; ++k) out.series[order[k]].assign(values, std::numeric_limits<double>::quiet_NaN());
  if (room == 0) return out;
  series.each_exact_piece([&](std::uint32_t which, const record::Piece& piece) {
    std::vector<double>& to = out.series[which];
    for (std::size_t r = 0; r < piece.rows.size() && !to.empty(); ++r)
      std::copy_n(piece.values.begin() + static_cast<std::ptrdiff_t>(r * piece.cols), piece.cols,
                  to.begin() + static_cast<std::ptrdiff_t>(piece.rows[r] * steps + piece.first_col));
  });
  return out;
}

std::vector<SeriesBytes> report_bytes(record::Reader& reader) {
  std::vector<SeriesBytes> out(reader.run().series.size());
  for (const std::int32_t node : reader.nodes())
    for (const record::Tile& tile : reader.tiles(node))
      out[tile.series].insert(out[tile.series].end(), tile.history.begin(), tile.history.end());
  return out;
}

ordered_json source_json(const SourceMap& source) {
  ordered_json files = ordered_json::array(), places = ordered_json::array();
  for (const SourceFile& f : source.files) files.push_back({{"path", f.path}, {"text", f.text}});
  for (const SourcePlace& p : source.places)
    places.push_back({{"region", p.region}, {"file", p.file}, {"first", p.first}, {"last", p.last}, {"what", p.what}});
  return {{"files", files}, {"places", places}, {"notes", source.notes}};
}

}  // namespace effort::tools
