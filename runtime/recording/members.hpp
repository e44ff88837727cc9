// The members of a communicator as text: "0-3,8,10-20:2,7-4" are the ranks 0 to 3, 8, every second one from 10 to 20,
// and 7 down to 4, in the order of the communicator's ranks.  "0-3|4-7" are the two groups of an intercommunicator.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effort::recording {

/// A longer text is replaced by an empty one, which means that the members are unknown.
inline constexpr std::size_t longest_members = 1000;

/// @param ranks  in MPI_COMM_WORLD; -1: not in it
inline std::string members_text(std::span<const int> ranks) {
  for (const int r : ranks)
    if (r < 0) return "";
  std::string out;
  for (std::size_t i = 0; i < ranks.size() && out.size() <= longest_members;) {
    std::size_t last = i + 1;
    const std::int64_t step = last < ranks.size() ? std::int64_t{ranks[last]} - ranks[i] : 0;
    while (last < ranks.size() && step != 0 && std::int64_t{ranks[last]} - ranks[last - 1] == step) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(ranks[i]);
    if (last - i < 3) {  // too short for a range, unless the two ranks are consecutive
      if (last - i < 2 || (step != 1 && step != -1)) last = i + 1;
    }
    if (last - i > 1) out += '-' + std::to_string(ranks[last - 1]);
    if (last - i > 1 && step != 1 && step != -1) out += ':' + std::to_string(step < 0 ? -step : step);
    i = last;
  }
  return out.size() > longest_members ? "" : out;
}

/// Appends the ranks of one group.  @return false if the text is not such a list, or names more than `most` ranks
inline bool append_members(std::string_view text, std::vector<std::int32_t>& out, std::size_t most = 1u << 24) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t first = 0, last = 0, step = 1;
    auto read = [&](std::int64_t& number) {
      const auto [next, error] = std::from_chars(at, end, number);
      at = next;
      return error == std::errc() && number >= 0 && number <= INT32_MAX;
    };
    if (!read(first)) return false;
    last = first;
    if (at < end && *at == '-' && (++at, !read(last))) return false;
    if (at < end && *at == ':' && (++at, !read(step) || step == 0)) return false;
    const std::int64_t n = (last > first ? last - first : first - last) / step + 1;
    if (out.size() + static_cast<std::size_t>(n) > most) return false;
    for (std::int64_t i = 0; i < n; ++i)
      out.push_back(static_cast<std::int32_t>(last > first ? first + i * step : first - i * step));
    if (at < end && *at++ != ',') return false;
  }
  return true;
}

}  // namespace effort::recording
