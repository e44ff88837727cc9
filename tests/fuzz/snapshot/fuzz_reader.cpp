// Gives untrusted bytes to the snapshot reader, which must read them or throw a FormatError, in bounded time and
// memory.
//
// If the first byte is 0 mod 8, the rest is a file. Otherwise the rest becomes the payload of a section of a valid file
// with corrected checksums, which random bytes would never match.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/cbor.hpp"
#include "record/reader.hpp"
#include "sample_run.hpp"
#include "surgery.hpp"

namespace {

void read_all(std::vector<std::byte> file) {
  try {
    effort::record::Reader reader(std::move(file), "fuzz");
    reader.verify();
    reader.each_exact([](std::int32_t, const effort::record::ExactBlock&) {});
  } catch (const effort::record::FormatError&) {
  }
}

std::vector<std::byte> with_payload(std::uint8_t choice, std::vector<std::byte> payload) {
  using namespace effort::record::test;
  static const RawFile good = RawFile::parse(sample_file());
  RawFile file = good;
  RawSection& section = file.sections.at(choice % file.sections.size());
  const bool compressed = choice & 0x40;
  section.raw = payload.size() * (compressed ? 4 : 1);
  section.flags = static_cast<std::uint16_t>((section.flags & 1) | (compressed ? 2 : 0));
  section.payload = std::move(payload);
  return file.assemble();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> rest(bytes + 1, bytes + size);
  read_all(data[0] % 8 == 0 ? rest : with_payload(data[0] / 8, rest));
  return 0;
}
