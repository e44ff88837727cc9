// Placement on synthetic hwloc machines of 4 cores with 2 hardware threads each. Core c has the units 2c and 2c + 1.
#include "adapters/hwloc/hwloc_placement.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

using effort::adapters::HwlocPlacement;

namespace {

cpu_set_t units(std::initializer_list<int> of) {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (const int unit : of) CPU_SET(unit, &out);
  return out;
}

struct Chosen {
  bool bound;
  std::set<int> where;
};

Chosen choose(const std::vector<cpu_set_t>& ranks, const char* machine = "core:4 pu:2") {
  setenv("HWLOC_SYNTHETIC", machine, 1);
  const auto choice = HwlocPlacement().choose(ranks);
  unsetenv("HWLOC_SYNTHETIC");
  CHECK_FALSE(choice.why.empty());
  Chosen out{choice.bind, {}};
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &choice.cpus)) out.where.insert(unit);
  return out;
}

const cpu_set_t everywhere = units({0, 1, 2, 3, 4, 5, 6, 7});

}  // namespace

TEST_CASE("whole cores without a rank come first") {
  const Chosen c = choose({units({0, 1}), units({4})});
  CHECK(c.bound);
  CHECK(c.where == std::set<int>{2, 3, 6, 7});
}

TEST_CASE("a rank that may run everywhere occupies no core") {
  CHECK(choose({units({0, 1}), everywhere}).where == std::set<int>{2, 3, 4, 5, 6, 7});
  const Chosen c = choose({everywhere, everywhere});
  CHECK_FALSE(c.bound);
  CHECK(c.where.empty());
}

TEST_CASE("siblings on the ranks' cores are used if no core is free") {
  const Chosen c = choose({units({0}), units({2}), units({4}), units({6, 7})});
  CHECK(c.bound);
  CHECK(c.where == std::set<int>{1, 3, 5});
}

TEST_CASE("on a full node, all units of its ranks are used, not only the leader's") {
  const Chosen c = choose({units({0, 1}), units({2, 3}), units({4, 5}), units({6, 7})});
  CHECK(c.bound);
  CHECK(c.where == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7});
  const Chosen two = choose({units({0}), units({1})}, "core:2 pu:1");
  CHECK(two.bound);
  CHECK(two.where == std::set<int>{0, 1});
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which need address space themselves
TEST_CASE("hwloc is not called if the address space is nearly used up") {
  const std::vector<cpu_set_t> ranks = {units({0, 1}), units({4})};
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlim_t pages = 0;
  REQUIRE(std::ifstream("/proc/self/statm") >> pages);
  rlimit tight = before;
  tight.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{4} << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  const auto choice = HwlocPlacement().choose(ranks);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK_FALSE(choice.bind);
  CHECK(choice.why.find("too little memory") != std::string::npos);
}
#endif
