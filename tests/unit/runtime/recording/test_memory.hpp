// Zeroed memory for the trace of one rank.
#pragma once

#include "runtime/recording/memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

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

}  // namespace effort::recording
