#include "tools/symbols/call_path.hpp"

#include <charconv>
#include <optional>

namespace effort::tools {

namespace {

/// "a+0x1 b+0x2": a module's name may contain blanks and plus signs, so each ends at the next "+0x" that is followed by
/// a number and a blank or the end.
std::optional<std::vector<Frame>> parse_frames(std::string_view text) {
  std::vector<Frame> frames;
  std::size_t begin = 0;
  for (std::size_t at = text.find("+0x"); at != std::string_view::npos; at = text.find("+0x", at + 1)) {
    std::uint64_t address = 0;
    const char* const first = text.data() + at + 3;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), address, 16);
    const auto next = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || (next < text.size() && text[next] != ' ') || at == begin) continue;
    frames.push_back({std::string(text.substr(begin, at - begin)), address});
    begin = next + 1;
  }
  if (begin != text.size() + 1) return std::nullopt;
  return frames;
}

/// "MPI_Send [frames]", or words without frames.
CallPath parse_part(std::string_view text) {
  const std::size_t open = text.find(" [");
  if (open != std::string_view::npos && text.ends_with(']')) {
    if (auto frames = parse_frames(text.substr(open + 2, text.size() - open - 3)))
      return {std::string(text.substr(0, open)), std::move(*frames)};
  }
  return {std::string(text), {}};
}

}  // namespace

std::vector<CallPath> call_paths(std::string_view region) {
  // Between two: after the first one's frames, or after a word ("start > MPI_Send [..]").
  std::size_t middle = region.find("] > ");
  if (middle != std::string_view::npos) {
    ++middle;
  } else {
    middle = region.substr(0, region.find('[')).find(" > ");
  }
  std::vector<CallPath> paths;
  paths.push_back(parse_part(region.substr(0, middle)));
  if (middle != std::string_view::npos) paths.push_back(parse_part(region.substr(middle + 3)));
  for (const CallPath& path : paths) {
    if (!path.frames.empty()) return paths;
  }
  return {};
}

std::string without_modules(std::string_view region) {
  std::string out;
  for (std::size_t at = 0; at < region.size();) {
    const std::size_t end = region[at] == '@' ? region.find_first_of("@ \t", at + 1) : at,
                      plus = region[at] == '@' ? region.find("+0x", at) : std::string_view::npos;
    if (plus < end) {
      at = plus;
    } else {
      out += region[at++];
    }
  }
  return out;
}

}  // namespace effort::tools
