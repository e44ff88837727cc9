#include "runtime/recording/stream.hpp"

namespace effort::recording {

bool Stream::next_block(std::uint64_t now) noexcept {
  Memory* const memory = memory_.load(std::memory_order_relaxed);
  if (!memory) return false;
  Block* const fresh = memory->take(thread_, now);
  if (block_) Memory::release(*block_, last_);
  block_ = fresh;
  at_ = fresh ? Memory::words(*fresh) : nullptr;
  end_ = fresh ? at_ + Memory::block_words : nullptr;
  if (!fresh) memory->count_unrecorded();
  return fresh != nullptr;
}

}  // namespace effort::recording
