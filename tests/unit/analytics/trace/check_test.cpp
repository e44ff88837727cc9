// The check itself: it accepts right answers and detects each kind of wrong answer.
#include <catch2/catch_test_macros.hpp>

#include "check.hpp"

namespace {

using namespace effort::trace;
using effort::trace::test::difference;

Event at(std::int64_t time, Kind kind = Kind::enter) {
  Event e;
  e.time_ns = time;
  e.kind = kind;
  return e;
}

const Place place{3, 0, 10, 1000};
const std::vector<Event> events{at(1000), at(101'000), at(101'000, Kind::phase), at(101'500), at(300'000)};

std::vector<Event> moved(std::size_t i, std::int64_t by) {
  std::vector<Event> changed = events;
  changed[i].time_ns += by;
  return changed;
}

}  // namespace

TEST_CASE("the check accepts equal events and errors within the bound") {
  CHECK(difference(place, events, events, TimeBound::exact()).empty());
  CHECK(difference(place, events, events, TimeBound::usual()).empty());
  CHECK(difference(place, events, moved(3, 100), TimeBound::usual()).empty());
  CHECK(difference(place, events, moved(4, 1985), TimeBound::usual()).empty());
}

TEST_CASE("the check refuses wrong answers") {
  CHECK_FALSE(difference(place, events, moved(3, 1), TimeBound::exact()).empty());
  CHECK_FALSE(difference(place, events, moved(3, 101), TimeBound::usual()).empty());
  CHECK_FALSE(difference(place, events, moved(4, 1986), TimeBound::usual()).empty());
  CHECK_FALSE(difference(place, events, moved(4, -1986), TimeBound::usual()).empty());
  // 1 % of the gap before would be 1000 ns, but the next event follows after 500 ns.
  CHECK_FALSE(difference(place, events, moved(2, 101), TimeBound::usual()).empty());
  CHECK_FALSE(difference(place, events, moved(1, 50), TimeBound::usual()).empty());  // behind the event after it
  std::vector<Event> changed = events;
  changed.pop_back();
  CHECK_FALSE(difference(place, events, changed, TimeBound::usual()).empty());
  changed = events;
  std::swap(changed[1].kind, changed[2].kind);
  CHECK_FALSE(difference(place, events, changed, TimeBound::usual()).empty());
  for (int member = 0; member < 6; ++member) {
    changed = events;
    Event& e = changed[3];
    if (member == 0) e.bytes = 1;
    if (member == 1) e.received_bytes = 1;
    if (member == 2) e.id = 1;
    if (member == 3) e.peer = 0;
    if (member == 4) e.tag = 1;
    if (member == 5) e.request = 1;
    CHECK_FALSE(difference(place, events, changed, TimeBound::usual()).empty());
  }
}
