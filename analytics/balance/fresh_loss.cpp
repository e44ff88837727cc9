#include "analytics/balance/fresh_loss.hpp"

namespace effort::balance {
namespace {

// Factor per step by which earlier peaks fade in the rate of peaks: a memory of 200 steps.
constexpr double rate_memory = 0.995;
// Weight of the newest division in the mean loss of real ones.
constexpr double real_gain = 0.5;
// The work changes after a phase if a division made in it loses more than clear_loss in the next step, and a division
// made one step later loses less than clear_share of that.
constexpr double clear_loss = 0.1, clear_share = 0.5;
// After this many failed trials, the time to the next one no longer doubles.
constexpr int most_failed_trials = 8;

}  // namespace

bool FreshLoss::Change::clear() const { return now > clear_loss && later < clear_share * now; }

void FreshLoss::step(double mean, double loss) {
  cycle_.observe(mean, loss);
  if (cycle_.period() != static_cast<int>(cycle_phases_.size()))
    cycle_phases_.assign(static_cast<std::size_t>(cycle_.period()), {});
  steps_ = rate_memory * steps_ + 1;
  peaks_ *= rate_memory;
}

void FreshLoss::learn(int step, std::span<const TrialLoss> trials, int made_at) {
  const bool anticipated = made_at > 0 && anticipates(made_at);
  for (const TrialLoss& trial : trials) {
    if (anticipated && step - trial.age <= made_at) continue;
    const std::size_t p = index(trial.predictor);
    all_[p].observe(trial.age, trial.loss);
    if (!cycle_phases_.empty()) cycle_phases_[cycle_phase(step - trial.age)].curves[p].observe(trial.age, trial.loss);
  }
}

void FreshLoss::learn_real(Predictor predictor, int step, int age, double loss, double expected) {
  if (age > static_cast<int>(cycle_phases_.size())) return;
  CyclePhase& made = cycle_phases_[cycle_phase(step)];
  const Change change = change_after(predictor, step);
  if (age == 1 && change.clear()) {
    made.anticipates = loss < 0.5 * (change.now + change.later);
    if (!made.anticipates && !made.tried)
      next_trial_ = step + (period() << std::min(++failed_trials_, most_failed_trials));
    made.tried = true;
  }
  double& known = made.real[static_cast<std::size_t>(age)];
  if (known <= 0 && loss > expected) return;
  known += (known > 0 ? real_gain : 1.0) * (loss - known);
}

void FreshLoss::learn_peak(std::span<const TrialLoss> trials, double weight, bool repeated) {
  std::array<double, n_predictors> sum{};
  std::array<int, n_predictors> count{};
  for (const TrialLoss& trial : trials) {
    sum[index(trial.predictor)] += weight * trial.loss;
    ++count[index(trial.predictor)];
  }
  for (std::size_t p = 0; p < sum.size(); ++p) {
    if (count[p] == 0 || (p == index(Predictor::mean) && !repeated)) continue;
    peak_[p] += (peak_count_[p]++ == 0 ? 1.0 : peak_gain) * (sum[p] / count[p] - peak_[p]);
  }
  ++peaks_;
}

FreshLoss::Change FreshLoss::change_after(Predictor predictor, int step) const {
  const auto first = [&](int made_at) {
    const std::size_t p = index(predictor);
    std::vector<double> out;
    cycle_phases_[cycle_phase(made_at)].curves[p].drawn_to(all_[p]).tabulate(1, out);
    return out[1];
  };
  return {first(step), first(step + 1)};
}

double FreshLoss::trial_gain(Predictor predictor, int step) const {
  if (cycle_phases_.empty() || cycle_phases_[cycle_phase(step)].tried || step < next_trial_) return 0;
  const Change change = change_after(predictor, step);
  return change.clear() ? (change.now - change.later) / (2 + failed_trials_) : 0;
}

bool FreshLoss::may_anticipate(Predictor predictor, int step) const {
  if (cycle_phases_.empty()) return false;
  return anticipates(step) || (!cycle_phases_[cycle_phase(step)].tried && change_after(predictor, step).clear());
}

void FreshLoss::tabulate_made_at(Predictor predictor, int step, int n, std::span<const double> reference,
                                 std::vector<double>& out) const {
  const CyclePhase& made = cycle_phases_[cycle_phase(step)];
  made.curves[index(predictor)].drawn_to(all_[index(predictor)]).tabulate(n, out, reference);
  for (std::size_t a = 1; a <= std::min(cycle_phases_.size(), static_cast<std::size_t>(n)); ++a)
    if (made.real[a] > 0) out[a] = std::min(out[a], made.real[a]);
}

void FreshLoss::tabulate(Predictor predictor, int step, int n, std::span<const double> reference,
                         std::vector<double>& out) const {
  if (cycle_phases_.empty()) return all_[index(predictor)].tabulate(n, out, reference);
  tabulate_made_at(predictor, step, n, reference, out);
  if (!anticipates(step)) return;
  // Such a division is as good as one made a step later.
  std::vector<double> later;
  tabulate_made_at(predictor, step + 1, n, reference, later);
  for (std::size_t a = 1; a <= static_cast<std::size_t>(n); ++a)
    out[a] = std::min(out[a], later[std::max<std::size_t>(1, a - 1)]);
}

std::vector<double> FreshLoss::reference(int n) const {
  std::vector<double> out;
  all_[index(Predictor::last)].tabulate(n, out);
  return out;
}

}  // namespace effort::balance
