#include "analytics/communication/middle_bound.hpp"

#include <algorithm>
#include <bit>

namespace effort::communication {

MiddleBound::MiddleBound(std::span<const std::uint32_t> sequence, std::size_t symbols, const LogTable& table)
    : sequence_(sequence),
      table_(table),
      counts_(symbols),
      first_(symbols + 1),
      places_(sequence.size()),
      ordinal_(sequence.size()),
      inside_(sequence, symbols, table) {
  for (const std::uint32_t symbol : sequence) ++first_[symbol + 1];
  for (std::size_t s = 0; s < symbols; ++s) first_[s + 1] += first_[s];
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    ordinal_[i] = counts_[sequence[i]]++;
    places_[first_[sequence[i]] + ordinal_[i]] = static_cast<std::uint32_t>(i);
  }
  std::fill(counts_.begin(), counts_.end(), 0);
}

std::optional<MiddleBound::Window> MiddleBound::window_at(const Segment& segment, std::size_t place,
                                                          std::size_t quarter) {
  std::optional<Window> longest;
  for (;; quarter *= 2) {
    // The parts outside should be about half as long as the window: cutting off a short rest would gain a lot by
    // itself.
    if (place < segment.first() + 2 * quarter || place + 2 * quarter > segment.end()) return longest;
    const std::size_t begin = (place - quarter) / (2 * quarter) * (2 * quarter);
    if (begin >= segment.first() + quarter && begin + 5 * quarter <= segment.end())
      longest = Window{begin, quarter, 0, 0, 0, 0};
  }
}

MiddleBound::Middle MiddleBound::cover(const Segment& segment, std::size_t quarter) {
  Middle middle{segment.first() + 4 * quarter, 0};
  std::size_t place = middle.front + 1, old = 0;
  next_.clear();
  while (const auto window = window_at(segment, place, quarter)) {
    next_.push_back(*window);
    place = window->middle_end();
    while (old < windows_.size() && windows_[old].middle_end() < place) ++old;
    if (old < windows_.size() && windows_[old].middle_end() == place) {
      next_.back() = windows_[old];
    } else {
      measure(segment, next_.back());
    }
  }
  windows_.swap(next_);
  middle.back = place;
  return middle;
}

bool MiddleBound::below(const Segment& segment, std::int64_t gain) {
  const std::int64_t whole = table_.value[segment.size()] - segment.sum();
  return std::all_of(windows_.begin(), windows_.end(), [&](const Window& w) {
    const std::int64_t parts = (table_.value[w.begin - segment.first()] - w.before) +
                               (table_.value[4 * w.quarter] - w.own) +
                               (table_.value[segment.end() - w.end()] - w.after);
    return whole - parts + w.gain + 2 * segment.rounding() < gain;
  });
}

void MiddleBound::measure(const Segment& segment, Window& window) {
  if (window.begin + window.end() < segment.first() + segment.end()) {
    measure_from_front(segment, window);
  } else {
    measure_from_back(segment, window);
  }
  const Known& own = known(window);
  window.own = own.sum;
  window.gain = own.gain;
}

void MiddleBound::measure_from_front(const Segment& segment, Window& window) {
  window.after = segment.sum();
  for (std::size_t i = segment.first(); i < window.end(); ++i) {
    const std::uint32_t symbol = sequence_[i];
    std::uint32_t& count = counts_[symbol];
    if (i < window.begin) window.before += table_.step[count];
    window.after -= table_.step[segment.count(symbol) - ++count];
  }
  for (std::size_t i = segment.first(); i < window.end(); ++i) counts_[sequence_[i]] = 0;
}

void MiddleBound::measure_from_back(const Segment& segment, Window& window) {
  window.before = segment.sum();
  for (std::size_t i = segment.end(); i-- > window.begin;) {
    const std::uint32_t symbol = sequence_[i];
    std::uint32_t& count = counts_[symbol];
    if (i >= window.end()) window.after += table_.step[count];
    window.before -= table_.step[segment.count(symbol) - ++count];
  }
  for (std::size_t i = window.begin; i < segment.end(); ++i) counts_[sequence_[i]] = 0;
}

const MiddleBound::Known& MiddleBound::known(const Window& window) {
  const auto level = static_cast<std::size_t>(std::countr_zero(window.quarter));
  if (known_.size() <= level) known_.resize(level + 1);
  if (known_[level].empty()) known_[level].resize(sequence_.size() / (2 * window.quarter) + 1);
  Known& known = known_[level][window.begin / (2 * window.quarter)];
  if (known.gain >= 0) return known;
  inside_.fill(window.begin, window.end());
  known.sum = inside_.sum();
  known.gain = inside_.best(window.begin + window.quarter, window.middle_end()).gain + inside_.rounding();
  inside_.clear();
  return known;
}

std::size_t MiddleBound::rank(std::uint32_t symbol, std::size_t place) const {
  const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first_[symbol]);
  const auto end = places_.begin() + static_cast<std::ptrdiff_t>(first_[symbol + 1]);
  return static_cast<std::size_t>(std::lower_bound(begin, end, place) - begin);
}

void MiddleBound::removing_front(const Segment& segment, std::size_t to) {
  for (std::size_t first = segment.first(), end = first; first < to; first = end) {
    const std::uint32_t symbol = sequence_[first];
    while (end < to && sequence_[end] == symbol) ++end;
    for (Window& w : windows_) {
      if (w.begin < to) continue;  // the window is not used again
      const std::size_t count = rank(symbol, w.begin) - ordinal_[first];
      w.before -= table_.value[count] - table_.value[count - (end - first)];
    }
  }
  std::erase_if(windows_, [&](const Window& w) { return w.begin < to; });
}

void MiddleBound::removing_back(const Segment& segment, std::size_t from) {
  for (std::size_t end = segment.end(), first = end; end > from; end = first) {
    const std::uint32_t symbol = sequence_[end - 1];
    while (first > from && sequence_[first - 1] == symbol) --first;
    for (Window& w : windows_) {
      if (w.end() > from) continue;
      const std::size_t count = ordinal_[end - 1] + 1 - rank(symbol, w.end());
      w.after -= table_.value[count] - table_.value[count - (end - first)];
    }
  }
  std::erase_if(windows_, [&](const Window& w) { return w.end() > from; });
}

}  // namespace effort::communication
