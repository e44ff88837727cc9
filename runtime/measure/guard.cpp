#include "runtime/measure/guard.hpp"

#include <algorithm>

namespace effort::measure {
namespace {

// Coarsening aims below the limit and refining stays below it, so that the guard does not oscillate.
constexpr double aim = 0.8, low = 0.25, refined = 0.5;
constexpr int looks_before_refining = 4;
// A longer period must save this share of the region's cost.  The error of an estimate grows with the period, because
// one interrupted call counts as many.
constexpr double worthwhile = 0.05;

}  // namespace

double Guard::seconds(std::span<const std::int64_t> begins, const PairCost& cost) const {
  double all = 0;
  for (std::size_t r = 0; r < begins.size(); ++r)
    all += pair_seconds(begins[r], r < periods_.size() ? periods_[r] : 1, cost);
  return all;
}

bool Guard::look(std::span<const std::int64_t> begins, double fixed, double computing, const PairCost& cost) {
  if (periods_.size() < begins.size()) periods_.resize(begins.size(), 1);
  const double budget = limit_ * computing, spent = fixed + seconds(begins, cost);
  share_ = spent / computing;
  quiet_looks_ = spent < low * budget ? quiet_looks_ + 1 : 0;
  if (spent > budget) return coarsen(begins, fixed, budget, cost);
  exhausted_ = false;
  if (quiet_looks_ < looks_before_refining) return false;
  quiet_looks_ = 0;
  return refine(begins, fixed, budget, cost);
}

/// Repeatedly doubles the period of the region whose timed calls cost most, until the target is met.
bool Guard::coarsen(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost) {
  bool changed = false;
  double spent = fixed + seconds(begins, cost);
  while (spent > aim * budget) {
    std::size_t worst = begins.size();
    double saving = 0;
    for (std::size_t r = 1; r < begins.size(); ++r) {
      const std::uint32_t next = 2 * periods_[r];
      if (next > longest_period || begins[r] / next < least_timed) continue;
      const double before = pair_seconds(begins[r], periods_[r], cost),
                   saved = before - pair_seconds(begins[r], next, cost);
      if (saved >= worthwhile * before && saved > saving) {
        saving = saved;
        worst = r;
      }
    }
    if (worst == begins.size()) break;
    periods_[worst] *= 2;
    spent -= saving;
    changed = true;
  }
  exhausted_ = spent > budget;
  return changed;
}

/// Halves periods, least called regions first, as long as the cost stays well below the limit.
bool Guard::refine(std::span<const std::int64_t> begins, double fixed, double budget, const PairCost& cost) {
  bool changed = false;
  double spent = fixed + seconds(begins, cost);
  for (;;) {
    std::size_t best = begins.size();
    double least = 0;
    for (std::size_t r = 1; r < begins.size(); ++r) {
      if (periods_[r] <= 1) continue;
      const double more = pair_seconds(begins[r], periods_[r] / 2, cost) - pair_seconds(begins[r], periods_[r], cost);
      if (best == begins.size() || more < least) {
        least = more;
        best = r;
      }
    }
    if (best == begins.size() || spent + least > refined * budget) return changed;
    periods_[best] /= 2;
    spent += least;
    changed = true;
  }
}

}  // namespace effort::measure
