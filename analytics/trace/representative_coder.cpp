#include "analytics/trace/representative_coder.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "analytics/trace/times.hpp"

namespace effort::trace {

namespace {

std::size_t end_of(std::span<const std::size_t> begins, std::size_t segment, std::size_t events) {
  return segment + 1 < begins.size() ? begins[segment + 1] : events;
}

[[noreturn]] void refuse() {
  throw std::invalid_argument("the representatives of a chunk do not fit its segments: plan them again");
}

}  // namespace

/// Codes the representatives that the plan adds, and holds them.
void RepresentativeCoder::add_new(const Chunk& chunk, std::span<const std::size_t> begins, const Encoder::Plan& plan,
                                  Encoder::Reduced& out) {
  if (plan.added.empty()) return;
  RepresentativePiece piece;
  piece.first = static_cast<std::uint64_t>(next_);
  piece.sequence = chunk.number;
  std::vector<std::uint32_t> symbols;
  std::vector<std::int64_t> times, decoded;
  std::int64_t base = 0;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const std::size_t k = piece.parts.size(), begin = begins[s], end = end_of(begins, s, chunk.times.size());
    if (k == plan.added.size() || plan.representatives[s] != next_ + static_cast<std::int64_t>(k)) continue;
    const std::vector<std::int64_t>& offsets = plan.added[k];
    if (offsets.size() != end - begin || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
        offsets.back() > most_time - base)
      refuse();
    piece.parts.push_back({begin, end - begin});
    for (std::size_t i = begin; i < end; ++i) {
      symbols.push_back(chunk.sequence.symbols[i]);
      times.push_back(base + offsets[i - begin]);
    }
    base = times.back();
  }
  if (piece.parts.size() != plan.added.size()) refuse();
  piece.body = encode_times(symbols, times, chunk.bound, &decoded);
  std::size_t at = 0;
  for (const RepresentativePiece::Part& part : piece.parts) {
    Held& held = held_[next_++];
    held.piece = piece.first;
    const std::int64_t begin = decoded[at];
    for (const std::size_t end = at + part.length; at < end; ++at) held.offsets.push_back(decoded[at] - begin);
  }
  out.representatives = write_representatives(piece);
}

void RepresentativeCoder::code(const Chunk& chunk, const Encoder::Plan& plan, Encoder::Reduced& out) {
  const std::vector<std::uint32_t>& symbols = chunk.sequence.symbols;
  const std::size_t n = symbols.size();
  const std::vector<std::size_t> begins = segment_begins(symbols, chunk.symbol);
  if (n > most_reduced_events || begins.size() > most_segments || begins.size() != plan.representatives.size())
    refuse();
  out.segments = begins.size();

  ReducedChunk reduced;
  reduced.sequence = chunk.number;
  reduced.representatives = plan.representatives;
  add_new(chunk, begins, plan, out);
  std::vector<std::span<const std::int64_t>> offsets(begins.size());
  std::set<std::uint64_t> pieces;
  if (!plan.added.empty()) pieces.insert(static_cast<std::uint64_t>(next_) - plan.added.size());
  for (std::size_t s = 0; s < begins.size(); ++s) {
    std::int64_t& number = reduced.representatives[s];
    if (number == Encoder::in_full) continue;
    const auto held = held_.find(number);
    if (held == held_.end() || held->second.offsets.size() != end_of(begins, s, n) - begins[s]) refuse();
    if (!pieces.contains(held->second.piece) && pieces.size() == most_pieces_of_chunk) {
      number = Encoder::in_full;
      continue;
    }
    pieces.insert(held->second.piece);
    offsets[s] = held->second.offsets;
    ++out.rebuilt;
  }

  std::vector<std::int64_t> stamps, decoded;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const std::size_t stop = offsets[s].empty() ? end_of(begins, s, n) : begins[s] + 1;
    stamps.insert(stamps.end(), chunk.times.begin() + static_cast<std::ptrdiff_t>(begins[s]),
                  chunk.times.begin() + static_cast<std::ptrdiff_t>(stop));
  }
  stamps.push_back(chunk.end);
  reduced.body = encode_times(stamp_symbols(symbols, begins, reduced.representatives), stamps, chunk.bound, &decoded);
  const std::vector<std::int64_t> rebuilt = rebuild(n, begins, offsets, decoded);

  std::vector<std::int64_t> errors;
  for (std::size_t s = 0; s < begins.size(); ++s)
    for (std::size_t i = begins[s]; !offsets[s].empty() && i < end_of(begins, s, n); ++i)
      errors.push_back(std::abs(rebuilt[i] - chunk.times[i]));
  if (!errors.empty()) {
    const auto usual = errors.begin() + static_cast<std::ptrdiff_t>((errors.size() - 1) * 9 / 10);
    std::nth_element(errors.begin(), usual, errors.end());
    out.error90_ns = reduced.error90_ns = *usual;
    out.largest_error_ns = reduced.largest_error_ns = *std::max_element(usual, errors.end());
  }

  const std::vector<RegionTime> truth = region_times(symbols, chunk.symbol, chunk.times, chunk.end);
  const std::vector<RegionTime> shown = region_times(symbols, chunk.symbol, rebuilt, decoded.back());
  for (std::size_t r = 0; r < truth.size(); ++r) {
    const std::int64_t unit = correction_unit(shown[r].ns), missing = truth[r].ns - shown[r].ns;
    reduced.corrections.push_back((missing + (missing < 0 ? -unit : unit) / 2) / unit);
  }
  out.coded.events = write_reduced(reduced);
  for (const std::int64_t number : plan.forgotten) held_.erase(number);
}

std::size_t RepresentativeCoder::held_bytes() const {
  std::size_t total = 0;
  for (const auto& [number, held] : held_) total += sizeof(Held) + 64 + 8 * held.offsets.capacity();
  return total;
}

}  // namespace effort::trace
