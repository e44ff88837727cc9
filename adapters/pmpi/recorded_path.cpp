#include "adapters/pmpi/recorded_path.hpp"

namespace effort::pmpi {
namespace {

/// Charges the computation since the last call that split to the pair of both calls.
void close_gap(Thread& thread, measure::ThreadSlot& slot, Site& site, std::uint64_t now) {
  const std::uint64_t gap = now - thread.left;
  if (steps_want_cpu_time) thread.count_computation(gap);
  const bool waited = thread.waited(site, gap, now);
  measure::claim_ticks(slot, static_cast<std::uint32_t>(waited ? site.region : thread.pair(site)), waited);
}

}  // namespace

MessageCall* message_call(Thread& thread) {
  if (!thread.message_call) {
    try {
      thread.message_call = std::make_shared<MessageCall>();
    } catch (const std::exception&) {
      end_messages();
    }
  }
  return thread.message_call.get();
}

Site* enter_recorded(Thread& thread, measure::ThreadSlot& slot, Call call, const Caller& from, std::uint64_t now) {
  if (thread.nesting > 0 || !thread.ready(&slot) || !measure::may_begin_recorded(slot)) return nullptr;
  Site* site = thread.previous->follower;
  if (__builtin_expect(!site->is(call, from.return_address, from.cfa), 0)) {
    site = thread.known_site(call, from.return_address, from.cfa);
    if (!site || site->region <= 0) return nullptr;
    thread.previous->follower = site;
  }
  if (!measure::close_gate_to_record(slot, now)) return nullptr;
  thread.previous = site;
  thread.nesting = 1;
  thread.begun = true;
  thread.entered = now;
  measure::begin_recorded(slot, static_cast<std::uint32_t>(site->region), now);
  if (site->splits) close_gap(thread, slot, *site, now);
  return site;
}

bool leave_recorded(Thread& thread, measure::ThreadSlot& slot, Site& site, bool in_vain, std::uint64_t now) {
  const auto region = static_cast<std::uint32_t>(site.region);
  if (!measure::may_end_recorded(slot, region) || !measure::close_gate_to_record(slot, now)) return false;
  measure::end_recorded(slot, region, now);
  thread.nesting = 0;
  if (!site.splits) return true;
  thread.last = &site;
  thread.polled_in_vain = in_vain;
  thread.left_at(now, false);
  if (steps_want_cpu_time) thread.start_computation(site);
  return true;
}

void disown_completions(Thread& thread, measure::ThreadSlot& slot, std::uint32_t completions, std::uint64_t left) {
  constexpr std::uint32_t every = 64;
  std::uint64_t took = thread.per_completion * completions;
  if (thread.completing++ % every == 0) {
    took = measure::tsc() - left;
    const std::uint64_t each = took / completions;
    // An interrupted call has not completed anything.
    thread.per_completion = thread.per_completion == 0 || each < thread.per_completion
                                ? each
                                : thread.per_completion + std::min(each - thread.per_completion, each / 8 + 1) / 8;
  }
  measure::disregard_until(slot, left + took);
  if (thread.left == left - 1) thread.left_at(left + took, false);
}

}  // namespace effort::pmpi
