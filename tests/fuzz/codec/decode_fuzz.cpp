// Any bytes are either decoded or refused with a CodecError, in bounded time and memory.
#include "analytics/codec/history.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace {

using namespace effort::codec;

constexpr std::size_t most_values = 1 << 16;

/// The checksum is corrected first, because otherwise the fuzzer would never get past it.
std::vector<std::byte> sealed(std::span<const std::byte> bytes) {
  std::vector<std::byte> stream(bytes.begin(), bytes.end());
  if (stream.size() < 4) return stream;
  std::uint32_t hash = 2166136261u;
  for (std::size_t i = 0; i < stream.size(); ++i)
    if (i != 2 && i != 3) hash = (hash ^ std::to_integer<std::uint32_t>(stream[i])) * 16777619u;
  hash ^= hash >> 16;
  stream[2] = static_cast<std::byte>(hash & 255);
  stream[3] = static_cast<std::byte>(hash >> 8 & 255);
  return stream;
}

template <typename Work>
void refuse_or_work(const Work& work) {
  try {
    work();
  } catch (const CodecError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool started = [] {
    Kokkos::initialize();
    return true;
  }();
  (void)started;
  const auto raw = std::as_bytes(std::span(data, size));
  const auto stream = sealed(raw);
  refuse_or_work([&] { inspect(stream); });
  refuse_or_work([&] { decode(stream, {.max_values = most_values}); });
  refuse_or_work([&] { decode(stream, {.passes = 2, .level = 1, .max_values = most_values}); });
  refuse_or_work([&] { decode(raw, {.max_values = most_values, .prefix = true}); });
  refuse_or_work([&] { HistoryReader(stream).read(0, most_values); });
  refuse_or_work([&] { HistoryReader(stream).read(2, most_values); });
  return 0;
}
