// The reader of trace files on arbitrary bytes.  They are also taken as chunks whose checksums are right: a byte for
// the type, two for the length, the payload.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/reader.hpp"
#include "record/trace/format.hpp"
#include "record/trace/reader.hpp"
#include "record/trace/writer.hpp"

namespace {

using namespace effort::record::trace;

void read(std::vector<std::byte> bytes) {
  try {
    const Reader reader(std::move(bytes), "fuzz");
    std::size_t budget = 16;  // decoding a chunk of many events takes a while
    for (const EventsInfo& chunk : reader.chunks()) {
      if (budget-- == 0) break;
      try {
        (void)reader.rebuilt(chunk).events;
      } catch (const effort::record::FormatError&) {
      }
    }
  } catch (const effort::record::FormatError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  read({bytes.begin(), bytes.end()});

  static constexpr std::uint32_t type_unknown = effort::record::format::four("NEXT");  // of a later version
  static constexpr std::array types{format::type_header, format::type_names,   format::type_dictionary,
                                    format::type_window, format::type_events,  type_unknown,
                                    format::type_clock,  format::type_modules, format::type_representatives,
                                    format::type_reduced};
  std::vector<std::byte> file = format::file_start();
  Header header;
  header.n_ranks = header.n_nodes = 8;
  const auto append = [&](const std::vector<std::byte>& chunk) { file.insert(file.end(), chunk.begin(), chunk.end()); };
  append(encode(header));
  while (bytes.size() >= 3) {
    const std::uint32_t type = types[std::to_integer<std::size_t>(bytes[0]) % types.size()];
    std::size_t length = std::to_integer<std::size_t>(bytes[1]) | std::to_integer<std::size_t>(bytes[2]) << 8;
    bytes = bytes.subspan(3);
    length = std::min(length, bytes.size());
    append(format::framed(type, bytes.first(length)));
    bytes = bytes.subspan(length);
  }
  read(file);
  return 0;
}
