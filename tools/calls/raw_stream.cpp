#include "tools/calls/raw_stream.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace effort::tools {

void read_raw_calls(const std::filesystem::path& path, unsigned width,
                    const std::function<void(std::span<const std::uint32_t>)>& sink) {
  static_assert(std::endian::native == std::endian::little);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot read '" + path.string() + "'");
  std::vector<unsigned char> bytes(std::size_t{1} << 18);
  std::vector<std::uint32_t> events(bytes.size() / width);
  std::uint64_t offset = 0;
  for (;;) {
    const std::size_t n = std::fread(bytes.data(), 1, bytes.size(), file.get());
    if (std::ferror(file.get()))
      throw std::system_error(errno, std::generic_category(), "cannot read '" + path.string() + "'");
    if (n % width != 0)
      throw std::runtime_error("the file ends within an id of " + std::to_string(width) + " bytes (file '" +
                               path.string() + "', byte " + std::to_string(offset + n - n % width) +
                               "): give the --width that it was written with");
    for (std::size_t i = 0; i < n / width; ++i) {
      events[i] = 0;
      std::memcpy(&events[i], &bytes[i * width], width);
    }
    if (n > 0) sink(std::span(events).first(n / width));
    offset += n;
    if (n < bytes.size()) return;
  }
}

void raw_calls(std::span<const std::uint32_t> events, unsigned width, std::uint64_t at, std::vector<std::byte>& out) {
  out.resize(events.size() * width);
  if (width == 4) {
    std::memcpy(out.data(), events.data(), out.size());
    return;
  }
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto id = static_cast<std::uint16_t>(events[i]);
    largest = largest > events[i] ? largest : events[i];
    std::memcpy(&out[2 * i], &id, 2);
  }
  if (largest <= 0xFFFF) return;
  std::size_t i = 0;
  while (events[i] <= 0xFFFF) ++i;
  throw std::runtime_error("event " + std::to_string(at + i) + " has the id " + std::to_string(events[i]) +
                           ", too large for 2 bytes: give --width 4");
}

}  // namespace effort::tools
