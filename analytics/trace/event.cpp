#include "analytics/trace/event.hpp"

#include <array>

namespace effort::trace {

std::string_view kind_text(Kind kind) {
  static constexpr std::array<std::string_view, n_kinds> texts{
      "enter",   "leave",         "send",         "send_start",        "send_done",
      "receive", "receive_start", "receive_done", "request_cancelled", "collective",
      "step",    "phase",         "work",         "rebalance",         "one_sided"};
  const auto i = static_cast<std::size_t>(kind);
  return i < texts.size() ? texts[i] : "unknown";
}

}  // namespace effort::trace
