#include "analytics/codec/history.hpp"

#include "analytics/codec/matrix.hpp"

namespace effort::codec {

HistoryReader::HistoryReader(std::span<const std::byte> bytes) : bytes_(bytes) {
  check_seal(bytes_);
  index_ = read_block_index(bytes_);
}

Decoded HistoryReader::read(int level, std::size_t max_values) const {
  return read_blocks(bytes_, index_, level, 0, max_values);
}

void HistoryReader::read_tiles(const std::function<void(std::size_t, const Decoded&)>& take,
                               std::size_t max_values) const {
  for_each_slab(bytes_, index_, max_values, take);
}

}  // namespace effort::codec
