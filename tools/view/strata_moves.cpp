#include "tools/view/strata_moves.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>

namespace effort::tools {

using record::Run;
using Labels = std::span<const std::int32_t>;

namespace {

/// Which of `kept` windows to show: the first and the last, those on both sides of the largest moves, and others evenly
/// spaced.
std::set<std::size_t> windows_to_show(const Run& run, std::size_t kept, std::size_t most) {
  most = std::min(kept, std::max<std::size_t>(most, 2));
  std::set<std::size_t> out = {0, kept - 1};
  std::vector<std::pair<std::int64_t, std::size_t>> moves;
  for (std::size_t i = 0; i < run.moves.size(); ++i) {
    std::int64_t moved = 0;
    for (const record::LabelRun& part : run.moves[i].runs) moved += part.count;
    if (moved > 0) moves.emplace_back(-moved, i);
  }
  std::sort(moves.begin(), moves.end());
  for (const auto& [moved, i] : moves) {
    if (out.size() + 2 > most) break;
    out.insert({i, i + 1});
  }
  // The more windows, the finer the grid in between.
  for (std::size_t parts = 2; out.size() < most && parts < 2 * kept; parts *= 2)
    for (std::size_t i = 1; i < parts && out.size() < most; i += 2) out.insert(i * (kept - 1) / parts);
  return out;
}

/// Collects the moves, going back from the last window.
class Walk {
 public:
  Walk(std::set<std::size_t> shown, std::size_t kept, std::size_t ranks)
      : shown_(std::move(shown)), at_(kept), moves_(ranks, 0) {}

  void window(std::int64_t first, std::int64_t last, std::int32_t strata, Labels label) {
    --at_;
    if (!later_.empty()) count_moves(label);
    later_.assign(label.begin(), label.end());
    later_first_ = first;
    later_last_ = last;
    if (shown_.contains(at_)) show(first, last, strata, label);
  }

  StrataMovement finish(std::size_t most_movers) {
    StrataMovement out = std::move(out_);
    for (auto* list : {&out.first, &out.last, &out.moved}) std::reverse(list->begin(), list->end());
    std::reverse(out.windows.begin(), out.windows.end());
    for (StrataFlow& flow : out.flows) flow.window = out.windows.size() - 2 - flow.window;
    std::stable_sort(out.flows.begin(), out.flows.end(),
                     [](const StrataFlow& a, const StrataFlow& b) { return a.window < b.window; });
    for (std::size_t r = 0; r < moves_.size(); ++r)
      if (moves_[r] > 0) out.movers.emplace_back(static_cast<std::int32_t>(r), moves_[r]);
    std::stable_sort(out.movers.begin(), out.movers.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (out.movers.size() > most_movers) out.movers.resize(most_movers);
    return out;
  }

 private:
  void count_moves(Labels label) {
    std::int64_t moved = 0;
    for (std::size_t r = 0; r < label.size(); ++r) {
      if (label[r] == later_[r]) continue;
      ++moved;
      ++moves_[r];
    }
    out_.first.push_back(later_first_);
    out_.last.push_back(later_last_);
    out_.moved.push_back(moved);
  }

  void show(std::int64_t first, std::int64_t last, std::int32_t strata, Labels label) {
    StrataWindow window{first, last, std::vector<std::int64_t>(static_cast<std::size_t>(strata), 0)};
    for (const std::int32_t s : label) ++window.sizes[static_cast<std::size_t>(s)];
    if (!out_.windows.empty()) {
      std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;
      for (std::size_t r = 0; r < label.size(); ++r) ++counts[{label[r], shown_label_[r]}];
      for (const auto& [pair, ranks] : counts)
        out_.flows.push_back({out_.windows.size() - 1, pair.first, pair.second, ranks});
    }
    shown_label_.assign(label.begin(), label.end());
    out_.windows.push_back(std::move(window));
  }

  std::set<std::size_t> shown_;
  std::size_t at_;
  std::vector<std::int64_t> moves_;  ///< [ranks]
  std::vector<std::int32_t> later_, shown_label_;
  std::int64_t later_first_ = 0, later_last_ = 0;
  StrataMovement out_;
};

}  // namespace

StrataMovement strata_movement(const Run& run, std::size_t most_windows, std::size_t most_movers) {
  const std::size_t kept = run.moves.empty() ? run.strata.size() : run.moves.size() + 1;
  if (kept < 2 || run.strata.empty()) return {};
  Walk walk(windows_to_show(run, kept, most_windows), kept, static_cast<std::size_t>(run.ranks));
  const auto whole = [&](const record::Strata& s) {
    walk.window(s.first, s.last, static_cast<std::int32_t>(s.medoid_rank.size()), s.label);
  };
  whole(run.strata.back());
  if (run.moves.empty()) {
    for (std::size_t i = run.strata.size() - 1; i-- > 0;) whole(run.strata[i]);
  } else {
    record::each_earlier(run.moves, run.strata.back().label, [&](const record::StrataMove& move, Labels label) {
      walk.window(move.first, move.last, move.strata, label);
    });
  }
  return walk.finish(most_movers);
}

nlohmann::ordered_json movement_json(const StrataMovement& movement) {
  using nlohmann::ordered_json;
  ordered_json windows = ordered_json::array(), flows = ordered_json::array();
  for (const StrataWindow& w : movement.windows)
    windows.push_back({{"first", w.first}, {"last", w.last}, {"sizes", w.sizes}});
  for (const StrataFlow& f : movement.flows) flows.push_back({f.window, f.from, f.to, f.ranks});
  return {{"windows", windows},    {"flows", flows},          {"first", movement.first},
          {"last", movement.last}, {"moved", movement.moved}, {"movers", movement.movers}};
}

}  // namespace effort::tools
