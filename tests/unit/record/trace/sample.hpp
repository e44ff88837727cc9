// A small trace file with every type of chunk, always the same.
#pragma once

#include <vector>

#include "record/trace/contents.hpp"

namespace effort::record::trace::test {

struct Sample {
  Header header;
  Names names;
  Modules modules;  ///< since version 1.1
  std::vector<Window> windows;
  struct Chunk {
    Events chunk;
    Dictionary dictionary;  ///< empty if the chunk needs nothing new
    std::vector<Event> events;
  };
  std::vector<Chunk> chunks;  ///< of all windows, in the order of the windows
  Gap gap;
  Clock clock;
};

/// @param kinds  of events: those of the first version, or all
Sample sample(int kinds = effort::trace::n_kinds);
inline constexpr int kinds_of_1_0 = 14;

/// The chunks of the file in their order, the header first.
std::vector<std::vector<std::byte>> encoded(const Sample& sample);

/// The bytes of the file.
std::vector<std::byte> file_of(const std::vector<std::vector<std::byte>>& chunks);

}  // namespace effort::record::trace::test
