#include "analytics/communication/phases.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analytics/communication/middle_bound.hpp"
#include "analytics/communication/segment.hpp"

namespace effort::communication {

namespace {

class Segmentation {
 public:
  Segmentation(std::span<const std::uint32_t> sequence, std::size_t symbols, const PhaseOptions& options)
      : sequence_(sequence),
        symbols_(symbols),
        options_(options),
        table_(sequence.size()),
        segment_(sequence, symbols, table_) {}

  Phases run() {
    open_ = {{0, sequence_.size(), 0}};  // instead of recursion: a tree can be deep
    while (!open_.empty()) {
      const Part part = open_.back();
      open_.pop_back();
      cut_down(part);
    }
    std::sort(out_.leaves.begin(), out_.leaves.end(), [](const Phase& a, const Phase& b) { return a.first < b.first; });
    std::sort(out_.tree.begin(), out_.tree.end(),
              [](const Split& a, const Split& b) { return a.first != b.first ? a.first < b.first : a.end > b.end; });
    return std::move(out_);
  }

 private:
  struct Part {
    std::size_t first = 0, end = 0, depth = 0;
  };

  static constexpr std::size_t shortest_quarter = 16;  ///< see MiddleBound
  /// The smaller side of a lopsided cut has at most this share of the symbols.
  static constexpr std::size_t lopsided = 16;

  /// Cuts a part, then the larger of its two parts, and so on, and updates the counts from one to the next.  The
  /// smaller parts are left for later, so no symbol is counted again more than log2 N times.
  void cut_down(Part part) {
    segment_.fill(part.first, part.end);
    if (bound_) bound_->forget();
    quarter_ = shortest_quarter, patience_ = 0, failures_ = 0;
    bool was_lopsided = false;
    while (part.depth < options_.depth && segment_.size() >= std::max<std::size_t>(options_.length, 2)) {
      Split split{segment_.first(), segment_.end(), 0, part.depth, 0, 0};
      if (!judge(find_cut(was_lopsided), split)) break;
      out_.tree.push_back(split);
      ++part.depth;
      const std::size_t left = split.split - split.first, right = split.end - split.split;
      was_lopsided = std::min(left, right) * lopsided < segment_.size();
      if (left < right) {
        open_.push_back({split.first, split.split, part.depth});
        if (bound_) bound_->removing_front(segment_, split.split);
        segment_.remove_front(split.split);
      } else {
        open_.push_back({split.split, split.end, part.depth});
        if (bound_) bound_->removing_back(segment_, split.split);
        segment_.remove_back(split.split);
      }
    }
    if (segment_.size() > 0) out_.leaves.push_back({segment_.first(), segment_.end()});
    segment_.clear();
  }

  /// Searches only the ends if the last cut was near one and no place in the middle can be better.
  Cut find_cut(bool near_ends) {
    if (!near_ends) {
      quarter_ = shortest_quarter;
    } else if (patience_ > 0) {
      --patience_;
    } else if (segment_.size() >= 64 * quarter_) {
      if (!bound_) bound_.emplace(sequence_, symbols_, table_);
      const MiddleBound::Middle middle = bound_->cover(segment_, quarter_);
      const Cut front = segment_.best(segment_.first() + 1, middle.front);
      const Cut cut = segment_.best_in_back(middle.back, front);
      if (bound_->below(segment_, cut.gain)) return cut;
      widen();
    }
    return segment_.best(segment_.first() + 1, segment_.end() - 1);
  }

  /// Lengthens the ends, which must exceed the recurring part.  If that does not help, it is not tried each time,
  /// because that would double the cost.
  void widen() {
    quarter_ *= 4;
    if (segment_.size() >= 64 * quarter_) return;
    quarter_ = shortest_quarter;
    patience_ = std::size_t{1} << std::min<std::size_t>(failures_++, 8);
    bound_->forget();
  }

  /// Whether a cut is worthwhile.
  bool judge(const Cut& cut, Split& split) const {
    const auto n = static_cast<double>(segment_.size());
    const double gain = static_cast<double>(cut.gain) / table_.scale;
    const auto parameters = static_cast<double>(cut.left_symbols + cut.right_symbols + 1 - segment_.symbols());
    split.split = cut.at;
    split.divergence = gain / n;
    split.strength =
        options_.criterion == Criterion::aic ? gain / parameters - 1 : 2 * gain / (parameters * std::log(n)) - 1;
    return cut.at != 0 && split.strength > 0;
  }

  std::span<const std::uint32_t> sequence_;
  std::size_t symbols_;
  PhaseOptions options_;
  LogTable table_;
  Segment segment_;
  std::optional<MiddleBound> bound_;
  std::vector<Part> open_;
  std::size_t quarter_ = shortest_quarter;
  std::size_t patience_ = 0;  ///< full searches until the ends alone are tried again
  std::size_t failures_ = 0;
  Phases out_;
};

}  // namespace

Phases find_phases(std::span<const std::uint32_t> sequence, std::size_t symbols, const PhaseOptions& options) {
  return Segmentation(sequence, symbols, options).run();
}

Phases at_depth(const Phases& phases, std::size_t depth) {
  Phases out;
  if (phases.leaves.empty()) return out;
  std::vector<std::size_t> ends = {phases.leaves.back().end};
  for (const Split& split : phases.tree) {
    if (split.depth >= depth) continue;
    out.tree.push_back(split);
    ends.push_back(split.split);
  }
  std::sort(ends.begin(), ends.end());
  std::size_t first = phases.leaves.front().first;
  for (const std::size_t end : ends) out.leaves.push_back({first, end}), first = end;
  return out;
}

}  // namespace effort::communication
