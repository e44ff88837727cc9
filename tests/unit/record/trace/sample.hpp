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
    Representatives representatives;  ///< likewise, of a reduced chunk
  };
  std::vector<Chunk> chunks;  ///< of all windows, in the order of the windows
  Clock clock;
  std::vector<End> ends;  ///< since version 1.7
};

/// @param kinds    of events: those of the first version, or all
/// @param reduced  in the second and third window, most steps have the time stamps of others
Sample sample(int kinds = effort::trace::n_kinds, bool reduced = false);
inline constexpr int kinds_of_1_0 = 14;

/// The chunks of the file in their order, the header first.
std::vector<std::vector<std::byte>> encoded(const Sample& sample);

/// The bytes of the file.
std::vector<std::byte> file_of(const std::vector<std::vector<std::byte>>& chunks);

}  // namespace effort::record::trace::test
