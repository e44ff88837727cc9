// Zeroed memory for the trace of one rank.
#pragma once

#include "runtime/recording/memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace effort::recording {

class TestMemory {
 public:
  explicit TestMemory(std::size_t n_blocks) {
    const std::size_t size = (Memory::bytes(n_blocks) + 63) / 64 * 64;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    std::memset(bytes_.get(), 0, size);
    memory = Memory(bytes_.get(), n_blocks);
  }
  Memory memory;

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

/// The records of one thread.
struct Extract {
  std::uint32_t thread;
  std::vector<Word> words;
};
inline std::vector<Extract> read(const Memory& memory, std::uint64_t from, std::uint64_t to) {
  std::vector<Extract> out;
  std::vector<Word> buffer(Memory::block_words);
  for (const Piece& piece : memory.pieces(from, to)) {
    const std::span<const Word> words = memory.copy(piece, buffer);
    if (words.empty()) continue;
    if (out.empty() || out.back().thread != piece.thread) out.push_back({piece.thread, {}});
    out.back().words.insert(out.back().words.end(), words.begin(), words.end());
  }
  return out;
}

}  // namespace effort::recording
