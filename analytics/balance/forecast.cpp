#include "analytics/balance/forecast.hpp"

#include <algorithm>
#include <bit>

namespace effort::balance {
namespace {

constexpr double recent_gain = 0.5, smooth_gain = 0.2;     // means over about 3 and 10 steps
constexpr double peak_gain = 0.3;                          // mean over about 5 peaks
constexpr Gains line_gains[] = {{0.5, 0.2}, {0.2, 0.05}};  // lines through about 3 and 10 steps
constexpr double least_share = 0.2;       // lower bound of a line's prediction, as a share of the level
constexpr double per_work_gain = 0.05;    // time per work: a mean over about 20 steps
constexpr double least_work = 0.1;        // that time per work is learned from, as a share of the mean load
constexpr double smallest_weight = 0.05;  // a trial's least load, as a share of the mean: no weight exceeds 20

// A gain that weights the first steps equally.
double gain(double lasting, int steps) { return std::max(lasting, 1.0 / steps); }

}  // namespace

int steps_needed(Predictor predictor) {
  switch (predictor) {
    case Predictor::last:
    case Predictor::work:
    case Predictor::peak: return 1;
    case Predictor::recent:
    case Predictor::carried_recent: return 2;
    case Predictor::trend:
    case Predictor::work_trend: return 4;
    case Predictor::smooth:
    case Predictor::carried_smooth: return 5;
    case Predictor::mean:
    case Predictor::slow_trend: return 10;
  }
  return 1;
}

int age_class(int age) {
  return std::min(static_cast<int>(std::bit_width(static_cast<unsigned>(std::max(age, 1) - 1))), n_age_classes - 1);
}

void Forecast::reset(std::size_t columns) {
  if (columns != last_.size()) {
    per_work_.assign(columns, 1.0);
    per_work_steps_.assign(per_work_.size(), 0);
  }
  carried_ = peaks_ = 0;
  for (auto* values : {&carried_recent_, &carried_smooth_, &peak_}) values->assign(columns, 0.0);
  trials_.clear();
  restart(columns);
}

void Forecast::redistribute(std::span<const double> change) {
  learn_peak();
  for (auto* values : {&carried_recent_, &carried_smooth_, &peak_})
    for (std::size_t i = 0; i < change.size(); ++i) (*values)[i] *= change[i];
  for (Trial& trial : trials_)
    for (std::size_t i = 0; i < change.size(); ++i) trial.weight[i] /= change[i];
  restart(columns());
}

void Forecast::restart(std::size_t columns) {
  steps_ = ordinary_ = worked_ = 0;
  for (auto* values : {&last_, &recent_, &smooth_, &mean_}) values->assign(columns, 0.0);
  held_.clear();
}

void Forecast::observe(std::span<const double> load, std::span<const double> work, StepKind kind) {
  ++steps_;
  learn_work(load, work, kind == StepKind::peak);
  for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += (load[i] - mean_[i]) / steps_;
  if (kind != StepKind::new_level) learn_peak();
  if (kind == StepKind::peak && ordinary_ > 0) {
    held_.assign(load.begin(), load.end());
  } else {
    if (kind == StepKind::new_level && !held_.empty()) learn(held_);
    held_.clear();
    learn(load);
  }
  remember();
}

void Forecast::begin_regime(int steps) {
  ordinary_ = 1;
  recent_ = smooth_ = carried_recent_ = carried_smooth_ = last_;
  carried_ = 1;
  for (Line& line : line_) line.learn(last_, line_gains[0], 1);
  std::erase_if(trials_, [&](const Trial& trial) { return trial.predictor != Predictor::mean && trial.age >= steps; });
}

void Forecast::learn(std::span<const double> load) {
  ++ordinary_;
  const double a = gain(recent_gain, ordinary_), b = gain(smooth_gain, ordinary_);
  for (std::size_t i = 0; i < load.size(); ++i) {
    last_[i] = load[i];
    recent_[i] += a * (load[i] - recent_[i]);
    smooth_[i] += b * (load[i] - smooth_[i]);
  }
  for (std::size_t k = 0; k < line_.size(); ++k) line_[k].learn(load, line_gains[k], ordinary_);
  ++carried_;
  const double c = gain(recent_gain, carried_), d = gain(smooth_gain, carried_);
  for (std::size_t i = 0; i < load.size(); ++i) {
    carried_recent_[i] += c * (load[i] - carried_recent_[i]);
    carried_smooth_[i] += d * (load[i] - carried_smooth_[i]);
  }
}

// If the loads of the previous step are still held, it was a peak.
void Forecast::learn_peak() {
  if (held_.empty()) return;
  const double a = gain(peak_gain, ++peaks_);
  for (std::size_t i = 0; i < held_.size(); ++i) peak_[i] += a * (held_[i] - peak_[i]);
}

void Forecast::Line::learn(std::span<const double> values, Gains gains, int steps) {
  if (steps == 1) {
    level.assign(values.begin(), values.end());
    slope.assign(values.size(), 0.0);
    return;
  }
  const double up = gain(gains.level, steps), along = gain(gains.slope, steps - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double before = level[i];
    level[i] = up * values[i] + (1 - up) * (before + slope[i]);
    slope[i] += along * (level[i] - before - slope[i]);
  }
}

void Forecast::learn_work(std::span<const double> load, std::span<const double> work, bool peak) {
  if (work.empty()) {
    worked_ = 0;
    return;
  }
  ++worked_;
  work_.assign(work.begin(), work.end());
  work_line_.learn(work, line_gains[0], worked_);
  if (peak) return;
  // If a rank has hardly any work, its time says little about what its work costs.
  for (std::size_t i = 0; i < work.size(); ++i)
    if (work[i] > 0 && work[i] >= least_work * work.back())
      per_work_[i] += gain(per_work_gain, ++per_work_steps_[i]) * (load[i] / work[i] - per_work_[i]);
}

bool Forecast::knows(Predictor predictor) const {
  const auto steps = [&] {
    switch (predictor) {
      case Predictor::mean: return steps_;
      case Predictor::work:
      case Predictor::work_trend: return worked_;
      case Predictor::carried_recent:
      case Predictor::carried_smooth: return carried_;
      case Predictor::peak: return peaks_;
      default: return ordinary_;
    }
  };
  return steps() >= steps_needed(predictor);
}

void Forecast::predict(Predictor predictor, double ahead, std::span<double> out) const {
  const auto copy = [&](const std::vector<double>& values) { std::copy(values.begin(), values.end(), out.begin()); };
  const auto follow = [&](const Line& line, const std::vector<double>& level) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = std::max(least_share * level[i], line.level[i] + ahead * line.slope[i]);
  };
  switch (predictor) {
    case Predictor::last: return copy(last_);
    case Predictor::recent: return copy(recent_);
    case Predictor::smooth: return copy(smooth_);
    case Predictor::mean: return copy(mean_);
    case Predictor::trend: return follow(line_[0], recent_);
    case Predictor::slow_trend: return follow(line_[1], smooth_);
    case Predictor::work: return predict_from_work(0.0, out);
    case Predictor::work_trend: return predict_from_work(ahead, out);
    case Predictor::carried_recent: return copy(carried_recent_);
    case Predictor::carried_smooth: return copy(carried_smooth_);
    case Predictor::peak: return copy(peak_);
  }
}

void Forecast::predict_from_work(double ahead, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double work =
        ahead > 0 ? std::max(least_share * work_[i], work_line_.level[i] + ahead * work_line_.slope[i]) : work_[i];
    out[i] = per_work_[i] * work;
  }
}

// Keeps one trial per age class.  The oldest one stays until it leaves its class, so that each class is observed at all
// of its ages.
void Forecast::remember() {
  std::vector<Trial> kept;
  std::array<int, n_age_classes> occupant{};  // age of the trials kept in a class; 0: none
  for (Trial& trial : trials_) {
    const int age = trial.age + 1;
    int& kept_age = occupant[static_cast<std::size_t>(age_class(age))];
    if (age > oldest_age || (kept_age != 0 && kept_age != age)) continue;
    kept_age = age;
    trial.age = age;
    kept.push_back(std::move(trial));
  }
  trials_ = std::move(kept);
  std::vector<double> predicted(columns());
  for (int p = 0; p < n_predictors; ++p) {
    const auto predictor = static_cast<Predictor>(p);
    if (!knows(predictor)) continue;
    predict(predictor, 1.0, predicted);
    const double mean = predicted.back();
    if (!(mean > 0)) continue;
    Trial trial{predictor, 1, std::vector<double>(columns())};
    for (std::size_t i = 0; i < predicted.size(); ++i)
      trial.weight[i] = mean / std::max(predicted[i], smallest_weight * mean);
    trials_.push_back(std::move(trial));
  }
}

std::size_t Forecast::bytes() const {
  return ((15 + trials_.size()) * columns() + held_.size()) * sizeof(double) + trials_.size() * sizeof(Trial);
}

}  // namespace effort::balance
