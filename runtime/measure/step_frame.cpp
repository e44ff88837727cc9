#include "runtime/measure/step_frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace effort::measure {

DerivedMetrics::DerivedMetrics(const std::vector<std::string>& metrics, const std::string& load_unit,
                               Registry& registry) {
  const auto define = [&](const char* name, const std::string& unit, std::uint32_t& id) {
    if (std::find(metrics.begin(), metrics.end(), name) != metrics.end()) id = registry.metric(name, unit.c_str()).id;
  };
  define("calls", "1", calls);
  define("thread_sum", load_unit, thread_sum);
  define("thread_max", load_unit, thread_max);
  define("thread_imbalance", load_unit, thread_imbalance);
}

void StepFrame::define(const Defined& d) {
  if (d.what == Definition::region) kinds_.push_back(d.kind);
  if (d.what == Definition::metric) ++n_series_;
  if (d.what == Definition::unit) work_.push_back(0);
  values_.resize(n_series_ * kinds_.size());
  if (derived_.of_threads()) teams_.resize(kinds_.size());
  if (!calls_.empty()) count_calls();
}

void StepFrame::begin() noexcept { load_ = measuring_ = wait = cpu_wait = 0; }

void StepFrame::fold(std::uint32_t series, std::uint32_t region, double value, bool sum) {
  double& v = this->value(series, region);
  v = sum ? v + value : std::max(v, value);
  if (series != rule_.metric || teams_.empty()) return;
  Team& team = teams_[region];
  team.sum += value;
  team.most = std::max(team.most, value);
  ++team.threads;
}

void StepFrame::add_calls(std::uint32_t region, double n) {
  if (derived_.calls != 0) value(derived_.calls, region) += n;
  if (!calls_.empty()) calls_[region] += n;
}

void StepFrame::add_thread(double load, double measuring) noexcept {
  load_ = rule_.sums() ? load_ + load : std::max(load_, load);
  measuring_ = std::max(measuring_, measuring);
}

/// Writes the sum, the maximum, and the excess of the busiest thread over the mean of the participating threads.  These
/// are amounts, not ratios, so they can be summed over steps.
void StepFrame::write_teams() {
  for (std::size_t r = 0; r < teams_.size(); ++r) {
    const Team team = std::exchange(teams_[r], Team());
    if (team.threads == 0) continue;
    const auto set = [&](std::uint32_t metric, double amount) {
      if (metric != 0) value(metric, r) = amount;
    };
    set(derived_.thread_sum, team.sum);
    set(derived_.thread_max, team.most);
    set(derived_.thread_imbalance, team.most - team.sum / team.threads);
  }
}

void StepFrame::write(FrameHeader& h, RecordStream& out) {
  write_teams();
  h.load = load_;
  h.wait = wait;
  const std::size_t at = out.bytes().size();
  out.append(h);
  const auto entry = [&](std::uint32_t region, std::uint32_t series, double& value) {
    if (value == 0) return;
    out.append(Entry{region, static_cast<std::uint16_t>(series), 0, value});
    ++h.n_entries;
    value = 0;
  };
  for (std::uint32_t m = 0; m < n_series_; ++m)
    for (std::uint32_t r = 0; r < n_regions(); ++r) entry(r, m, value(m, r));
  for (std::uint32_t r = 0; r < calls_.size(); ++r) entry(r, calls_series, calls_[r]);
  for (std::size_t c = 0; c < step_metrics_.size(); ++c) {
    // The values of a frame of several steps are later divided equally among them, which must not change a state.
    if (step_metrics_[c].value) step_values_[c] *= static_cast<double>(h.last_step - h.first_step + 1);
    entry(whole_step, step_metrics_[c].id, step_values_[c]);
  }
  for (std::uint32_t u = 0; u < work_.size(); ++u) entry(0, work_series + u, work_[u]);
  h.record = {static_cast<std::uint32_t>(out.bytes().size() - at), RecordType::frame, 0};
  std::memcpy(out.bytes().data() + at, &h, sizeof h);
}

}  // namespace effort::measure
