#include "analytics/replay/division.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

namespace effort::replay {

Rebalancer parse_rebalancer(std::string_view text) {
  using Kind = Rebalancer::Kind;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  double amount = 0;
  const std::string_view number = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), amount);
  const bool given = !number.empty() && error == std::errc() && end == number.data() + number.size();
  if (name == "ideal" && colon == std::string_view::npos) return {Kind::ideal, 0};
  if (name == "bounded" && given && amount > 0 && amount <= 1) return {Kind::bounded, amount};
  if (name == "noisy" && given && amount >= 0 && amount < 1) return {Kind::noisy, amount};
  if (name == "blocks" && given && amount >= 1 && amount <= 4096 && amount == std::floor(amount))
    return {Kind::blocks, amount};
  throw std::invalid_argument(
      "'" + std::string(text) +
      "' is not a rebalancer: use ideal, bounded:SHARE (up to 1), noisy:DEVIATION (below 1) or blocks:N (1 to 4096)");
}

Recording::Recording(std::vector<double> load, int ranks, std::int64_t steps, std::span<const std::int64_t> copies)
    : ranks_(ranks), steps_(steps), load_(std::move(load)), copies_(static_cast<std::size_t>(std::max(ranks, 0)), 1.0) {
  if (ranks < 1 || steps < 1)
    throw std::invalid_argument("a recording needs ranks and steps (" + std::to_string(ranks) + " x " +
                                std::to_string(steps) + "): give at least 1 of each");
  if (load_.size() != static_cast<std::size_t>(ranks) * static_cast<std::size_t>(steps))
    throw std::invalid_argument("the recording holds " + std::to_string(load_.size()) + " values (expected " +
                                std::to_string(ranks) + " x " + std::to_string(steps) + "): check the dimensions");
  if (!copies.empty() && copies.size() != static_cast<std::size_t>(ranks))
    throw std::invalid_argument("copies are given for " + std::to_string(copies.size()) + " of " +
                                std::to_string(ranks) + " ranks: give one per rank");
  for (std::size_t i = 0; i < load_.size(); ++i)
    if (!std::isfinite(load_[i]) || load_[i] < 0)
      throw std::invalid_argument("the load of rank " + std::to_string(i / static_cast<std::size_t>(steps)) +
                                  " in step " + std::to_string(i % static_cast<std::size_t>(steps)) +
                                  " is not a finite number >= 0: repair the recording");
  for (std::size_t r = 0; r < copies.size(); ++r) copies_[r] = static_cast<double>(copies[r]);
  if (*std::max_element(copies_.begin(), copies_.end()) <= 0 || *std::min_element(copies_.begin(), copies_.end()) < 0)
    throw std::invalid_argument(
        "copies must be >= 0 and not all zero: give how many ranks each recorded rank stands for");
  total_.assign(static_cast<std::size_t>(steps), 0.0);
  for (int r = 0; r < ranks; ++r) {
    n_ranks_ += this->copies(r);
    for (std::int64_t s = 0; s < steps; ++s) total_[static_cast<std::size_t>(s)] += this->copies(r) * at(r, s);
  }
}

double Recording::mean_step() const {
  double sum = 0;
  for (double t : total_) sum += t;
  return sum / (n_ranks_ * static_cast<double>(steps_));
}

std::vector<double> Recording::mean_before(std::int64_t end, std::int64_t width) const {
  const std::int64_t from = std::max<std::int64_t>(0, end - width);
  std::vector<double> out(static_cast<std::size_t>(ranks_), 0.0);
  for (int r = 0; r < ranks_; ++r)
    for (std::int64_t s = from; s < end; ++s)
      out[static_cast<std::size_t>(r)] += at(r, s) / static_cast<double>(end - from);
  return out;
}

Division::Division(const Recording& recording, Rebalancer rebalancer)
    : recording_(&recording), rebalancer_(rebalancer), weight_(static_cast<std::size_t>(recording.ranks()), 1.0) {
  if (rebalancer.kind != Rebalancer::Kind::blocks) return;
  for (int r = 0; r < recording.ranks(); ++r)
    owner_.insert(owner_.end(), static_cast<std::size_t>(rebalancer.amount), r);
}

double Division::scale(std::int64_t step) const {
  if (!owner_.empty()) return 1.0;
  double sum = 0;
  for (int r = 0; r < recording_->ranks(); ++r)
    sum += recording_->copies(r) * recording_->at(r, step) * weight_[static_cast<std::size_t>(r)];
  return sum > 0 ? recording_->total(step) / sum : 1.0;
}

void Division::divide(std::span<const double> recorded, std::int64_t step, std::span<double> out) const {
  if (owner_.empty()) {
    const double f = scale(step);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = recorded[r] * weight_[r] * f;
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t pieces = owner_.size() / recorded.size();
  for (std::size_t p = 0; p < owner_.size(); ++p)
    out[static_cast<std::size_t>(owner_[p])] += recorded[p / pieces] / static_cast<double>(pieces);
}

void Division::loads(std::int64_t step, std::vector<double>& out) const {
  std::vector<double> recorded(weight_.size());
  for (std::size_t r = 0; r < recorded.size(); ++r) recorded[r] = recording_->at(static_cast<int>(r), step);
  out.resize(recorded.size());
  divide(recorded, step, out);
}

double Division::rebalance(std::span<const double> load, std::span<const double> recorded) {
  double mean = 0;
  for (int r = 0; r < recording_->ranks(); ++r)
    mean += recording_->copies(r) * load[static_cast<std::size_t>(r)] / recording_->n_ranks();
  if (!(mean > 0)) return 0;
  const std::vector<double> divided = owner_.empty() ? weigh(load, mean) : move_pieces(load, recorded);
  double moved = 0;
  for (std::size_t r = 0; r < divided.size(); ++r) moved = std::max(moved, std::fabs(divided[r] - load[r]) / mean);
  return moved;
}

// Gives each rank its aim.  Returns the loads after that, as predicted.
std::vector<double> Division::weigh(std::span<const double> load, double mean) {
  // However often work is divided, no rank gets more than 20 times what it would have got without, relative to others.
  std::vector<double> own(weight_.size());
  double mean_own = 0;
  for (std::size_t r = 0; r < own.size(); ++r) {
    own[r] = load[r] / weight_[r];
    mean_own += recording_->copies(static_cast<int>(r)) * own[r] / recording_->n_ranks();
  }
  std::vector<double> divided(own.size());
  std::normal_distribution<double> deviate;
  for (std::size_t r = 0; r < weight_.size(); ++r) {
    double aim = mean;
    if (rebalancer_.kind == Rebalancer::Kind::bounded) aim = load[r] + rebalancer_.amount * (mean - load[r]);
    if (rebalancer_.kind == Rebalancer::Kind::noisy) aim *= std::max(0.2, 1 + rebalancer_.amount * deviate(random_));
    weight_[r] = std::min(aim / own[r], mean / (smallest_share * mean_own));
    divided[r] = weight_[r] * own[r];
  }
  return divided;
}

// Moves the piece that best equalises the most and the least loaded rank, until no move helps.  Returns the loads after
// that, as predicted.
std::vector<double> Division::move_pieces(std::span<const double> load, std::span<const double> recorded) {
  const std::size_t ranks = weight_.size(), pieces = owner_.size() / ranks;
  std::vector<double> share(ranks, 0.0), cost(owner_.size()), now(ranks, 0.0);
  for (std::size_t p = 0; p < owner_.size(); ++p) share[static_cast<std::size_t>(owner_[p])] += recorded[p / pieces];
  std::vector<std::vector<std::size_t>> owned(ranks);
  for (std::size_t p = 0; p < owner_.size(); ++p) {
    const auto owner = static_cast<std::size_t>(owner_[p]);
    cost[p] = share[owner] > 0 ? recorded[p / pieces] / share[owner] * load[owner] : 0.0;
    now[owner] += cost[p];
    owned[owner].push_back(p);
  }
  for (std::size_t moves = 0; moves < owner_.size(); ++moves) {
    const auto from = static_cast<std::size_t>(std::max_element(now.begin(), now.end()) - now.begin());
    const auto to = static_cast<std::size_t>(std::min_element(now.begin(), now.end()) - now.begin());
    const double gap = now[from] - now[to];
    std::size_t best = owned[from].size();
    double least = gap;
    for (std::size_t i = 0; i < owned[from].size(); ++i) {
      const double c = cost[owned[from][i]];
      if (c > 0 && c < gap && std::fabs(c - 0.5 * gap) < least) {
        least = std::fabs(c - 0.5 * gap);
        best = i;
      }
    }
    if (best == owned[from].size()) break;
    const std::size_t piece = owned[from][best];
    owned[from].erase(owned[from].begin() + static_cast<std::ptrdiff_t>(best));
    owned[to].push_back(piece);
    owner_[piece] = static_cast<int>(to);
    now[from] -= cost[piece];
    now[to] += cost[piece];
  }
  return now;
}

}  // namespace effort::replay
