// Telling waiting from computation between polls that find nothing.
#include "adapters/pmpi/polling.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::pmpi;

namespace {

constexpr std::uint64_t us = 1000;  // a tick is a nanosecond here

/// A thread that polls in vain at one place.
class Poller {
 public:
  Poller() {
    poll_gap = 5 * us;
    longest_interruption = 100 * us;
    polling_.restart(now_);
  }
  /// That many polls with a gap before each.  @return the ticks that count as computation
  std::uint64_t poll(int n, std::uint64_t gap) {
    std::uint64_t computed = 0;
    for (int i = 0; i < n; ++i) {
      now_ += gap;
      if (!polling_.waited(gap, now_)) computed += gap;
    }
    return computed;
  }
  void compute(std::uint64_t time) { polling_.restart(now_ += time); }

 private:
  std::uint64_t now_ = 50 * us;
  Polling polling_;
};

}  // namespace

TEST_CASE("interruptions of a thread that polls are waiting") {
  Poller poller;
  for (int i = 0; i < 20; ++i) {
    CHECK(poller.poll(4000, us / 5) == 0);
    CHECK(poller.poll(1, 45 * us) == 0);
  }
}

TEST_CASE("computation between polls is computation, whatever its length") {
  Poller poller;
  for (const std::uint64_t gap : {6 * us, 45 * us, 99 * us, 101 * us, 2000 * us}) {
    CHECK(poller.poll(20, gap) >= 19 * gap);  // the first gap may look like an interruption
    poller.compute(100 * us);
    CHECK(poller.poll(20, gap) == 20 * gap);
  }
}

TEST_CASE("a few polls between pieces of computation do not make them interruptions") {
  Poller poller;
  poller.compute(us);
  for (int i = 0; i < 20; ++i) {
    CHECK(poller.poll(1000, us / 5) == 0);
    CHECK(poller.poll(1, 40 * us) == 40 * us);
  }
}

TEST_CASE("a long gap is computation after any number of polls") {
  Poller poller;
  CHECK(poller.poll(1'000'000, us / 5) == 0);
  CHECK(poller.poll(1, 101 * us) == 101 * us);
}

TEST_CASE("time before polling began does not count as polling") {
  Poller poller;
  poller.compute(1'000'000 * us);
  CHECK(poller.poll(10, us) == 0);
  CHECK(poller.poll(1, 45 * us) == 45 * us);
}
