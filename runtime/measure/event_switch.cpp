#include "runtime/measure/event_switch.hpp"

#include "runtime/measure/clock.hpp"
#include "runtime/measure/thread_slot.hpp"

#include <thread>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace effort::measure {
namespace {

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void EventSwitch::turn_on(recording::Memory memory) {
  memory_ = std::make_unique<recording::Memory>(memory);
  membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  on_.store(memory_.get(), std::memory_order_release);
  for (ThreadSlot* s : SlotRegistry::instance().slots()) {
    if (s->session() != session_) continue;
    s->events.offer(memory_.get());
    s->ask(Request::record_events);
  }
}

// The owners of streams order their accesses for the compiler only, which costs nothing.  The barrier orders them for
// the processor: after it, a thread either is at a boundary and its gate is closed, or it finds its stream off.
bool EventSwitch::turn_off() noexcept {
  if (!on_.exchange(nullptr)) return true;
  bool done = true;
  try {
    const auto slots = SlotRegistry::instance().slots();
    for (ThreadSlot* s : slots) s->events.withdraw();
    done = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    constexpr std::uint64_t patience = 10'000'000;  // ns; a boundary takes a millionth of it
    const std::uint64_t start = monotonic_ns();
    for (ThreadSlot* s : slots)
      while (s->gate.closed() && (done = done && monotonic_ns() - start < patience)) std::this_thread::yield();
    for (ThreadSlot* s : slots) s->events.withdraw();  // from a thread that was about to accept the offer
  } catch (...) {                                      // out of memory for the list
    done = false;
  }
  if (!done) static_cast<void>(memory_.release());
  return done;
}

}  // namespace effort::measure
