#include "runtime/engine/window_input.hpp"

#include <algorithm>
#include <utility>

namespace effort::engine {

using measure::Definition;

namespace {

/// [n_local][steps] += the columns of [n_local][columns] from `first` on.
void add_columns(double* to, const std::vector<double>& from, int n_local, int columns, int first, int steps) {
  for (int l = 0; l < n_local; ++l)
    for (int c = 0; c < steps; ++c)
      to[static_cast<std::size_t>(l) * static_cast<std::size_t>(steps) + static_cast<std::size_t>(c)] +=
          from[static_cast<std::size_t>(l) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(first + c)];
}

}  // namespace

window::Steps WindowInput::steps(const WindowBlock& block, std::int64_t from, std::int64_t last,
                                 std::span<const window::Rebalance> rebalances) {
  const auto columns = static_cast<std::size_t>(block.steps), first = static_cast<std::size_t>(from - block.first_step),
             end = static_cast<std::size_t>(last + 1 - block.first_step);
  const auto n_local = static_cast<std::size_t>(ranks_.size());
  const auto cut = [&](const std::vector<double>& all, double* to) {
    for (std::size_t l = 0; l < n_local; ++l)
      to = std::copy(all.data() + l * columns + first, all.data() + l * columns + end, to);
  };
  const std::size_t per_row = n_local * (end - first), n_units = names_.run().of(Definition::unit).size();
  step_load_.assign(per_row, 0.0);
  cut(block.load, step_load_.data());
  step_work_.assign(n_units * per_row, 0.0);
  for (const auto& [unit, values] : block.work)
    cut(values, step_work_.data() + position(names_.global(Definition::unit, unit)) * per_row);
  return {from, last, n_ranks_, ranks_, step_load_, static_cast<int>(n_units), step_work_, rebalances, false};
}

window::Input WindowInput::window(const WindowBlock& block, std::int64_t since, std::int64_t last) {
  const auto n_local = static_cast<int>(ranks_.size());
  const auto first = static_cast<int>(std::max<std::int64_t>(0, since - block.first_step));
  const auto steps = static_cast<int>(last + 1 - block.first_step) - first;
  const auto per_row = static_cast<std::size_t>(n_local) * static_cast<std::size_t>(steps);
  const auto& regions = names_.run().of(Definition::region);
  const auto& units = names_.run().of(Definition::unit);
  const auto& metrics = names_.run().of(Definition::metric);
  std::size_t load_metric = 0;
  while (load_metric < metrics.size() && metrics[load_metric].name != settings_.load_metric) ++load_metric;

  region_load_.assign(regions.size() * per_row, 0.0);
  for (const auto& [key, values] : block.series) {
    const RunSeries run_key = names_.global(key);
    if (names_.run().at(Definition::region, run_key.region).kind == measure::Kind::compute &&
        position(run_key.metric) == load_metric)
      add_columns(region_load_.data() + position(run_key.region) * per_row, values, n_local, block.steps, first, steps);
  }
  work_.assign(units.size() * per_row, 0.0);
  for (const auto& [unit, values] : block.work)
    add_columns(work_.data() + position(names_.global(Definition::unit, unit)) * per_row, values, n_local, block.steps,
                first, steps);
  for (auto [to, from] :
       {std::pair{&rank_load_, &block.load}, {&rank_wait_, &block.wait}, {&step_wall_, &block.wall}}) {
    to->assign(per_row, 0.0);
    add_columns(to->data(), *from, n_local, block.steps, first, steps);
  }

  for (auto [to, from] : {std::pair{&delay_, &block.delay}, {&transfer_, &block.transfer}}) {
    to->clear();
    if (from->empty()) continue;
    to->assign(per_row, 0.0);
    add_columns(to->data(), *from, n_local, block.steps, first, steps);
  }

  window::Input in;
  in.first_step = block.first_step + first;
  in.last_step = last;
  in.n_ranks = n_ranks_;
  in.ranks = ranks_;
  in.n_regions = static_cast<int>(regions.size());
  in.region_load = region_load_;
  in.rank_load = rank_load_;
  in.n_units = static_cast<int>(units.size());
  in.work = work_;
  // Elapsed seconds are only comparable with a load in seconds; hints from counts must not depend on timing.
  if (settings_.load_metric == "time" || settings_.load_metric == "cpu_time") {
    in.rank_wait = rank_wait_;
    in.step_wall = step_wall_;
  }
  in.delay = delay_;
  in.transfer = transfer_;
  const auto from = block.synchronized.begin() + first;
  in.synchronized_steps = std::all_of(from, from + steps, [](bool met) { return met; });
  return in;
}

}  // namespace effort::engine
