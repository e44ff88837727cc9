#include "runtime/collect/message_reader.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>

namespace effort::engine {

using communication::MessagePart;
using recording::RecordKind;
using recording::Word;

namespace {

constexpr std::size_t deepest = 1024;  // nested regions that are followed

/// The time by which a rank's message parts are ordered.
std::int64_t time_of(const MessagePart& p) {
  return p.type == MessagePart::Type::send || p.type == MessagePart::Type::receive_start ? p.begin_ns : p.end_ns;
}

}  // namespace

bool MessageReader::read(std::int64_t last) {
  parts_.clear();
  inside_.clear();
  std::uint64_t to = 0;
  if (!memory_) return false;
  if (last < next_step_ || !memory_.step_end(last, to)) return true;
  ends_.clear();
  for (std::int64_t step = next_step_; step <= last; ++step)
    if (std::uint64_t at = 0; memory_.step_end(step, at)) ends_.emplace_back(at, step);
  const std::vector<recording::Piece> pieces = memory_.pieces(from_, to);
  recording::for_each_record(
      memory_, pieces, from_, to,
      [this](std::uint32_t thread, const Word* record, std::uint64_t now) { see(threads_[thread], record, now); });
  const std::uint64_t lost_until = memory_.lost_until(), unrecorded = memory_.unrecorded();
  const bool lost = (lost_until > 0 && lost_until >= from_) || unrecorded > unrecorded_;
  unrecorded_ = unrecorded;
  if (lost) {
    const std::int64_t whole_from = translate_.ns(lost_until);
    std::erase_if(parts_, [&](const MessagePart& p) { return time_of(p) <= whole_from; });
    inside_.clear();
  }
  if (threads_.size() > 1)
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const MessagePart& a, const MessagePart& b) { return time_of(a) < time_of(b); });
  from_ = to;
  next_step_ = last + 1;
  return !lost;
}

void MessageReader::see(Thread& thread, const Word* record, std::uint64_t now) {
  switch (recording::record_kind_of(record[0])) {
    case RecordKind::enter:
      if (thread.stack.size() < deepest) thread.stack.push_back({recording::id_of(record[0]), now, now, false});
      break;
    case RecordKind::leave: leave(thread, recording::id_of(record[0]), now); break;
    case RecordKind::send:
    case RecordKind::send_start:
    case RecordKind::receive:
    case RecordKind::receive_start:
    case RecordKind::receive_done:
    case RecordKind::send_done:
    case RecordKind::cancelled: add_message(thread, record, now); break;
    default: break;
  }
}

/// A call that has not been left ends with the enclosing one.  A leave without an enter is ignored.
void MessageReader::leave(Thread& thread, std::uint32_t region, std::uint64_t now) {
  std::size_t depth = thread.stack.size();
  while (depth > 0 && thread.stack[depth - 1].region != region) --depth;
  if (depth == 0) return;
  thread.left = thread.stack[depth - 1];
  thread.left.end = now;
  thread.stack.resize(depth - 1);
  if (thread.left.has_messages) add_inside(thread.left);
  if (is_probe(region)) thread.probe = thread.left;
}

/// Whether a region is a probe that blocks until there is a message.
bool MessageReader::is_probe(std::uint32_t region) {
  if (region >= probes_.size()) probes_.resize(region + 1, Probes::unknown);
  Probes& known = probes_[region];
  if (known == Probes::unknown) {
    const std::string call = translate_.call(region);
    if (!call.empty()) known = call == "MPI_Probe" || call == "MPI_Mprobe" ? Probes::yes : Probes::no;
  }
  return known == Probes::yes;
}

/// Messages that a call starts are recorded inside it; those that it completes, after it.
void MessageReader::add_message(Thread& thread, const Word* record, std::uint64_t now) {
  const RecordKind what = recording::record_kind_of(record[0]);
  const bool completes =
      what == RecordKind::receive || what == RecordKind::receive_done || what == RecordKind::send_done;
  const bool starts = what == RecordKind::send || what == RecordKind::send_start || what == RecordKind::receive_start;
  MessagePart part;
  std::uint64_t begin = now;
  if (completes && thread.left.end == now) {
    begin = thread.left.begin;
    if (!thread.left.has_messages) add_inside(thread.left);
    thread.left.has_messages = true;
  } else if (starts && !thread.stack.empty()) {
    thread.stack.back().has_messages = true;
  }
  if (what == RecordKind::send_done) return;
  part.type = what == RecordKind::send || what == RecordKind::send_start ? MessagePart::Type::send
              : what == RecordKind::receive                              ? MessagePart::Type::receive
              : what == RecordKind::receive_start                        ? MessagePart::Type::receive_start
              : what == RecordKind::receive_done                         ? MessagePart::Type::receive_done
                                                                         : MessagePart::Type::cancelled;
  if (what == RecordKind::receive || what == RecordKind::receive_start) {
    if (thread.probe.end > thread.probe.begin) {
      part.probe_begin_ns = translate_.ns(thread.probe.begin);
      part.probe_end_ns = translate_.ns(thread.probe.end);
      add_inside(thread.probe);
    }
    thread.probe = {};
  }
  part.peer = recording::peer_of(record[0]);
  part.tag = static_cast<std::int32_t>(record[2]);
  part.request = static_cast<std::uint32_t>(record[2] >> 32);
  if (what != RecordKind::cancelled) {
    const std::int64_t communicator = translate_.global(recording::communicator_of(record[0]));
    if (communicator < 0) return;
    part.communicator = static_cast<std::uint32_t>(communicator);
  }
  part.begin_ns = translate_.ns(begin);
  part.end_ns = begin == now ? part.begin_ns : translate_.ns(now);
  part.step = step_of(now);
  parts_.push_back(part);
}

void MessageReader::add_inside(const Call& call) {
  inside_.push_back({step_of(call.end), static_cast<double>(measure::ns_of(call.end - call.begin)) * 1e-9});
}

std::int64_t MessageReader::step_of(std::uint64_t ticks) const {
  const auto at = std::upper_bound(ends_.begin(), ends_.end(), std::pair(ticks, std::int64_t{0}),
                                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return at == ends_.end() ? next_step_ : at->second;
}

}  // namespace effort::engine
