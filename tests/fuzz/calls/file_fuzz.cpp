// Any bytes are refused or decode to as many events as they announce: a block of calls, whose first byte says whether
// it is in a file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "analytics/calls/block.hpp"
#include "analytics/codec/codec.hpp"
#include "record/calls/file.hpp"
#include "record/reader.hpp"

namespace {

constexpr std::uint64_t most_events = 1 << 20;

void read_block(std::span<const std::byte> bytes) {
  using namespace effort::calls;
  std::uint64_t events = 0;
  try {
    decode_block(bytes, most_events, [&](std::uint64_t, std::span<const std::uint32_t> e) { events += e.size(); });
    if (events != announced_events(bytes)) std::abort();
  } catch (const effort::codec::CodecError&) {
  }
  if (events > most_events) std::abort();
}

void read_file(std::vector<std::byte> bytes) {
  using namespace effort::record::calls;
  struct Enough {};
  std::uint64_t events = 0;
  try {
    const CallsFile file(std::move(bytes), "fuzz.calls");
    file.read([&](std::uint64_t stream, std::span<const std::uint32_t> e) {
      if (stream >= file.names().streams.size()) std::abort();
      if ((events += e.size()) > most_events) throw Enough();
    });
  } catch (const effort::record::FormatError&) {
  } catch (const Enough&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (data[0] == 0) {
    read_block(bytes.subspan(1));
  } else {
    read_file({bytes.begin(), bytes.end()});
  }
  return 0;
}
