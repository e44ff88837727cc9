#include "record/metadata.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "record/columns.hpp"

namespace effort::record {

namespace {

/// The per-node numbers as rows, so that they are a table like the others.
struct NodeCost {
  double own_cpu_seconds = 0;
  std::int64_t own_bytes = 0;
};

std::vector<Column<Series>> series_columns() {
  return {column("region", &Series::region),
          column("kind", &Series::kind),
          column("phase", &Series::phase),
          column("metric", &Series::metric),
          column("total", &Series::total),
          column("mean_over_ranks", &Series::mean_over_ranks),
          column("max_over_ranks", &Series::max_over_ranks),
          column("max_rank", &Series::max_rank),
          column("imbalance", &Series::imbalance),
          estimate("nrmse", &Series::nrmse, Presence::optional)};
}

std::vector<Column<Window>> window_columns() {
  constexpr Presence optional = Presence::optional;
  std::vector<Column<Window>> columns = {
      column<Window, std::int64_t>("first", &Window::first),
      column<Window, std::int64_t>("last", &Window::last),
      column<Window, bool>("rebalance", &Window::rebalance),
      column("rebalanced", &Window::rebalanced),
      column("rebalanced_at", &Window::rebalanced_at, optional),
      column("rebalances", &Window::rebalances, optional),
      column<Window, std::int32_t>("strata", &Window::strata),
      column<Window, std::uint32_t>("advice", &Window::advice, optional),
      column<Window, std::int32_t>("worst_rank", &Window::worst_rank, optional),
      column("worst_region", &Window::worst_region_name, optional),
      estimate("wait_seconds", &Window::wait_seconds, optional),
      column<Window, std::int64_t>("samples_unified", &Window::samples_unified, optional),
      column<Window, std::int64_t>("samples_stratified", &Window::samples_stratified, optional)};
#define EFFORT_NUMBER(name, unknown, unit, meaning) \
  columns.push_back(estimate<Window>(#name, &Window::name, (unknown) < 0 ? optional : Presence::required));
  EFFORT_WINDOW_NUMBERS(EFFORT_NUMBER)
#undef EFFORT_NUMBER
  return columns;
}

Column<Run> node_costs() {
  const std::vector<Column<NodeCost>> columns = {column("own_cpu_seconds", &NodeCost::own_cpu_seconds),
                                                 column("own_bytes", &NodeCost::own_bytes)};
  return {"nodes", true,
          [columns](cbor::Encoder& out, const Run& run) {
            std::vector<NodeCost> rows(run.own_cpu_seconds.size());
            for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {run.own_cpu_seconds[i], run.own_bytes[i]};
            put_table(out, columns, rows);
          },
          [columns](cbor::Decoder& in, Run& run) {
            for (const NodeCost& row : get_table(in, columns)) {
              run.own_cpu_seconds.push_back(row.own_cpu_seconds);
              run.own_bytes.push_back(row.own_bytes);
            }
          }};
}

Column<Run> notes() {
  return {"notes", false,
          [](cbor::Encoder& out, const Run& run) {
            out.array(run.notes.size());
            for (const std::string& note : run.notes) out.text(note);
          },
          [](cbor::Decoder& in, Run& run) {
            for (std::uint64_t count = in.array(); count > 0; --count) run.notes.push_back(in.text());
          }};
}

/// Like all such tables, never destroyed: the last snapshot may be written while the host's static objects are.
const std::vector<Column<Run>>& run_fields() {
  constexpr Presence optional = Presence::optional;
  static const auto& placement =
      *new std::vector<Column<NodeRun>>{column("node", &NodeRun::node), column("count", &NodeRun::count)};
  static const auto& metrics =
      *new std::vector<Column<Metric>>{column("name", &Metric::name), column("unit", &Metric::unit)};
  static const auto& unit_costs = *new std::vector<Column<UnitCost>>{
      column("name", &UnitCost::name), estimate("seconds_per_unit", &UnitCost::seconds_per_unit),
      estimate("error", &UnitCost::error)};
  static const auto& window_costs = *new std::vector<Column<WindowCost>>{
      column("first", &WindowCost::first), column("unit", &WindowCost::unit),
      estimate("seconds_per_unit", &WindowCost::seconds_per_unit), estimate("error", &WindowCost::error)};
  static const auto& speeds =
      *new std::vector<Column<SpeedRun>>{column("count", &SpeedRun::count), column("time", &SpeedRun::time)};
  static const auto& modules = *new std::vector<Column<Module>>{
      column("name", &Module::name), column("path", &Module::path), column("build_id", &Module::build_id)};
  static const auto& fields =
      *new std::vector<Column<Run>>{column("version", &Run::version),
                                    column("name", &Run::name),
                                    column("job", &Run::job),
                                    column("ranks", &Run::ranks),
                                    column("node_count", &Run::nodes),
                                    column("steps", &Run::steps),
                                    column("window", &Run::window),
                                    column("hint_lag", &Run::hint_lag),
                                    column("load_metric", &Run::load_metric),
                                    column("wall_seconds", &Run::wall_seconds),
                                    estimate("critical_path", &Run::critical_path, Presence::optional),
                                    estimate("mean_path", &Run::mean_path, Presence::optional),
                                    estimate("measuring_seconds", &Run::measuring_seconds, Presence::optional),
                                    column("merged_steps", &Run::merged_steps),
                                    column("lost_snapshots", &Run::lost_snapshots),
                                    table_field("placement", &Run::placement, placement),
                                    node_costs(),
                                    table_field("metrics", &Run::metrics, metrics),
                                    table_field("series", &Run::series, series_columns()),
                                    table_field("unit_costs", &Run::unit_costs, unit_costs),
                                    table_field("window_costs", &Run::window_costs, window_costs, optional),
                                    table_field("speeds", &Run::speeds, speeds, optional),
                                    table_field("modules", &Run::modules, modules, optional),
                                    notes()};
  return fields;
}

void require(bool good, const char* problem) {
  if (!good) throw std::runtime_error(problem);
}

void check_placement(const Run& run) {
  require(run.ranks >= 1 && run.ranks <= max_ranks, "the number of ranks is out of range");
  require(run.nodes >= 1 && run.nodes <= run.ranks, "the number of nodes is out of range");
  std::int64_t sum = 0;
  for (const NodeRun& part : run.placement) {
    require(part.count >= 1 && part.node >= 0 && part.node < run.nodes,
            "the placement of ranks names a node that does not exist");
    sum += part.count;
  }
  require(sum == run.ranks, "the placement of ranks does not cover every rank once");
  require(run.own_cpu_seconds.size() == static_cast<std::size_t>(run.nodes),
          "own_cpu_seconds does not have one number per node");
  require(run.own_bytes.size() == run.own_cpu_seconds.size(), "own_bytes does not have one number per node");
}

/// Checks that windows, or data of windows, are in order of time.  Steps are bounded, so sums do not overflow.
template <typename T>
void check_order(const std::vector<T>& windows) {
  std::int64_t last = 0;
  for (const T& w : windows) {
    require(w.first >= 0 && w.first <= w.last && w.last <= max_steps, "a window's steps are out of range");
    require(w.last >= last, "windows are not in the order of time");
    last = w.last;
  }
}

void check_windows(const Run& run) {
  check_order(run.windows);
  std::int64_t rebalances = 0;
  for (const Window& w : run.windows) {
    require(w.rebalances >= 0 && w.rebalances <= max_steps - rebalances, "a window's rebalances are out of range");
    rebalances += w.rebalances;
    require(w.strata >= 0 && w.strata <= run.ranks, "a window's number of strata is out of range");
    require(w.worst_rank < run.ranks, "a window's worst rank does not exist");
  }
}

void check_series(const Run& run) {
  require(static_cast<std::int64_t>(run.series.size()) <= max_series, "there are too many series");
  std::set<std::tuple<std::string_view, Kind, std::string_view, std::uint32_t>> known;
  for (const Series& s : run.series) {
    require(s.metric < run.metrics.size(), "a series belongs to a metric that does not exist");
    require(s.kind <= Kind::io, "a region has a kind that does not exist");
    require(s.max_rank >= 0 && s.max_rank < run.ranks, "a series' largest rank does not exist");
    require(known.insert({s.region, s.kind, s.phase, s.metric}).second,
            "two series have the same region, phase and metric");
  }
}

void check_strata(const Run& run, const Strata& s) {
  require(s.label.size() == static_cast<std::size_t>(run.ranks), "strata do not label every rank");
  const auto count = static_cast<std::int32_t>(s.medoid_rank.size());
  for (std::int32_t label : s.label) require(label >= 0 && label < count, "a rank's stratum does not exist");
  for (std::int32_t rank : s.medoid_rank) require(rank >= 0 && rank < run.ranks, "a stratum's medoid is not a rank");
  require(s.region_load.size() == s.medoid_rank.size() * s.region.size(),
          "the loads of the strata are not a matrix of strata x regions");
}

/// Checks that every rank's label in a window, listed there or in a later window, is one of the window's strata.
void check_moves(const Run& run) {
  if (run.moves.empty()) return;
  require(!run.strata.empty(), "there are moves between strata, but no strata");
  require(run.moves.size() <= max_moves, "the strata of too many windows are kept");
  check_order(run.moves);
  std::vector<std::int32_t> label = run.strata.back().label;
  auto most = static_cast<std::int32_t>(run.strata.back().medoid_rank.size());
  for (const StrataMove& move : run.moves) {
    require(move.strata >= 0 && move.strata <= run.ranks, "a window's number of strata is out of range");
    most = std::max(most, move.strata);
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(most), 0);
  for (std::int32_t s : label) ++sizes[static_cast<std::size_t>(s)];
  for (std::size_t i = run.moves.size(); i-- > 0;) {
    const StrataMove& move = run.moves[i];
    std::int32_t at = 0;
    for (const LabelRun& part : move.runs) {
      require(part.first >= at && part.count >= 0 && part.count <= run.ranks - part.first,
              "a rank that moved does not exist");
      require(part.label >= 0 && part.label < move.strata, "a rank moved from a stratum that does not exist");
      at = part.first + part.count;
      for (std::int32_t rank = part.first; rank < at; ++rank) {
        std::int32_t& old = label[static_cast<std::size_t>(rank)];
        --sizes[static_cast<std::size_t>(old)];
        ++sizes[static_cast<std::size_t>(part.label)];
        old = part.label;
      }
    }
    const bool all_exist = std::all_of(sizes.begin() + move.strata, sizes.end(), [](std::int64_t n) { return n == 0; });
    require(all_exist, "a rank's stratum does not exist in an earlier window");
  }
}

void check_speeds(const Run& run) {
  std::int64_t sum = 0;
  for (const SpeedRun& s : run.speeds) {
    require(s.count >= 1, "the speeds of ranks are not counted");
    sum += s.count;
  }
  require(run.speeds.empty() || sum == run.ranks, "the speeds of ranks do not cover every rank once");
}

}  // namespace

void check(const Run& run) {
  check_placement(run);
  require(run.steps >= 0 && run.steps <= max_steps, "the number of steps is out of range");
  require(run.window >= 0 && run.hint_lag >= 0, "the window's length or the hint's lag is out of range");
  require(run.merged_steps >= 0 && run.lost_snapshots >= 0, "a number of steps or snapshots is negative");
  check_series(run);
  check_windows(run);
  check_order(run.strata);
  for (const Strata& s : run.strata) check_strata(run, s);
  check_moves(run);
  check_speeds(run);
}

format::Bytes encode_run(const Run& run) {
  format::Bytes out;
  cbor::Encoder encoder(out);
  put_record(encoder, run_fields(), run);
  return out;
}

void decode_run(format::View raw, Run& run) {
  cbor::Decoder decoder(raw);
  get_record(decoder, run_fields(), run);
  decoder.finish();
}

format::Bytes encode_windows(const Run& run) {
  format::Bytes out;
  cbor::Encoder encoder(out);
  put_table(encoder, window_columns(), run.windows);
  return out;
}

void decode_windows(format::View raw, Run& run) {
  cbor::Decoder decoder(raw);
  run.windows = get_table(decoder, window_columns());
  decoder.finish();
}

}  // namespace effort::record
