#include "analytics/cluster/dip.hpp"

#include <algorithm>
#include <vector>

namespace effort::cluster {
namespace {

// Heights are counted in objects: the distribution function steps from i to i + 1 at sorted[i].
class Dip {
 public:
  explicit Dip(std::span<const double> sorted)
      : x_(sorted),
        n_(static_cast<int>(sorted.size())),
        minorant_(sorted.size()),
        majorant_(sorted.size()),
        lower_(sorted.size() + 1),
        upper_(sorted.size() + 1) {
    fit_minorant();
    fit_majorant();
  }

  double value() {
    int low = 0, high = n_ - 1;
    double dip = 1;  // no function is closer than half a step
    for (;;) {
      walk(low, high);
      const double apart = largest_gap();
      if (apart < dip) break;
      dip = std::max({dip, below_minorant(), above_majorant()});
      const int new_low = lower_[lower_at_], new_high = upper_[upper_at_];
      if (low == new_low && high == new_high) break;
      low = new_low;
      high = new_high;
    }
    return dip / (2.0 * n_);
  }

 private:
  double x(int i) const { return x_[static_cast<std::size_t>(i)]; }

  // For each point, its predecessor on the greatest convex minorant of the points up to it.
  void fit_minorant() {
    minorant_[0] = 0;
    for (int j = 1; j < n_; ++j) {
      int before = j - 1;
      while (before != 0) {
        const int further = minorant_[static_cast<std::size_t>(before)];
        if ((x(j) - x(before)) * (before - further) < (x(before) - x(further)) * (j - before)) break;
        before = further;
      }
      minorant_[static_cast<std::size_t>(j)] = before;
    }
  }

  // For each point, its successor on the least concave majorant of the points from it on.
  void fit_majorant() {
    majorant_[static_cast<std::size_t>(n_ - 1)] = n_ - 1;
    for (int j = n_ - 2; j >= 0; --j) {
      int after = j + 1;
      while (after != n_ - 1) {
        const int further = majorant_[static_cast<std::size_t>(after)];
        if ((x(j) - x(after)) * (after - further) < (x(after) - x(further)) * (j - after)) break;
        after = further;
      }
      majorant_[static_cast<std::size_t>(j)] = after;
    }
  }

  // The corners of minorant and majorant between low and high: lower_ descends, upper_ ascends.
  void walk(int low, int high) {
    lower_[0] = high;
    lower_size_ = 0;
    while (lower_[lower_size_] > low) {
      lower_[lower_size_ + 1] = minorant_[static_cast<std::size_t>(lower_[lower_size_])];
      ++lower_size_;
    }
    upper_[0] = low;
    upper_size_ = 0;
    while (upper_[upper_size_] < high) {
      upper_[upper_size_ + 1] = majorant_[static_cast<std::size_t>(upper_[upper_size_])];
      ++upper_size_;
    }
  }

  // The largest distance between minorant and majorant, and its corners.
  double largest_gap() {
    lower_at_ = lower_size_;
    upper_at_ = upper_size_;
    if (lower_size_ == 1 && upper_size_ == 1) return 1;
    double gap = 0;
    std::size_t i = lower_size_ - 1, v = 1;
    do {
      const int from_lower = lower_[i], from_upper = upper_[v];
      if (from_lower > from_upper) {  // a corner of the majorant comes next
        const int begin = lower_[i + 1];
        const double here =
            (from_upper - begin + 1) - (x(from_upper) - x(begin)) * (from_lower - begin) / (x(from_lower) - x(begin));
        ++v;
        if (here >= gap) {
          gap = here;
          lower_at_ = i + 1;
          upper_at_ = v - 1;
        }
      } else {
        const int begin = upper_[v - 1];
        const double here =
            (x(from_lower) - x(begin)) * (from_upper - begin) / (x(from_upper) - x(begin)) - (from_lower - begin - 1);
        if (here >= gap) {
          gap = here;
          lower_at_ = i;
          upper_at_ = v;
        }
        if (i > 0) --i;
      }
      if (v > upper_size_) v = upper_size_;
    } while (lower_[i] != upper_[v]);
    return gap;
  }

  // The largest height of the distribution above its minorant, left of the gap.
  double below_minorant() const {
    double dip = 0;
    for (std::size_t j = lower_at_; j < lower_size_; ++j) {
      const int begin = lower_[j + 1], end = lower_[j];
      double most = 1;
      if (end - begin > 1 && x(end) != x(begin)) {
        const double slope = (end - begin) / (x(end) - x(begin));
        for (int i = begin; i <= end; ++i) most = std::max(most, (i - begin + 1) - (x(i) - x(begin)) * slope);
      }
      dip = std::max(dip, most);
    }
    return dip;
  }

  // The largest depth of the distribution below its majorant, right of the gap.
  double above_majorant() const {
    double dip = 0;
    for (std::size_t j = upper_at_; j < upper_size_; ++j) {
      const int begin = upper_[j], end = upper_[j + 1];
      double most = 1;
      if (end - begin > 1 && x(end) != x(begin)) {
        const double slope = (end - begin) / (x(end) - x(begin));
        for (int i = begin; i <= end; ++i) most = std::max(most, (x(i) - x(begin)) * slope - (i - begin - 1));
      }
      dip = std::max(dip, most);
    }
    return dip;
  }

  std::span<const double> x_;
  int n_;
  std::vector<int> minorant_, majorant_;
  std::vector<int> lower_, upper_;
  std::size_t lower_size_ = 0, upper_size_ = 0;
  std::size_t lower_at_ = 0, upper_at_ = 0;
};

}  // namespace

double dip_statistic(std::span<const double> sorted) {
  if (sorted.size() < 2 || sorted.front() == sorted.back()) return 0;
  return Dip(sorted).value();
}

}  // namespace effort::cluster
