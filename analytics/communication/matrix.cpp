#include "analytics/communication/matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>

namespace effort::communication {

namespace {

/// The calls of a message, each once: of its send, its completion, the receive, its completion.
std::array<std::uint32_t, 4> calls_of(const Message& m) {
  std::array<std::uint32_t, 4> out = {m.send_start, m.send_done, m.receive_start, m.receive_done};
  for (std::size_t i = 1; i < out.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (out[i] == out[j]) out[i] = none;
  return out;
}

}  // namespace

void add_size(std::vector<SizeCount>& sizes, std::int32_t size_class, std::uint64_t messages) {
  const auto at = std::lower_bound(sizes.begin(), sizes.end(), size_class,
                                   [](const SizeCount& s, std::int32_t c) { return s.size_class < c; });
  if (at != sizes.end() && at->size_class == size_class)
    at->messages += messages;
  else
    sizes.insert(at, {size_class, messages});
}

std::vector<Flow> message_matrix(const Record& record, const std::vector<std::uint32_t>& path_of_call) {
  std::vector<std::uint32_t> messages_in(record.calls.size(), 0);
  for (const Message& m : record.messages)
    for (const std::uint32_t call : calls_of(m))
      if (call != none) ++messages_in[call];
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, Flow> flows;
  for (const Message& m : record.messages) {
    const auto flow = [&](std::uint32_t path) -> Flow& {
      return flows.try_emplace({m.sender, m.receiver, path}, Flow{m.sender, m.receiver, path, 0, 0, {}, 0})
          .first->second;
    };
    Flow& sent = flow(m.send_start == none ? none : path_of_call[m.send_start]);
    ++sent.messages;
    sent.bytes += m.bytes;
    add_size(sent.sizes, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(m.bytes))), 1);
    for (const std::uint32_t call : calls_of(m)) {
      if (call == none) continue;
      const Call& in = record.calls[call];
      flow(path_of_call[call]).ns += static_cast<double>(in.end_ns - in.begin_ns) / messages_in[call];
    }
  }
  std::vector<Flow> out;
  for (const auto& [key, flow] : flows) out.push_back(flow);
  return out;
}

}  // namespace effort::communication
