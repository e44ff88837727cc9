// Recordings for tests, made as libeffort_functions does, in memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "analytics/calls/live.hpp"
#include "record/calls/recording.hpp"

namespace effort::record::calls::test {

class RecordingMaker {
 public:
  explicit RecordingMaker(std::uint32_t functions, std::uint32_t stamp_every = 0) {
    bytes_.resize(recording::header_bytes);
    recording::Header header{};
    std::memcpy(header.magic, recording::magic.data(), recording::magic.size());
    header.version = recording::version;
    header.chunk_bytes = recording::chunk_bytes;
    header.process = 4711;
    header.rank = 3;
    header.functions = functions;
    header.modules = 1;
    header.stamp_every = stamp_every;
    put(0, header);
    recording::ModuleEntry module{};
    module.path_bytes = 8;
    module.build_id_bytes = 2;
    std::memcpy(module.build_id, "\x01\xff", 2);
    std::memcpy(module.path, "/opt/app", 8);
    put(add_chunk(recording::modules, 0, 0) + sizeof(recording::ChunkHeader), module);
    std::size_t chunk = 0;
    for (std::uint32_t i = 0; i < functions; ++i) {
      const std::size_t inside = i % recording::functions_per_chunk;
      if (inside == 0)
        chunk = add_chunk(recording::functions, 0, static_cast<std::uint32_t>(i / recording::functions_per_chunk));
      put(chunk + sizeof(recording::ChunkHeader) + inside * sizeof(recording::FunctionEntry),
          recording::FunctionEntry{0x1000u + 16u * i, 0, 0});
    }
  }

  void thread(std::uint32_t number, std::span<const std::uint32_t> events) {
    using effort::calls::LiveEvent;
    const auto predictor = std::make_unique<effort::calls::LivePredictor>();
    const std::size_t chunk = add_chunk(recording::calls, number, 0);
    std::size_t used = 0;
    std::uint64_t expected = 0;
    for (const std::uint32_t each : events) {
      const auto event = static_cast<LiveEvent>(each);
      if (predictor->expects(event)) {
        predictor->add(event);
        ++expected;
        continue;
      }
      unsigned char record[effort::calls::most_record_bytes];
      const auto n = static_cast<std::size_t>(
          effort::calls::put_record(record, expected, predictor->second() == event, event) - record);
      if (used + n > recording::room) {
        set_state(chunk, used, expected);
        begin_next(chunk);
        used = 0;
      }
      std::memcpy(&bytes_[chunk + sizeof(recording::ChunkHeader) + used], record, n);
      used += n;
      expected = 0;
      predictor->add(event);
    }
    set_state(chunk, used, expected);
  }

  /// The times of a thread's stamps.
  void stamps(std::uint32_t number, std::span<const std::uint64_t> gaps) {
    const std::size_t chunk = add_chunk(recording::stamps, number, 0);
    std::size_t used = 0;
    for (const std::uint64_t gap : gaps) {
      if (used + effort::calls::most_number_bytes > recording::room) {
        set_state(chunk, used, 0);
        begin_next(chunk);
        used = 0;
      }
      auto* const at = reinterpret_cast<unsigned char*>(&bytes_[chunk + sizeof(recording::ChunkHeader)]);
      used = static_cast<std::size_t>(effort::calls::put_number(at + used, gap) - at);
    }
    set_state(chunk, used, 0);
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

  /// Appends a copy of a full chunk.
  /// @return  its place
  std::size_t append(std::size_t chunk) {
    const std::size_t at = add_chunk(recording::unused, 0, 0);
    std::memcpy(&bytes_[at], &bytes_[chunk], recording::chunk_bytes);
    return at;
  }

 private:
  template <typename T>
  void put(std::size_t at, const T& value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  std::size_t add_chunk(recording::ChunkKind kind, std::uint32_t thread, std::uint32_t sequence) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + recording::chunk_bytes);
    recording::ChunkHeader header{};
    header.kind = kind;
    header.thread = thread;
    header.sequence = sequence;
    put(at, header);
    put(offsetof(recording::Header, chunks), static_cast<std::uint32_t>(at / recording::chunk_bytes));
    return at;
  }
  /// A full chunk is copied to the end, and its place used for the next one.
  void begin_next(std::size_t chunk) {
    append(chunk);
    const std::size_t at = chunk + offsetof(recording::ChunkHeader, sequence);
    std::uint32_t sequence;
    std::memcpy(&sequence, &bytes_[at], sizeof sequence);
    put(at, sequence + 1);
    std::memset(&bytes_[chunk + sizeof(recording::ChunkHeader)], 0xA5, recording::room);
  }
  void set_state(std::size_t chunk, std::size_t used, std::uint64_t expected) {
    put(chunk + offsetof(recording::ChunkHeader, state), std::uint64_t{used} << recording::run_bits | expected);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace effort::record::calls::test
