#include "analytics/communication/pairs.hpp"

#include <algorithm>
#include <unordered_map>

namespace effort::communication {

std::int64_t message_ns(const Record& record, const Message& m) {
  if (m.send_start == none || m.receive_done == none) return -1;
  return std::max<std::int64_t>(0, record.calls[m.receive_done].end_ns - record.calls[m.send_start].begin_ns);
}

Pairs find_pairs(const Record& record) {
  Pairs out;
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (const Message& m : record.messages) {
    if (m.sender == m.receiver) {
      ++out.to_self;
      continue;
    }
    const std::int32_t a = std::min(m.sender, m.receiver), b = std::max(m.sender, m.receiver);
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
    const auto [at, fresh] = known.emplace(key, out.pairs.size());
    if (fresh) out.pairs.push_back({a, b});
    Pair& pair = out.pairs[at->second];
    ++pair.messages;
    pair.bytes += m.bytes;
    const std::int64_t ns = message_ns(record, m);
    if (ns < 0) {
      ++out.unknown_ends;
      continue;
    }
    const Call &send = record.calls[m.send_start], &receive = record.calls[m.receive_done];
    pair.time_ns += ns;
    pair.calls_ns += send.end_ns - send.begin_ns + receive.end_ns - receive.begin_ns;
  }
  std::sort(out.pairs.begin(), out.pairs.end(),
            [](const Pair& x, const Pair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  return out;
}

double pair_distance(const Pair& pair) { return 1.0 / static_cast<double>(std::max<std::int64_t>(1, pair.time_ns)); }

}  // namespace effort::communication
