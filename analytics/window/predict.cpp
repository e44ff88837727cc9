// The coming window's loads, region by region, and the arrays that every rank gets.
#include "analytics/window/state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace effort::window {
namespace {

using balance::PeakSteps;
using balance::n_predictors;

int count_flags(const std::vector<char>& flags) {
  return static_cast<int>(std::count(flags.begin(), flags.end(), char{1}));
}

}  // namespace

void Analyzer::State::predict(Communicator& nodes, Pass& pass) {
  if (!pass.stale) {
    prediction_errors(nodes, pass);
    observe(pass);
    if (find_work_trend(nodes, pass))
      find_deviations(nodes, pass);
    else
      deviation.clear();
    largest_observed = std::max(largest_observed, pass.agreed.largest_load);
  }
  gather_loads(nodes, pass, foretell(pass));
}

// How wrong each predictor would have been about this window, from the windows before.
void Analyzer::State::prediction_errors(Communicator& nodes, Pass& pass) {
  if (forecaster.windows() == 0) return;
  const std::size_t n = pass.rank_mean.size();
  // No predictor exceeds 3 times the largest load it was shown; a prediction is the sum of those of all rows.
  ExactSum sum(4 * std::max(largest_observed, pass.agreed.largest_load) * pass.input.n_ranks * rows);
  std::vector<double> foretold(n);
  const double middle = 0.5 * static_cast<double>(pass.input.first_step + pass.input.last_step);
  const auto add_errors = [&sum, n](const double* a, const double* b) {
    const std::size_t at = sum.reserve(1);
    for (std::size_t i = 0; i < n; ++i) sum.add_to(at, std::fabs(a[i] - b[i]));
  };
  const auto add_sizes = [&sum, n](const double* values) {
    const std::size_t at = sum.reserve(1);
    for (std::size_t i = 0; i < n; ++i) sum.add_to(at, std::fabs(values[i]));
  };
  for (int row = 0; row < rows; ++row) {
    const double* measured = pass.row_mean.data() + static_cast<std::size_t>(row) * n;
    const PeakSteps coming{pass.steps, row_spikes_before[row].count(pass.input.first_step, pass.steps)};
    for (int p = 0; p < n_predictors; ++p) {
      forecaster.predict(row, static_cast<Predictor>(p), 1.0, coming, foretold);
      if (static_cast<Predictor>(p) == Predictor::persistence)
        for (std::size_t i = 0; i < n; ++i) foretold[i] *= outlook(i, middle);
      add_errors(foretold.data(), measured);
    }
    add_sizes(measured);
  }
  const std::size_t own = rows * (n_predictors + std::size_t{1});
  if (last_predicted.size() == n) {
    add_errors(last_predicted.data(), pass.rank_mean.data());
    add_sizes(pass.rank_mean.data());
  } else {
    sum.reserve(2);
  }
  sum.reduce(nodes);
  std::vector<double> errors, scales;
  std::size_t next = 0;
  for (int row = 0; row < rows; ++row) {
    for (int p = 0; p < n_predictors; ++p) errors.push_back(sum[next++]);
    scales.push_back(sum[next++]);
  }
  choice.observe(errors, scales);
  if (sum[own + 1] > 0) pass.result.prediction_error = sum[own] / sum[own + 1];
}

void Analyzer::State::observe(Pass& pass) {
  const auto n = pass.rank_mean.size();
  const std::size_t row_size = n * static_cast<std::size_t>(pass.steps);
  std::vector<PeakSteps> peaks(static_cast<std::size_t>(rows));
  bool any = false;
  for (int row = 0; row < rows; ++row) {
    peaks[row] = {pass.steps, count_flags(pass.row_outlier[row])};
    any = any || peaks[row].peaks > 0;
    row_spikes_before[row] = row_spikes[row].period();
  }
  if (!any) return forecaster.observe(pass.row_mean);
  std::vector<double> base = pass.row_mean, peak(pass.row_mean.size(), 0.0);
  for (int row = 0; row + 1 < rows; ++row) {
    if (peaks[row].peaks == 0) continue;
    const auto values = pass.input.region_load.subspan(static_cast<std::size_t>(row) * row_size, row_size);
    flagged_means(values, pass.row_outlier[row], 0, std::span<double>(base).subspan(row * n, n));
    flagged_means(values, pass.row_outlier[row], 1, std::span<double>(peak).subspan(row * n, n));
  }
  peaks.back() = {pass.steps, 0};
  forecaster.observe(pass.row_mean, base, peak, peaks);
}

// Between two rebalances there may be no second window to see a trend in; the work done shows it within one.
// False, on all nodes, where the work says nothing about loads.
bool Analyzer::State::find_work_trend(Communicator& nodes, const Pass& pass) {
  work_trend.clear();
  work_middle = 0.5 * static_cast<double>(pass.input.first_step + pass.input.last_step);
  const auto known = [](double cost) { return cost >= 0; };
  if (pass.foretelling.empty() || !std::all_of(pass.foretelling.begin(), pass.foretelling.end(), known)) return false;
  if (pass.steps < balance::least_steps_of_growth) return false;
  const std::size_t n = pass.rank_mean.size(), steps = static_cast<std::size_t>(pass.steps);
  ExactSum sum(2 * pass.agreed.largest_load * pass.input.n_ranks);
  const std::size_t at = sum.reserve(2);
  std::vector<double> load(steps);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(load.begin(), load.end(), 0.0);
    for (std::size_t u = 0; u < pass.foretelling.size(); ++u)
      for (std::size_t s = 0; s < steps; ++s) load[s] += pass.foretelling[u] * pass.input.work[(u * n + i) * steps + s];
    work_trend.push_back(balance::line_through(load));
    const balance::HalvesErrors errors = balance::halves_errors(load);
    sum.add_to(at, errors.line);
    sum.add_to(at + 1, errors.mean);
  }
  sum.reduce(nodes);
  trust.observe({sum[at], sum[at + 1]});
  return true;
}

// What ranks took beyond their work, and how much of what they did in the window before is found again.
void Analyzer::State::find_deviations(Communicator& nodes, const Pass& pass) {
  const std::vector<double> before = std::exchange(deviation, {});
  const std::size_t n = pass.rank_mean.size();
  const double bound = 2 * pass.agreed.largest_load * pass.input.n_ranks;
  ExactSum total(bound);
  total.reserve(2);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(work_trend[i].mean > 0)) continue;
    total.add_to(0, pass.rank_mean[i]);
    total.add_to(1, work_trend[i].mean);
  }
  total.reduce(nodes);
  if (!(total[0] > 0 && total[1] > 0)) return;
  deviation.assign(n, 0.0);
  ExactSum sum(bound);
  sum.reserve(3);
  for (std::size_t i = 0; i < n; ++i) {
    const double work = work_trend[i].mean;
    if (!(work > 0)) continue;
    deviation[i] = std::clamp(pass.rank_mean[i] / work * total[1] / total[0] - 1, -1.0, 1.0);
    if (before.size() != n) continue;
    sum.add_to(0, work * before[i] * deviation[i]);
    sum.add_to(1, work * before[i] * before[i]);
    sum.add_to(2, work);
  }
  sum.reduce(nodes);
  lasting.observe(sum[0], sum[1], sum[2]);
}

// What a rank's last load is multiplied by to be that of the steps around another middle.
double Analyzer::State::outlook(std::size_t local, double middle) const {
  if (work_trend.empty() || deviation.empty()) return 1.0;
  return balance::growth(work_trend[local], middle - work_middle, trust.share()) * lasting.keep(deviation[local]);
}

// [n_local] load per step in the WINDOW steps after delivery.
std::vector<double> Analyzer::State::foretell(Pass& pass) {
  const std::size_t n = pass.rank_mean.size();
  Result& result = pass.result;
  result.predictor.assign(static_cast<std::size_t>(pass.input.n_regions), 0);
  if (pass.stale) {
    last_predicted.clear();
    const std::int64_t fresh = pass.input.last_step + 1 - std::max(fresh_from, pass.input.first_step);
    if (fresh <= 0) return pass.rank_mean;
    // Only the steps of the present distribution say anything about the coming ones.
    std::vector<char> flags(static_cast<std::size_t>(pass.steps), 0);
    std::fill(flags.end() - fresh, flags.end(), char{1});
    std::vector<double> mean(n);
    flagged_means(pass.input.rank_load, flags, 1, mean);
    return mean;
  }
  const std::int64_t begin = pass.input.last_step + 1 + settings.hint_lag;
  const double ahead = 1.0 + static_cast<double>(settings.hint_lag) / settings.window;
  const double middle = static_cast<double>(begin) + 0.5 * (settings.window - 1);
  std::vector<double> sum(n, 0.0), one(n);
  for (int row = 0; row < rows; ++row) {
    const Predictor kind = choice.of(row);
    const PeakSteps coming{settings.window, row_spikes[row].period().count(begin, settings.window)};
    forecaster.predict(row, kind, ahead, coming, one);
    // The other predictors have seen the trend already, or have reasons not to follow it.
    for (std::size_t i = 0; i < n; ++i) sum[i] += kind == Predictor::persistence ? one[i] * outlook(i, middle) : one[i];
    if (row < pass.input.n_regions) result.predictor[row] = static_cast<std::int32_t>(kind);
  }
  for (double& x : sum) x = std::max(x, 0.0);
  last_predicted = sum;
  return sum;
}

void Analyzer::State::gather_loads(Communicator& nodes, Pass& pass, const std::vector<double>& predicted) {
  Result& result = pass.result;
  const std::size_t n = pass.rank_mean.size();
  std::vector<double> mine = pass.rank_mean;
  mine.insert(mine.end(), predicted.begin(), predicted.end());
  const Gathered<double> all = nodes.allgatherv(std::span<const double>(mine));
  result.load.resize(static_cast<std::size_t>(n_ranks));
  result.predicted.resize(static_cast<std::size_t>(n_ranks));
  for (int node = 0; node < nodes.size(); ++node) {
    const auto ids = layout.of(node);
    const auto values = all.of(node);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      result.load[ids[i]] = values[i];
      result.predicted[ids[i]] = values[ids.size() + i];
    }
  }
  result.local_region_load.assign(pass.row_mean.begin(), pass.row_mean.end() - static_cast<std::ptrdiff_t>(n));
}

}  // namespace effort::window
