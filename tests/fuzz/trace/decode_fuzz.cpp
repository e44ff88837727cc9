// Any bytes are refused or decode to something: a piece of a dictionary (its length in two bytes), then a chunk.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "analytics/trace/coder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace effort::trace;
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  Decoder decoder;
  try {
    while (bytes.size() >= 2) {
      const std::size_t length = std::to_integer<std::size_t>(bytes[0]) | std::to_integer<std::size_t>(bytes[1]) << 8;
      bytes = bytes.subspan(2);
      if (length > bytes.size()) break;
      decoder.add(bytes.first(length));
      bytes = bytes.subspan(length);
    }
    const std::vector<Event> events = decoder.decode({3, 1, 1000, -5}, bytes);
    for (std::size_t i = 1; i < events.size(); ++i)
      if (events[i].time_ns < events[i - 1].time_ns) std::abort();
  } catch (const TraceError&) {
  }
  return 0;
}
