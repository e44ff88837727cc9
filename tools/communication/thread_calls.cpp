#include "tools/communication/thread_calls.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/communication/operation.hpp"
#include "tools/trace/model/call_names.hpp"
#include "tools/trace/model/call_paths.hpp"

namespace effort::tools {

using communication::none;
using communication::Operation;
using trace::Kind;

std::vector<RegionRole> roles_of(const Trace& trace) {
  std::vector<RegionRole> out;
  for (const TraceRegion& region : trace.regions) {
    const std::string call = mpi_call(region.name);
    RegionRole role;
    role.operation = operation_of_call(call);
    role.starts_only = starts_only(call);
    // Without call paths, the calls of MPI share regions without their names.
    const bool unnamed = call.empty() && (region.kind == 1 || region.kind == 2);
    role.ambiguous = unnamed || call == "start" || call == "startall";
    role.waits = call.starts_with("wait") || region.name == "(MPI, waiting)";
    role.probes = call == "probe" || call == "mprobe";
    role.sparse = call.ends_with("alltoallv") || call.ends_with("alltoallw");
    out.push_back(role);
  }
  return out;
}

ThreadCalls::ThreadCalls(const Trace& trace, const TraceMessages& messages, communication::Record& record,
                         std::vector<CollectivePart>& parts)
    : trace_(trace), messages_(messages), record_(record), parts_(parts), roles_(roles_of(trace)) {}

void ThreadCalls::append(std::size_t thread) {
  const bool same_rank = thread_ != nullptr && thread_->rank == trace_.threads[thread].rank;
  index_ = thread;
  thread_ = &trace_.threads[thread];
  if (!same_rank) first_step_ = record_.steps.size();
  communication::Location location{thread_->rank, thread_->thread, record_.calls.size(), 0};
  for (std::size_t s = 0; s < thread_->spans.size(); ++s) {
    const TraceSpan& span = thread_->spans[s];
    const bool follows =
        s > 0 && trace_.windows[span.window].ordinal <= trace_.windows[thread_->spans[s - 1].window].ordinal + 1;
    if (!follows) pending_.clear(), started_.clear(), probed_ = none;
    walk(span);
  }
  location.end_call = record_.calls.size();
  record_.locations.push_back(location);
}

void ThreadCalls::walk(const TraceSpan& span) {
  const auto begin = thread_->events.begin();
  steps_here_ =
      std::any_of(begin + static_cast<std::ptrdiff_t>(span.first), begin + static_cast<std::ptrdiff_t>(span.end),
                  [](const TraceEvent& event) { return event.kind == Kind::step; });
  step_ = trace_.windows[span.window].first_step;
  stack_.clear();
  for (const std::uint32_t region : open_at_start(*thread_, span)) enter(region, span.start_ns, false);
  for (std::size_t i = span.first; i < span.end; ++i) {
    const TraceEvent& event = thread_->events[i];
    if (event.kind == Kind::enter) {
      enter(event.id, event.time_ns, true);
    } else if (event.kind == Kind::leave) {
      // Calls that are not properly nested end with the one around them; a leave without an enter is skipped.
      std::size_t depth = stack_.size();
      while (depth > 0 && record_.calls[stack_[depth - 1]].region != event.id) --depth;
      while (depth > 0 && stack_.size() >= depth) leave(event.time_ns, true);
    } else {
      note(i);
    }
  }
  while (!stack_.empty()) leave(span.end_ns, false);
  finish_last();
}

void ThreadCalls::enter(std::uint32_t region, std::int64_t time_ns, bool begins) {
  finish_last();
  if (record_.calls.size() >= none)
    throw std::runtime_error("the trace has more than 4,294,967,294 calls, more than can be analysed at once");
  communication::Call call;
  call.begin_ns = call.end_ns = time_ns;
  call.region = region;
  call.parent = stack_.empty() ? none : stack_.back();
  call.operation = roles_[region].operation;
  call.begins = begins;
  stack_.push_back(static_cast<std::uint32_t>(record_.calls.size()));
  record_.calls.push_back(call);
}

void ThreadCalls::leave(std::int64_t time_ns, bool ends) {
  finish_last();
  const std::uint32_t index = stack_.back();
  stack_.pop_back();
  communication::Call& call = record_.calls[index];
  call.end_ns = std::max(call.begin_ns, time_ns);
  call.ends = ends;
  const RegionRole& role = roles_[call.region];
  if (role.starts_only && !role.ambiguous && has_part_ != index) started_.push_back(index);
  if (role.probes && ends) probed_ = index;
  last_left_ = index;
}

/// Completions of a call may be recorded after it, with the time of its end.
void ThreadCalls::finish_last() {
  if (last_left_ == none) return;
  const communication::Call& call = record_.calls[last_left_];
  if (roles_[call.region].waits && completes_ != last_left_ && call.ends) complete_collectives(last_left_);
  last_left_ = none;
}

void ThreadCalls::note(std::size_t i) {
  const TraceEvent& event = thread_->events[i];
  if (event.kind == Kind::step) {
    step_ = static_cast<std::int64_t>(event.bytes);
    record_.steps.push_back({thread_->rank, step_, event.time_ns});
    return;
  }
  if (event.kind == Kind::phase) {
    record_.phases.push_back({thread_->rank, event.id, event.time_ns});
    return;
  }
  if (event.kind == Kind::collective) {
    collective(event, call_of(event));
    return;
  }
  const bool is_message =
      (event.kind >= Kind::send && event.kind <= Kind::receive_done) || event.kind == Kind::one_sided;
  if (!is_message) return;
  const std::uint32_t index = messages_.of_event[index_][i];
  // Messages without their other end show the call's operation, too.
  const std::uint32_t call = call_of(event);
  if (event.kind == Kind::receive_done || event.kind == Kind::send_done) completes_ = call;
  if (index != TraceMessages::none) message(event, index, call);
  if (event.kind == Kind::receive || event.kind == Kind::receive_start) probed_ = none;
}

/// The MPI call that an event belongs to; a call of zero length if it is in none.
std::uint32_t ThreadCalls::call_of(const TraceEvent& event) {
  const bool completes =
      event.kind == Kind::receive || event.kind == Kind::receive_done || event.kind == Kind::send_done;
  const bool behind =
      completes && last_left_ != none && record_.calls[last_left_].end_ns == event.time_ns &&
      (record_.calls[last_left_].operation != Operation::user || roles_[record_.calls[last_left_].region].ambiguous);
  if (behind || !stack_.empty()) {
    const std::uint32_t top = behind ? last_left_ : stack_.back();
    communication::Call& call = record_.calls[top];
    if (roles_[call.region].ambiguous && refined_ != top) {
      call.operation = operation_of_event(event, thread_->rank);
      refined_ = top;
    }
    if (call.operation != Operation::user) return top;
  }
  if (roles_.size() == trace_.regions.size()) {
    roles_.emplace_back();
    record_.regions.emplace_back("(a message outside of MPI calls)");
  }
  enter(static_cast<std::uint32_t>(trace_.regions.size()), event.time_ns, true);
  const std::uint32_t index = stack_.back();
  record_.calls[index].operation = operation_of_event(event, thread_->rank);
  leave(event.time_ns, true);
  last_left_ = none;
  return index;
}

void ThreadCalls::message(const TraceEvent& event, std::uint32_t index, std::uint32_t call) {
  communication::Message& m = record_.messages[index];
  switch (event.kind) {
    case Kind::send: m.send_start = m.send_done = call; break;
    case Kind::send_start: m.send_start = call; break;
    case Kind::send_done: m.send_done = call; break;
    case Kind::receive:
      m.receive_start = m.receive_done = call;
      m.probe = probed_;
      break;
    case Kind::receive_start:
      m.receive_start = call;
      m.probe = probed_;
      break;
    case Kind::receive_done: m.receive_done = call; break;
    default: break;
  }
}

void ThreadCalls::collective(const TraceEvent& event, std::uint32_t call) {
  const communication::Call& in = record_.calls[call];
  const RegionRole& role = roles_[in.region];
  CollectivePart part;
  part.communicator = event.id;
  part.rank = thread_->rank;
  part.root = event.peer;
  part.sent = event.bytes;
  part.received = event.received_bytes;
  part.operation = in.operation;
  part.sparse = role.sparse;
  part.order_ns = in.begin_ns;
  has_part_ = call;
  const bool completes = in.operation == Operation::wait || in.operation == Operation::wait_all;
  if (!completes) {
    part.start = call;
    if (!role.starts_only) part.done = call;
  } else {
    completes_ = call;
    part.done = call;
    if (!started_.empty()) {
      part.start = started_.front();
      started_.pop_front();
      part.operation = record_.calls[part.start].operation;
      part.sparse = roles_[record_.calls[part.start].region].sparse;
      part.order_ns = record_.calls[part.start].begin_ns;
    }
  }
  if (!communication::is_collective(part.operation)) part.operation = operation_of_event(event, thread_->rank);
  part.step = trace_.is_otf2 ? 0 : steps_here_ ? step_ : step_at(part.order_ns);
  if (part.done == none) pending_.push_back(parts_.size());
  parts_.push_back(part);
}

void ThreadCalls::complete_collectives(std::uint32_t call) {
  const bool one = record_.calls[call].operation == Operation::wait;
  while (!pending_.empty()) {
    parts_[pending_.front()].done = call;
    pending_.pop_front();
    if (one) break;
  }
}

/// For a thread that records no steps: found by time.
std::int64_t ThreadCalls::step_at(std::int64_t time_ns) const {
  const auto first = record_.steps.begin() + static_cast<std::ptrdiff_t>(first_step_);
  const auto after =
      std::upper_bound(first, record_.steps.end(), time_ns,
                       [](std::int64_t time, const communication::Step& s) { return time < s.begin_ns; });
  return after == first ? step_ : (after - 1)->number;
}

}  // namespace effort::tools
