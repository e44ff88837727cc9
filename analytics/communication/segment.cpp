#include "analytics/communication/segment.hpp"

#include <algorithm>
#include <cmath>

namespace effort::communication {

LogTable::LogTable(std::size_t n) : value(n + 1), step(n) {
  const auto largest = static_cast<double>(n) * std::log(static_cast<double>(n) + 1) + 1;
  scale = std::ldexp(1.0, std::min(36, 60 - std::ilogb(largest)));
  for (std::size_t i = 1; i <= n; ++i) {
    const auto x = static_cast<double>(i);
    value[i] = std::llround(x * std::log(x) * scale);
  }
  for (std::size_t i = 0; i < n; ++i) step[i] = value[i + 1] - value[i];
}

void Segment::fill(std::size_t first, std::size_t end) {
  first_ = first, end_ = end;
  for (std::size_t i = first; i < end; ++i) {
    std::uint32_t& count = counts_[sequence_[i]].right;
    symbols_ += count == 0;
    sum_ += table_.step[count++];
  }
}

void Segment::clear() {
  for (std::size_t i = first_; i < end_; ++i) counts_[sequence_[i]] = {};
  first_ = end_ = symbols_ = 0;
  sum_ = 0;
}

void Segment::remove(std::size_t at) {
  std::uint32_t& count = counts_[sequence_[at]].right;
  sum_ -= table_.step[--count];
  symbols_ -= count == 0;
}

void Segment::remove_front(std::size_t to) {
  for (; first_ < to; ++first_) remove(first_);
}

void Segment::remove_back(std::size_t from) {
  for (; end_ > from; --end_) remove(end_ - 1);
}

void Segment::restore(std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    Counts& counts = counts_[sequence_[i]];
    counts = {0, counts.left + counts.right};
  }
}

Cut Segment::best(std::size_t from, std::size_t to) {
  const std::size_t n = size();
  const std::int64_t constant = table_.value[n] - sum_;
  std::int64_t sum = sum_;  // over both sides
  std::size_t left_symbols = 0, right_symbols = symbols_;
  Cut cut;
  for (std::size_t at = first_ + 1; at <= to; ++at) {
    Counts& counts = counts_[sequence_[at - 1]];
    left_symbols += counts.left == 0;
    right_symbols -= counts.right == 1;
    sum += table_.step[counts.left++] - table_.step[--counts.right];
    const std::int64_t gain = constant + sum - table_.value[at - first_] - table_.value[end_ - at];
    if (at >= from && gain > cut.gain + rounding()) cut = {at, gain, left_symbols, right_symbols};
  }
  restore(first_, to);
  return cut;
}

Cut Segment::best_in_back(std::size_t from, Cut cut) {
  // The search runs from the end, because the counts are known there; `last` is the first of the best places so far.
  const std::int64_t constant = table_.value[size()] - sum_;
  std::int64_t sum = sum_;
  std::size_t left_symbols = symbols_, right_symbols = 0;
  Cut last;
  for (std::size_t at = end_ - 1; at >= from; --at) {
    Counts& counts = counts_[sequence_[at]];
    right_symbols += counts.left == 0;  // here `left` counts the symbols moved to the right
    left_symbols -= counts.right == 1;
    sum += table_.step[counts.left++] - table_.step[--counts.right];
    const std::int64_t gain = constant + sum - table_.value[at - first_] - table_.value[end_ - at];
    if (gain >= last.gain - rounding()) last = {at, std::max(gain, last.gain), left_symbols, right_symbols};
  }
  restore(from, end_);
  return last.gain > cut.gain + rounding() ? last : cut;
}

}  // namespace effort::communication
