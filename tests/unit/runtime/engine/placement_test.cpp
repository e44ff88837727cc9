#include "runtime/engine/placement.hpp"

#include <catch2/catch_test_macros.hpp>

#include <set>
#include <string>
#include <vector>

using namespace effort::engine;

namespace {

std::set<int> set_of(const cpu_set_t& units) {
  std::set<int> out;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &units)) out.insert(unit);
  return out;
}

}  // namespace

TEST_CASE("a list of processing units") {
  REQUIRE(units_of("0-3,8"));
  CHECK(set_of(*units_of("0-3,8")) == std::set<int>{0, 1, 2, 3, 8});
  CHECK(set_of(*units_of("5,5-5")) == std::set<int>{5});
  CHECK(set_of(*units_of("1023")) == std::set<int>{1023});
}

TEST_CASE("text that is not a list of processing units binds nothing") {
  for (const char* list : {"", ",", "0,", "-1", "3-1", "1-2-3", "0-", "1024", "0-1024", "4294967296",
                           "99999999999999999999", "0-99999999999999999999", "0,,1", "0 1", "0x1"}) {
    INFO(list);
    CHECK(!units_of(list));
    CHECK(place_this_thread(list, nullptr, {}).find("does not name processing units") != std::string::npos);
  }
}

TEST_CASE("ranks that outnumber their processing units are told that wall time does not measure work") {
  const cpu_set_t two = *units_of("4-5"), one = *units_of("4"), other = *units_of("9");
  CHECK(crowded_units(std::vector{two, two}).empty());
  CHECK(crowded_units(std::vector{one, other}).empty());
  CHECK(crowded_units(std::vector{two, two, two}).starts_with("3 ranks share 2 processing units, "));
  CHECK(crowded_units(std::vector{one, one}).starts_with("2 ranks share 1 processing unit, "));
  cpu_set_t unknown;
  CPU_ZERO(&unknown);
  CHECK(crowded_units(std::vector{one, one, unknown}).empty());
}
