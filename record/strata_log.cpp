#include "record/strata_log.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "record/metadata.hpp"

namespace effort::record {

namespace {

void append(std::vector<LabelRun>& runs, std::int32_t first, std::int32_t end, std::int32_t label) {
  if (first >= end) return;
  if (!runs.empty() && runs.back().label == label && runs.back().first + runs.back().count == first) {
    runs.back().count += end - first;
  } else {
    runs.push_back({first, end - first, label});
  }
}

/// The labels of `before` that differ from `after`.
std::vector<LabelRun> difference(std::span<const std::int32_t> before, std::span<const std::int32_t> after) {
  std::vector<LabelRun> out;
  for (std::size_t r = 0; r < before.size(); ++r)
    if (before[r] != after[r]) append(out, static_cast<std::int32_t>(r), static_cast<std::int32_t>(r) + 1, before[r]);
  return out;
}

/// `upper`, and `lower` for ranks that `upper` does not contain.
std::vector<LabelRun> overlay(const std::vector<LabelRun>& lower, const std::vector<LabelRun>& upper) {
  std::vector<LabelRun> out;
  std::size_t u = 0;
  std::int32_t covered = 0;
  for (const LabelRun& run : lower) {
    const std::int32_t end = run.first + run.count;
    for (; u < upper.size() && upper[u].first < end; ++u) {
      append(out, std::max(covered, run.first), upper[u].first, run.label);
      covered = upper[u].first + upper[u].count;
      append(out, upper[u].first, covered, upper[u].label);
    }
    append(out, std::max(covered, run.first), end, run.label);
  }
  for (; u < upper.size(); ++u) append(out, upper[u].first, upper[u].first + upper[u].count, upper[u].label);
  return out;
}

}  // namespace

void StrataLog::add(Strata window) {
  if (most_runs_ == 0) most_runs_ = 4096 + window.label.size() / 4;
  if (!last_.label.empty()) {
    if (window.label.size() != last_.label.size())
      throw std::invalid_argument("a window has strata of " + std::to_string(window.label.size()) +
                                  " ranks, but earlier ones of " + std::to_string(last_.label.size()) +
                                  ": pass those of all ranks");
    moves_.push_back({last_.first, last_.last, static_cast<std::int32_t>(last_.medoid_rank.size()),
                      difference(last_.label, window.label)});
    runs_ += moves_.back().runs.size();
    if (runs_ > most_runs_ || moves_.size() > max_moves) thin();
  }
  last_ = std::move(window);
}

void StrataLog::describe(Run& run) const {
  if (!last_.label.empty()) run.strata = {last_};
  run.moves = moves_;
}

void StrataLog::thin() {
  std::vector<StrataMove> kept;
  for (std::size_t i = 0; i < moves_.size(); i += 2) {
    kept.push_back(std::move(moves_[i]));
    if (i + 1 < moves_.size()) kept.back().runs = overlay(moves_[i + 1].runs, kept.back().runs);
  }
  moves_ = std::move(kept);
  const auto count = [&] {
    runs_ = 0;
    for (const StrataMove& move : moves_) runs_ += move.runs.size();
    return runs_;
  };
  // If ranks move back and forth all the time, differences do not shrink, and the oldest windows are dropped.
  while (count() > most_runs_ && !moves_.empty())
    moves_.erase(moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>((moves_.size() + 3) / 4));
}

void each_earlier(std::span<const StrataMove> moves, std::vector<std::int32_t> label,
                  const std::function<void(const StrataMove&, std::span<const std::int32_t>)>& take) {
  for (std::size_t i = moves.size(); i-- > 0;) {
    for (const LabelRun& run : moves[i].runs) std::fill_n(label.begin() + run.first, run.count, run.label);
    take(moves[i], label);
  }
}

format::Bytes encode_moves(const Run& run) {
  format::Bytes out;
  format::put_varint(out, run.moves.size());
  for (const StrataMove& move : run.moves) {
    format::put_varint(out, static_cast<std::uint64_t>(move.first));
    format::put_varint(out, static_cast<std::uint64_t>(move.last - move.first));
    format::put_varint(out, static_cast<std::uint64_t>(move.strata));
    format::put_varint(out, move.runs.size());
    std::int32_t at = 0;
    for (const LabelRun& r : move.runs) {
      format::put_varint(out, static_cast<std::uint64_t>(r.first - at));
      format::put_varint(out, static_cast<std::uint64_t>(r.count));
      format::put_varint(out, static_cast<std::uint64_t>(r.label));
      at = r.first + r.count;
    }
  }
  return out;
}

void decode_moves(format::View raw, Run& run) {
  if (run.strata.empty()) return;
  format::Cursor in(raw);
  const auto ranks = static_cast<std::uint64_t>(run.ranks);
  for (std::uint64_t count = in.varint(max_moves, "the number of windows with strata"); count > 0; --count) {
    StrataMove& move = run.moves.emplace_back();
    move.first = static_cast<std::int64_t>(in.varint(static_cast<std::uint64_t>(max_steps), "a window's first step"));
    move.last =
        move.first + static_cast<std::int64_t>(in.varint(static_cast<std::uint64_t>(max_steps), "a window's length"));
    move.strata = static_cast<std::int32_t>(in.varint(ranks, "a number of strata"));
    std::uint64_t at = 0;
    for (std::uint64_t runs = in.varint(in.left() / 3, "the number of runs of ranks"); runs > 0; --runs) {
      at += in.varint(ranks - at, "a rank that moved");
      const std::uint64_t length = in.varint(ranks - at, "the length of a run of ranks");
      const std::uint64_t label = in.varint(ranks, "a stratum");
      if (label >= static_cast<std::uint64_t>(move.strata))
        throw std::runtime_error("a rank moved from a stratum that does not exist");
      move.runs.push_back(
          {static_cast<std::int32_t>(at), static_cast<std::int32_t>(length), static_cast<std::int32_t>(label)});
      at += length;
    }
  }
  in.finish();
}

}  // namespace effort::record
