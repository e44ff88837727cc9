// Any bytes are refused or decode to something: pieces (the length of each in two bytes), then a chunk.  The bytes are
// taken three times: all pieces are of the dictionary, and the chunk is plain; in the other two the last piece has
// representatives, or none has, and the chunk is reduced.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "analytics/trace/coder.hpp"

namespace {

using namespace effort::trace;

using Bytes = std::span<const std::byte>;

void check_order(const std::vector<Event>& events) {
  for (std::size_t i = 1; i < events.size(); ++i)
    if (events[i].time_ns < events[i - 1].time_ns) std::abort();
}

void decode(const std::vector<Bytes>& pieces, std::size_t of_dictionary, Bytes chunk, bool reduced) {
  const Place place{3, 1, 1000, -5};
  Decoder decoder;
  try {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      i < of_dictionary ? decoder.add(pieces[i]) : decoder.add_representatives(pieces[i]);
    check_order(reduced ? decoder.decode_reduced(place, chunk).events : decoder.decode(place, chunk));
  } catch (const TraceError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  std::vector<Bytes> pieces;
  while (bytes.size() >= 2) {
    const std::size_t length = std::to_integer<std::size_t>(bytes[0]) | std::to_integer<std::size_t>(bytes[1]) << 8;
    if (length > bytes.size() - 2) {
      bytes = bytes.subspan(2);
      break;
    }
    pieces.push_back(bytes.subspan(2, length));
    bytes = bytes.subspan(2 + length);
  }
  decode(pieces, pieces.size(), bytes, false);
  decode(pieces, pieces.size(), bytes, true);
  if (!pieces.empty()) decode(pieces, pieces.size() - 1, bytes, true);
  return 0;
}
