#include "adapters/pmpi/passage.hpp"

#include "adapters/pmpi/calls/port.hpp"
#include "adapters/pmpi/messages/arrivals.hpp"
#include "adapters/pmpi/messages/messages.hpp"
#include "adapters/pmpi/session.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace effort::pmpi {

EFFORT_IN_EVERY_THREAD __thread Thread* this_thread = nullptr;
EFFORT_IN_EVERY_THREAD __thread Caller caller = {};
std::uint64_t least_gap = 0, long_computation = 0;
std::int64_t ns_per_tick = std::int64_t{1} << 32;
bool armed = false;

namespace {

using measure::Kind;

// Limit of the adapter's regions: the host's own regions need room as well, and each region costs a little in every
// step.
constexpr int most_regions = 8192;
std::atomic<int> n_regions{0};
std::atomic<std::uint64_t> counted_session{0};

/// Frees a thread's state when the thread ends.  Later calls of the thread create a new one.
void free_thread(void*) {
  delete this_thread;
  this_thread = nullptr;
}

/// Registers a region and makes room for it in the thread's slot.  Beyond the limit, all further names share one
/// region.
/// @throws std::bad_alloc
effort_region_id region_named(const std::string& name, Kind kind) {
  std::uint32_t id = 0;
  if (n_regions.load(std::memory_order_relaxed) < most_regions) {
    id = port().region(name, kind);
    if (id == 0 && port().has_room_for_region()) throw std::bad_alloc();
    n_regions.fetch_add(1, std::memory_order_relaxed);
  }
  if (id == 0) {
    port().note(
        "there are more call paths than regions, so some share '(other call paths)': lower PATH_DEPTH, or name the "
        "calls that matter in SPLIT");
    id = port().region(kind == Kind::compute ? "(between other call paths)" : "(other call paths)",
                       kind == Kind::compute ? kind : Kind::comm);
  }
  if (id > 0 && !port().slot()) throw std::bad_alloc();  // makes room for it
  return static_cast<effort_region_id>(id);
}

bool enter_region(effort_region_id region) { return port().begin_region(static_cast<std::uint32_t>(region)); }
void leave_region(effort_region_id region) { port().end_region(static_cast<std::uint32_t>(region)); }

/// Names of the regions that all calls of a kind share, and all computation between calls, if there are no call paths.
const char* name_of_all(Kind kind) {
  switch (kind) {
    case Kind::compute: return "(between MPI calls)";
    case Kind::wait: return "(MPI, waiting)";
    case Kind::io: return "(MPI, files)";
    default: return "(MPI)";
  }
}

/// Runs `body`; false if it throws (memory).  The current call is then not measured.  The rank still takes part in what
/// the ranks do together (steps.hpp), so that none waits for it.
template <typename Body>
bool attempt(const Body& body) {
  try {
    body();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

constinit Site Site::nowhere;

Thread::Thread() : stack_end_(stack_end()) {}

Thread& make_thread() {
  static const ThreadEnd end(free_thread);
  if (!this_thread) {
    if (!end.ask()) throw std::bad_alloc();
    this_thread = new Thread;
  }
  return *this_thread;
}

bool has_thread() noexcept {
  return this_thread || attempt([] { make_thread(); });
}

bool Thread::prepare() {
  const measure::ThreadSlot* slot = port().slot();
  if (!slot) return false;
  const std::uint64_t session = slot->session();
  if (session == session_) return true;
  return attempt([&] {
    const Path& before = main && last->path ? *last->path : landmark("start");
    landmark_.then = landmark_.follower = &Site::nowhere;
    previous = &landmark_;
    pass(before);
    for (auto& head : table_) head.reset();
    behind_.fill({});
    pairs_.clear();
    before_ = nullptr;
    if (counted_session.exchange(session) != session) {
      n_regions.store(0);
      forget_modules();
      new_session();
      renew_messages();
      begin_arrivals();
    }
    left_at(slot->last_boundary(), false);  // the first call takes the careful path
    polled_in_vain = false;
    own_ = 0;
    session_ = session;
    own_ = region_named("(effort)", Kind::wait);
  });
}

void Thread::pass(const Path& landmark) {
  if (landmark_.path != &landmark) landmark_.then = &Site::nowhere;
  landmark_.path = &landmark;
  last = &landmark_;
}

void Thread::read_cpu_clock(Site& site) {
  constexpr std::uint64_t free_reads = 4096;
  if (cpu_reads_ == 0) first_read_ = left;
  // Two readings cost about a microsecond.  After the first ones, one pair in 50 times poll_gap, 250 microseconds,
  // takes less than half a percent of the time.
  cpu_left_ = too_many_reads;
  if (cpu_reads_ > free_reads && (cpu_reads_ - free_reads) * 50 * poll_gap > left - first_read_) return;
  cpu_left_ = measure::thread_cpu_ns();
  ++cpu_reads_;
  --site.reads;
}

void Thread::count_long_gap(std::uint64_t gap) {
  const auto elapsed = static_cast<std::int64_t>(gap), at_most = static_cast<std::int64_t>(long_computation);
  const std::int64_t took = cpu_left_ >= 0 ? ticks_of_ns(measure::thread_cpu_ns() - cpu_left_) : elapsed;
  if (took > at_most && before_) before_->reads = Site::most_reads;
  // If a call was always followed by little computation, a long interval after it is most likely an interruption.
  computed += cpu_left_ == not_read ? std::min(took, at_most) : took;
}

Site* Thread::known_site(Call call, const void* return_address, const std::byte* cfa) const {
  std::size_t at = place(return_address);
  const void* code = return_address;
  for (int level = 0; level < max_depth; ++level) {
    for (Site* s = table_[at].get(); s; s = s->next.get())
      if (s->is(call, return_address, cfa)) return s;
    const Behind& behind = behind_[at];
    if (behind.code != code || stack_end_ - cfa < behind.offset + std::ptrdiff_t{sizeof(void*)}) break;
    code = address_at(behind.offset, cfa);
    at = place_behind(at, code);
  }
  return nullptr;
}

std::unique_ptr<Site>& Thread::free_place(const void* return_address, const Trail& trail) {
  constexpr int crowded = 4;
  std::size_t at = place(return_address);
  const void* code = return_address;
  for (int i = 0; i < trail.n; ++i) {
    int sites = 0;
    for (const Site* s = table_[at].get(); s && sites < crowded; s = s->next.get()) ++sites;
    if (sites < crowded) break;
    Behind& behind = behind_[at];
    if (!behind.code) behind = {code, trail.frames[i].offset};
    if (behind.code != code || behind.offset != trail.frames[i].offset) break;
    code = trail.frames[i].address;
    at = place_behind(at, code);
  }
  return table_[at];
}

Site* Thread::site(Call call, const void* return_address, const std::byte* cfa) {
  Site* const known = known_site(call, return_address, cfa);
  return known ? known : add_site(call, return_address, cfa);
}

Site* Thread::add_site(Call call, const void* return_address, const std::byte* cfa) {
  Site* made = nullptr;
  if (refusals_ >= most_refusals) return made;
  // This takes a tenth of a millisecond the first time; do not charge it to the host's computation.
  const bool apart = enter_region(own_);
  const bool could = attempt([&] {
    // On a stack of unknown extent (fibers), only the return address itself can be recognised.
    const bool known = stack_end_ && cfa < stack_end_ && cfa > stack_end_ - (std::ptrdiff_t{1} << 40);
    auto site = std::make_unique<Site>();
    site->return_address = return_address;
    site->trail = unwind(return_address, cfa, known ? std::max(path_depth(), 1) : 1);
    site->call = call;
    site->path = &path_of(call, return_address, site->trail);
    site->trail.close(stack_end_);
    site->region = region_named(path_depth() > 0 ? site->path->text : name_of_all(info(call).kind), info(call).kind);
    site->splits = splits(call);
    auto& head = free_place(return_address, site->trail);
    site->next = std::move(head);
    head = std::move(site);
    made = head.get();
  });
  if (!could) ++refusals_;
  if (apart) leave_region(own_);
  return made;
}

effort_region_id Thread::pair(const Path& to) noexcept {
  const std::uint64_t both = std::uint64_t{last->path->id} << 32 | to.id;
  if (const auto known = pairs_.find(both); known != pairs_.end()) return known->second;
  effort_region_id region = 0;
  if (refusals_ >= most_refusals) return region;
  const bool could = attempt([&] {
    region =
        region_named(path_depth() > 0 ? last->path->text + " > " + to.text : name_of_all(Kind::compute), Kind::compute);
    pairs_.emplace(both, region);
  });
  if (!could) ++refusals_;
  return region;
}

effort_region_id Thread::find_pair(Site& site) noexcept {
  last->then = &Site::nowhere;
  last->pair = pair(*site.path);
  if (site.region > 0 && last->pair > 0) last->then = &site;
  return last->pair;
}

namespace {

/// Inside an explicit region: a COMPUTE region does not count the call's time, any other does.
bool begins_inside(const measure::ThreadSlot& slot) { return port().current_kind(slot) == Kind::compute; }

/// Charges the computation since the last call to the pair of both calls.
void close_gap(Thread& thread, measure::ThreadSlot& slot, Site& site, bool outermost) {
  const std::uint64_t gap = slot.last_boundary() - thread.left;
  if (steps_want_cpu_time) thread.count_computation(gap);
  if (!outermost && gap < least_gap) return;
  const bool waited = thread.waited(site, gap, slot.last_boundary());
  const auto to = static_cast<std::uint32_t>(waited ? site.region : thread.pair(site));
  slot.short_path() ? measure::claim_ticks(slot, to, waited) : port().claim(slot, to);
}

/// The site of a call that is to be measured, else null.
Site* site_of_outermost(Thread& thread, Call call, const void* return_address, const std::byte* cfa) {
  if (!armed || (!thread.ready(measure::this_thread_slot()) && !thread.prepare())) return nullptr;
  return measure::this_thread_slot() ? thread.site(call, return_address, cfa) : nullptr;
}

}  // namespace

Site* enter_carefully(Thread& thread, Call call, const void* return_address, const std::byte* cfa) {
  if (thread.nesting++ > 0) return nullptr;
  thread.begun = false;
  Site* const site = site_of_outermost(thread, call, return_address, cfa);
  if (!site) {
    thread.left = 0;  // nested calls must take the careful path as well
    return nullptr;
  }
  measure::ThreadSlot* const slot = measure::this_thread_slot();
  const bool outermost = measure::is_outside(*slot);
  if (outermost || begins_inside(*slot)) thread.begun = enter_region(site->region);
  thread.entered = slot->last_boundary();
  if (site->splits) close_gap(thread, *slot, *site, outermost);
  return site;
}

void leave_carefully(Thread& thread, Site* site, bool begun, bool in_vain) {
  --thread.nesting;
  if (!site) return;
  if (begun) leave_region(site->region);
  const measure::ThreadSlot* const slot = measure::this_thread_slot();
  if (!site->splits || !slot) return;
  thread.last = site;
  thread.polled_in_vain = in_vain;
  thread.left_at(slot->last_boundary(), measure::is_outside(*slot) && !messages_traced && armed && thread.ready(slot));
  if (steps_want_cpu_time) thread.start_computation(*site);
}

void disown(Thread& thread, measure::ThreadSlot& slot) {
  port().claim(slot, measure::outside);
  thread.left_at(slot.last_boundary(), measure::is_outside(slot) && !messages_traced && armed);
}

}  // namespace effort::pmpi
