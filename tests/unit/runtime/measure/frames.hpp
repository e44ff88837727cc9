// Helpers of the recorder's tests: frames read back, regions set by hand.
#pragma once

#include "runtime/measure/boundary.hpp"
#include "runtime/measure/recorder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <string>

namespace effort::measure {

struct Frame {
  FrameHeader header{};
  std::map<std::pair<std::uint32_t, std::uint16_t>, double> values;  // (region, series)

  double at(std::uint32_t region, std::uint32_t series) const {
    const auto found = values.find({region, static_cast<std::uint16_t>(series)});
    return found == values.end() ? 0 : found->second;
  }
};

// Reads the one frame of a stream; counts the definitions before it.
inline Frame read(RecordStream& stream, int* definitions = nullptr) {
  Frame f;
  std::span<const std::byte> bytes(stream.bytes());
  while (!bytes.empty()) {
    RecordHeader h;
    std::memcpy(&h, bytes.data(), sizeof h);
    REQUIRE(h.bytes <= bytes.size());
    if (h.type == RecordType::definition && definitions) ++*definitions;
    if (h.type == RecordType::frame) {
      std::memcpy(&f.header, bytes.data(), sizeof f.header);
      for (std::uint32_t i = 0; i < f.header.n_entries; ++i) {
        Entry e;
        std::memcpy(&e, bytes.data() + sizeof f.header + i * sizeof e, sizeof e);
        f.values[{e.region, e.series}] += e.value;
      }
    }
    bytes = bytes.subspan(h.bytes);
  }
  stream.clear();
  return f;
}

inline void begin(Recorder& r, std::uint32_t region) { open_region(r.slot(), region); }
inline void end(Recorder& r) {
  ThreadSlot& s = r.slot();
  REQUIRE(close_region(s, innermost(s)));
}

inline double spin(double seconds) {
  const std::uint64_t start = monotonic_ns();
  while (static_cast<double>(monotonic_ns() - start) * 1e-9 < seconds) {
  }
  return static_cast<double>(monotonic_ns() - start) * 1e-9;
}

/// All ticks that a slot has booked, and up to which moment: each belongs to one cell, whatever was interrupted.
inline std::uint64_t unbooked(const ThreadSlot& s) {
  std::uint64_t sum = 0;
  for (std::uint32_t r = 0; r <= s.known.load(); ++r) sum += s.cells.load()[r].ticks.load();
  return s.stamp.load() - sum;
}

/// Lets the slot book every tick, those that the library itself takes included.
inline void book_all(ThreadSlot& s) {
  s.own.before_begin = 0;
  s.own.before_end = 0;
}

/// The notes in a stream of records.
inline std::vector<std::string> notes_in(RecordStream& stream) {
  std::vector<std::string> notes;
  std::span<const std::byte> bytes(stream.bytes());
  while (!bytes.empty()) {
    RecordHeader h;
    std::memcpy(&h, bytes.data(), sizeof h);
    if (h.type == RecordType::definition)
      if (const Defined d = read_definition(bytes.first(h.bytes)); d.what == Definition::note) notes.push_back(d.name);
    bytes = bytes.subspan(h.bytes);
  }
  return notes;
}

}  // namespace effort::measure
