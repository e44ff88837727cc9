// Any bytes are refused or decode to as many events as they announce: a block of calls (after a byte 0), a file, or a
// recording.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "analytics/calls/block.hpp"
#include "analytics/codec/codec.hpp"
#include "record/calls/file.hpp"
#include "record/calls/recording_file.hpp"
#include "record/reader.hpp"

namespace {

constexpr std::uint64_t most_events = 1 << 20;

void read_block(std::span<const std::byte> bytes) {
  using namespace effort::calls;
  std::uint64_t events = 0;
  try {
    std::uint64_t last = 0, of_last = 0, alone = 0;
    const auto count = [&](std::uint64_t stream, std::span<const std::uint32_t> e) {
      events += e.size();
      of_last = stream == last ? of_last + e.size() : e.size();
      last = stream;
    };
    if (decode_block(bytes, most_events, count) != events) std::abort();
    // Streams of blocks, unlike those of files, may come in any order.
    const auto count_alone = [&](std::uint64_t stream, std::span<const std::uint32_t> e) {
      if (stream != last) std::abort();
      alone += e.size();
    };
    decode_block(bytes, most_events, count_alone, last);
    if (alone < of_last) std::abort();
  } catch (const effort::codec::CodecError&) {
  }
  if (events > most_events) std::abort();
}

struct Enough {};

void read_recording(std::vector<std::byte> bytes) {
  using namespace effort::record::calls;
  std::uint64_t events = 0;
  try {
    const RecordingFile file(std::move(bytes), "fuzz.rec");
    for (std::size_t i = 0; i < file.names().streams.size(); ++i)
      file.read_timed(i, [&](std::uint64_t, std::span<const std::uint32_t> e, std::span<const std::uint64_t> g) {
        if (g.size() > e.size()) std::abort();
        for (const std::uint32_t event : e)
          if (event > file.names().functions.size() && event != 65535) std::abort();
        if ((events += e.size()) > most_events) throw Enough();
      });
  } catch (const effort::record::FormatError&) {
  } catch (const Enough&) {
  }
}

void read_file(std::vector<std::byte> bytes) {
  using namespace effort::record::calls;
  std::uint64_t events = 0;
  try {
    const CallsFile file(std::move(bytes), "fuzz.calls");
    file.read_timed([&](std::uint64_t stream, std::span<const std::uint32_t> e, std::span<const std::uint64_t> g) {
      if (g.size() > e.size()) std::abort();
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
  } else if (effort::record::calls::is_recording(bytes)) {
    read_recording({bytes.begin(), bytes.end()});
  } else {
    read_file({bytes.begin(), bytes.end()});
  }
  return 0;
}
