// Records made by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analytics/communication/operations.hpp"

namespace effort::communication::test {

/// A call by its rank and its place there.
struct At {
  std::int32_t rank = -1;
  std::size_t index = 0;
};

/// Builds a record: calls of each rank in the order of their starts.
class Made {
 public:
  explicit Made(std::int32_t ranks) : calls_(static_cast<std::size_t>(ranks)) {
    record_.n_ranks = ranks;
    for (std::int32_t rank = 0; rank < ranks; ++rank) record_.node_of.push_back(rank / 2);
  }

  At call(std::int32_t rank, Operation operation, std::int64_t begin, std::int64_t end, const std::string& region = "",
          At parent = {}) {
    Call out;
    out.begin_ns = begin;
    out.end_ns = end;
    out.operation = operation;
    out.parent = parent.rank < 0 ? none : static_cast<std::uint32_t>(parent.index);
    const std::string name = region.empty() ? "MPI call " + std::to_string(static_cast<int>(operation)) : region;
    const auto known = std::find(record_.regions.begin(), record_.regions.end(), name);
    out.region = static_cast<std::uint32_t>(known - record_.regions.begin());
    if (known == record_.regions.end()) record_.regions.push_back(name);
    auto& list = calls_[static_cast<std::size_t>(rank)];
    list.push_back(out);
    return {rank, list.size() - 1};
  }
  Call& at(At place) { return calls_[static_cast<std::size_t>(place.rank)][place.index]; }

  void message(At send_start, At send_done, At receive_start, At receive_done, std::uint64_t bytes = 8) {
    messages_.push_back({send_start, send_done, receive_start, receive_done, bytes, {}});
  }
  /// A blocking send and a blocking receive.
  void message(At send, At receive, std::uint64_t bytes = 8) { message(send, send, receive, receive, bytes); }

  void probe_of_last_message(At probe) { messages_.back().probe = probe; }

  struct Part {
    At start, done;
    std::uint64_t sent = 8;
    std::uint8_t group = 0;
  };
  Collective& collective(Operation operation, std::int32_t root, std::vector<Part> parts) {
    record_.collectives.push_back({operation, 0, root, 0, 0});
    parts_.push_back(std::move(parts));
    return record_.collectives.back();
  }
  /// All parts blocking.
  Collective& collective(Operation operation, std::int32_t root, const std::vector<At>& calls) {
    std::vector<Part> parts;
    for (const At& at : calls) parts.push_back({at, at});
    return collective(operation, root, parts);
  }

  Record done() {
    std::vector<std::size_t> first;
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      first.push_back(record_.calls.size());
      for (Call call : calls_[rank]) {
        if (call.parent != none) call.parent += static_cast<std::uint32_t>(first.back());
        record_.calls.push_back(call);
      }
      if (!calls_[rank].empty())
        record_.locations.push_back({static_cast<std::int32_t>(rank), 0, first.back(), record_.calls.size()});
    }
    const auto index = [&](At at) {
      return at.rank < 0 ? none : static_cast<std::uint32_t>(first[static_cast<std::size_t>(at.rank)] + at.index);
    };
    for (const Ends& e : messages_) {
      Message m;
      m.sender = e.send_start.rank;
      m.receiver = std::max(e.receive_start.rank, e.receive_done.rank);
      m.bytes = e.bytes;
      m.send_start = index(e.send_start);
      m.send_done = index(e.send_done);
      m.receive_start = index(e.receive_start);
      m.receive_done = index(e.receive_done);
      m.probe = index(e.probe);
      record_.messages.push_back(m);
    }
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      record_.collectives[c].first = record_.participations.size();
      for (const Part& part : parts_[c])
        record_.participations.push_back(
            {std::max(part.start.rank, part.done.rank), index(part.start), index(part.done), part.sent, 0, part.group});
      record_.collectives[c].end = record_.participations.size();
    }
    record_.spans = {{0, 0, 0, 1'000'000'000}};
    return record_;
  }

  Record& record() { return record_; }

 private:
  struct Ends {
    At send_start, send_done, receive_start, receive_done;
    std::uint64_t bytes;
    At probe;
  };
  Record record_;
  std::vector<std::vector<Call>> calls_;
  std::vector<Ends> messages_;
  std::vector<std::vector<Part>> parts_;
};

}  // namespace effort::communication::test
