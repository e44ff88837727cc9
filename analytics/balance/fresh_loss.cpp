#include "analytics/balance/fresh_loss.hpp"

namespace effort::balance {
namespace {

// Factor per step by which earlier peaks fade in their rate: a memory of 200 steps.
constexpr double rate_memory = 0.995;
// Weight of the newest division in the mean loss of real ones.
constexpr double real_gain = 0.5;

}  // namespace

void FreshLoss::step(double mean, double loss) {
  cycle_.observe(mean, loss);
  if (cycle_.period() != static_cast<int>(phases_.size()))
    phases_.assign(static_cast<std::size_t>(cycle_.period()), {});
  steps_ = rate_memory * steps_ + 1;
  peaks_ *= rate_memory;
}

void FreshLoss::learn(int step, std::span<const TrialLoss> trials) {
  for (const TrialLoss& trial : trials) {
    const std::size_t p = index(trial.predictor);
    all_[p].observe(trial.age, trial.loss);
    if (!phases_.empty()) phases_[phase(step - trial.age)].curves[p].observe(trial.age, trial.loss);
  }
}

void FreshLoss::learn_real(int step, int age, double loss, double expected) {
  if (age > static_cast<int>(phases_.size())) return;
  double& known = phases_[phase(step)].real[static_cast<std::size_t>(age)];
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

void FreshLoss::tabulate(Predictor predictor, int step, int n, std::span<const double> reference,
                         std::vector<double>& out) const {
  const LossCurve& all = all_[index(predictor)];
  if (phases_.empty()) return all.tabulate(n, out, reference);
  const Phase& made = phases_[phase(step)];
  made.curves[index(predictor)].drawn_to(all).tabulate(n, out, reference);
  for (std::size_t a = 1; a <= std::min(phases_.size(), static_cast<std::size_t>(n)); ++a)
    if (made.real[a] > 0) out[a] = std::min(out[a], made.real[a]);
}

std::vector<double> FreshLoss::reference(int n) const {
  std::vector<double> out;
  all_[index(Predictor::last)].tabulate(n, out);
  return out;
}

}  // namespace effort::balance
