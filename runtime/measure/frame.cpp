#include "runtime/measure/frame.hpp"

#include <algorithm>
#include <utility>

namespace effort::measure {
namespace {

RecordHeader header_of(std::span<const std::byte> record) {
  RecordHeader h;
  std::memcpy(&h, record.data(), sizeof h);
  return h;
}

}  // namespace

void RecordStream::grow(std::size_t n) {
  const std::size_t room = std::max(2 * room_, size_ + n);
  auto data = std::make_unique_for_overwrite<std::byte[]>(room);
  if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  room_ = room;
}

Defined read_definition(std::span<const std::byte> record) {
  std::uint32_t head[4];
  std::memcpy(head, record.data() + sizeof(RecordHeader), sizeof head);
  const char* text = reinterpret_cast<const char*>(record.data()) + sizeof(RecordHeader) + sizeof head;
  return {static_cast<Definition>(head[1] >> 8), head[0], static_cast<Kind>(head[1] & 0xff), std::string(text, head[2]),
          std::string(text + head[2], head[3])};
}

std::string read_text(std::span<const std::byte> record) {
  return {reinterpret_cast<const char*>(record.data()) + sizeof(RecordHeader),
          record.size() - sizeof(RecordHeader) - header_of(record).flags};
}

}  // namespace effort::measure
