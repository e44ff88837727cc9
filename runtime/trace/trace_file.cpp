#include "runtime/trace/trace_file.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace effort::engine {

void TraceFile::open(const std::filesystem::path& directory, record::trace::Header header) {
  opened_ = true;
  if (group_ > 1) {
    const std::vector<std::int32_t> mine = header.nodes.at(0).ranks;
    const auto all = nodes_.allgatherv(std::span<const std::int32_t>(mine));
    header.nodes.clear();
    for (int node = nodes_.rank(); node < std::min(nodes_.rank() + group_, nodes_.size()); ++node)
      header.nodes.push_back({node, {all.of(node).begin(), all.of(node).end()}});
  }
  if (writes())
    writer_ = std::make_unique<record::trace::Writer>(directory / record::trace::file_name(nodes_.rank()), header);
}

void TraceFile::append(const std::vector<std::byte>& chunk) {
  appended_ += chunk.size();
  if (!writes())
    pending_.insert(pending_.end(), chunk.begin(), chunk.end());
  else if (writer_)
    writer_->append(chunk);
}

/// In each round, every node except the first of a file sends to the preceding node what it received in the previous
/// round.
void TraceFile::flush() {
  std::vector<std::byte> carried = std::exchange(pending_, {}), received, arrived;
  for (int round = 1; round < group_; ++round) {
    const std::span<const std::byte> out =
        writes() ? std::span<const std::byte>() : std::span<const std::byte>(carried);
    const auto length = static_cast<std::int64_t>(out.size());
    std::int64_t coming = 0;
    nodes_.neighbour_exchange<std::int64_t>(std::span(&length, 1), {}, {}, std::span(&coming, 1));
    received.resize(static_cast<std::size_t>(coming));
    nodes_.neighbour_exchange<std::byte>(out, {}, {}, received);
    if (writes()) arrived.insert(arrived.end(), received.begin(), received.end());
    carried.swap(received);
  }
  if (writer_ && !arrived.empty()) writer_->append(arrived);
}

}  // namespace effort::engine
