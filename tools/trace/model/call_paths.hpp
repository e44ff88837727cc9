// Call paths: regions by nesting, and the time in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

/// The call paths that were seen so far, as a tree.
class CallPaths {
 public:
  static constexpr std::int32_t none = -1;

  explicit CallPaths(const Trace& trace) : trace_(trace) {}

  /// The path of a region that is entered inside `parent`.  A region that names its own parent is a path by itself.
  std::int32_t enter(std::int32_t parent, std::uint32_t region);
  std::size_t size() const { return nodes_.size(); }
  std::uint32_t region(std::int32_t path) const { return nodes_[static_cast<std::size_t>(path)].region; }
  std::int32_t parent(std::int32_t path) const { return nodes_[static_cast<std::size_t>(path)].parent; }
  /// The names from the outermost region to the innermost, with '/' between.
  std::string text(std::int32_t path) const;

 private:
  std::int32_t child(std::int32_t parent, std::uint32_t region);
  struct Node {
    std::int32_t parent;
    std::uint32_t region;
  };
  const Trace& trace_;
  std::vector<Node> nodes_;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::int32_t> child_;
};

/// The part of a call that lies in a span.
struct Call {
  std::int32_t path = CallPaths::none;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t exclusive_ns = 0;  ///< without the calls inside it
  bool begins = true;             ///< else it began before the span
  bool ends = true;               ///< else it continues after the span
  std::size_t depth = 0;          ///< calls around it
};

/// The regions that are open when a span begins, outermost first: those that are left without having been entered.
std::vector<std::uint32_t> open_at_start(const TraceThread& thread, const TraceSpan& span);

/// Walks through the events of a span.
/// @param visitor  visitor.event(index, path): an event other than enter and leave, and the call path it is in;
///                 visitor.end(call): a call, when it ends or the span does
/// Calls that are not properly nested end with the one around them; a leave without an enter is skipped.
template <typename Visitor>
void walk_calls(const TraceThread& thread, const TraceSpan& span, CallPaths& paths, Visitor&& visitor) {
  std::vector<Call> stack;
  const auto top = [&] { return stack.empty() ? CallPaths::none : stack.back().path; };
  const auto leave = [&](std::int64_t time, bool ends) {
    Call call = stack.back();
    stack.pop_back();
    call.end_ns = time;
    call.depth = stack.size();
    call.ends = ends;
    call.exclusive_ns += time - call.begin_ns;
    if (!stack.empty()) stack.back().exclusive_ns -= time - call.begin_ns;
    visitor.end(call);
  };
  for (const std::uint32_t region : open_at_start(thread, span))
    stack.push_back({paths.enter(top(), region), span.start_ns, 0, 0, false, true});
  for (std::size_t i = span.first; i < span.end; ++i) {
    const TraceEvent& event = thread.events[i];
    if (event.kind == trace::Kind::enter) {
      stack.push_back({paths.enter(top(), event.id), event.time_ns});
    } else if (event.kind == trace::Kind::leave) {
      std::size_t depth = stack.size();
      while (depth > 0 && paths.region(stack[depth - 1].path) != event.id) --depth;
      while (depth > 0 && stack.size() >= depth) leave(event.time_ns, true);
    } else {
      visitor.event(i, top());
    }
  }
  while (!stack.empty()) leave(std::max(span.end_ns, stack.back().begin_ns), false);
}

}  // namespace effort::tools
