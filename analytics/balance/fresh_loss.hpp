// The loss of a fresh division of the work, by predictor, age, and place in the program's cycle; and its loss in peaks.
#pragma once

#include "analytics/balance/cycle.hpp"
#include "analytics/balance/forecast.hpp"
#include "analytics/balance/loss.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace effort::balance {

/// Loss of a step under a trial.
struct TrialLoss {
  Predictor predictor{};
  int age = 0;
  double loss = 0;
};

/// Learns the losses of each predictor's divisions from trials (see Trial).  Steps are numbered from 1.
class FreshLoss {
 public:
  static constexpr double peak_gain = 0.3;  ///< weight of the newest peak in the mean loss of peaks

  /// Adds a step of any kind to the search for the program's cycle.
  /// @param mean  mean load, > 0
  /// @param loss  under the trial of age 1 of the last-value predictor; negative: not known
  void step(double mean, double loss);
  /// Learns from the trials of an ordinary step.
  /// @param made_at  step after which the present division was made; 0: never.  If that division anticipated the work
  ///                 of the next step, trials that began before it are skipped: they show its loss, not their own.
  void learn(int step, std::span<const TrialLoss> trials, int made_at);
  /// Learns from a real division, made after the given step.  Within one cycle it may lose less than trials say: if the
  /// mesh is adapted in the same step, the program divides the new mesh, but trials use the loads of the old one.
  /// Later divisions in the same phase then correct the learned loss in both directions.
  /// @param predictor  the one that made the division
  /// @param expected   the division's loss according to trials
  void learn_real(Predictor predictor, int step, int age, double loss, double expected);
  /// Learns from the trials of a peak.
  /// @param weight    mean load of the step, in usual mean loads
  /// @param repeated  the present distribution has had a peak before, so the mean of its steps contains one
  void learn_peak(std::span<const TrialLoss> trials, double weight, bool repeated);

  bool known(Predictor predictor) const { return all_[index(predictor)].known(); }
  /// Writes to out[1 .. n] the losses at ages 1 to n of a division that the predictor makes from a step's loads.
  /// @param reference  curve of the last-value predictor, see LossCurve::tabulate
  void tabulate(Predictor predictor, int step, int n, std::span<const double> reference,
                std::vector<double>& out) const;
  /// A division made after the given step may anticipate the work of the next one.  Returns the loss that this would
  /// save in that step, times the chance of it.  0 if the work does not change there, or if an earlier division in this
  /// phase has shown whether it anticipates.
  double trial_gain(Predictor predictor, int step) const;
  /// Whether a division made after the step anticipates the work of the next one, or may do so.  The trial that began
  /// with such a division does not show the loss without it.
  bool may_anticipate(Predictor predictor, int step) const;
  std::vector<double> reference(int n) const;
  /// Steps of the program's cycle; 1: none found.
  int period() const { return std::max(1, static_cast<int>(cycle_phases_.size())); }

  /// Peaks per step.
  double peak_rate() const { return steps_ > 0 ? peaks_ / steps_ : 0.0; }
  /// Loss of a peak under a division by the predictor, in usual mean loads; `otherwise` if not known.
  double in_peak(Predictor predictor, double otherwise) const {
    return peak_count_[index(predictor)] > 0 ? peak_[index(predictor)] : otherwise;
  }

 private:
  using Curves = std::array<LossCurve, n_predictors>;
  struct CyclePhase {
    Curves curves;
    std::array<double, Cycle::longest + 1> real{};  // loss by age of real divisions that lost less; 0: none
    bool tried = false, anticipates = false;        // whether a division already fits the work of the next step
  };
  static std::size_t index(Predictor predictor) { return static_cast<std::size_t>(predictor); }
  std::size_t cycle_phase(int step) const {
    const int n = static_cast<int>(cycle_phases_.size());
    return static_cast<std::size_t>((step % n + n) % n);
  }
  bool anticipates(int step) const { return !cycle_phases_.empty() && cycle_phases_[cycle_phase(step)].anticipates; }
  /// Losses, according to trials, in the first step of a division made after a given step and of one made a step later.
  struct Change {
    double now = 0, later = 0;
    bool clear() const;
  };
  Change change_after(Predictor predictor, int step) const;
  void tabulate_made_at(Predictor predictor, int step, int n, std::span<const double> reference,
                        std::vector<double>& out) const;

  Cycle cycle_;
  Curves all_;
  std::vector<CyclePhase> cycle_phases_;  // of divisions made in each phase of the cycle; empty: no cycle
  std::array<double, n_predictors> peak_{};
  std::array<int, n_predictors> peak_count_{};
  double peaks_ = 0, steps_ = 0;  // counts over the run, fading
  int failed_trials_ = 0;         // divisions that did not anticipate the next step's work, although they could have
  int next_trial_ = 0;            // earliest step of the next trial
};

}  // namespace effort::balance
