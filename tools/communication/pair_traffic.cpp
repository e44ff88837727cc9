#include "tools/communication/pair_traffic.hpp"

#include <algorithm>

namespace effort::tools {

namespace {

/// Sorts cells and adds those of the same two ranks.
void merge(std::vector<PairTraffic>& cells) {
  const auto key = [](const PairTraffic& c) { return std::pair(c.a, c.b); };
  const auto before = [&](const PairTraffic& x, const PairTraffic& y) { return key(x) < key(y); };
  if (!std::is_sorted(cells.begin(), cells.end(), before)) std::stable_sort(cells.begin(), cells.end(), before);
  std::size_t n = 0;
  for (const PairTraffic& c : cells) {
    if (n > 0 && key(cells[n - 1]) == key(c)) {
      PairTraffic& sum = cells[n - 1];
      sum.messages += c.messages;
      sum.bytes += c.bytes;
      sum.seconds += c.seconds;
      sum.waiting += c.waiting;
    } else {
      cells[n++] = c;
    }
  }
  cells.resize(n);
}

/// Merges once the cells are twice as many as after the last time, so that all merges together cost little more than
/// one.
void merge_if_long(std::vector<PairTraffic>& cells, std::size_t& merged) {
  constexpr std::size_t few = 1 << 16;
  if (cells.size() < 2 * merged + few) return;
  merge(cells);
  merged = cells.size();
}

/// The sums of frames of windows, which `frame_of` numbers from 0.
template <typename Frame>
std::vector<std::vector<PairTraffic>> sums(record::Reader& reader, std::size_t frames, Frame&& frame_of) {
  std::vector<std::vector<PairTraffic>> out(frames);
  std::vector<std::size_t> merged(frames, 0);
  for (std::int32_t node = 0; node < reader.run().nodes; ++node) {
    for (const record::Flow& f : reader.traffic(node).flows)
      out[frame_of(f.window)].push_back({f.source, f.destination, f.messages, f.bytes, f.seconds, 0});
    for (std::size_t i = 0; i < frames; ++i) merge_if_long(out[i], merged[i]);
  }
  for (std::vector<PairTraffic>& cells : out) merge(cells);
  return out;
}

void coarsen(std::vector<PairTraffic>& cells) {
  for (PairTraffic& c : cells) c.a /= 2, c.b /= 2;
  merge(cells);
}

}  // namespace

std::vector<PairTraffic> pair_traffic(const std::vector<communication::Flow>& flows, const WaitFindings& waits) {
  std::vector<PairTraffic> out;
  for (const communication::Flow& f : flows)
    out.push_back({f.a, f.b, static_cast<double>(f.messages), static_cast<double>(f.bytes), 1e-9 * f.ns, 0});
  const communication::Record& record = waits.trace.record;
  const auto rank = [&](std::uint32_t call) { return record.locations[waits.tree.location_of[call]].rank; };
  std::size_t merged = 0;
  for (const communication::Wait& w : waits.waits.waits) {
    out.push_back({rank(w.for_call), rank(w.call), 0, 0, 0, 1e-9 * static_cast<double>(w.ns)});
    merge_if_long(out, merged);
  }
  merge(out);
  return out;
}

WindowTraffic window_traffic(record::Reader& reader, std::size_t most_frames, std::size_t most_cells) {
  std::int64_t last = -1;
  for (std::int32_t node = 0; node < reader.run().nodes; ++node)
    for (const record::Flow& f : reader.traffic(node).flows) last = std::max(last, f.window);
  WindowTraffic out;
  if (last < 0) return out;
  const std::int64_t n = last + 1, per_frame = (n + static_cast<std::int64_t>(most_frames) - 1) /
                                               static_cast<std::int64_t>(most_frames);
  for (std::int64_t first = 0; first < n; first += per_frame)
    out.windows.emplace_back(first, std::min(first + per_frame, n) - 1);
  out.cells = sums(reader, out.windows.size(), [&](std::int64_t window) {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, window) / per_frame);
  });
  const auto size = [&] {
    std::size_t cells = 0;
    for (const std::vector<PairTraffic>& frame : out.cells) cells += frame.size();
    return cells;
  };
  while (size() > most_cells && out.block < reader.run().ranks) {
    for (std::vector<PairTraffic>& frame : out.cells) coarsen(frame);
    out.block *= 2;
  }
  return out;
}

std::vector<PairTraffic> total_traffic(record::Reader& reader) {
  return std::move(sums(reader, 1, [](std::int64_t) { return std::size_t{0}; }).front());
}

}  // namespace effort::tools
