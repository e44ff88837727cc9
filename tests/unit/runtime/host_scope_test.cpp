// The host's floating-point environment is put away, and restored with its flags.
#include "runtime/host_scope.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort;

namespace {

volatile double zero = 0, three = 3, tiny = 1e-308;
volatile long double zero_x87 = 0, three_x87 = 3;

/// Raises flags of both units: division by zero, inexact, underflow.
void compute() {
  volatile double a = 1 / zero;
  a = 1 / three;
  a = tiny / 1e10;
  volatile long double b = 1 / zero_x87;
  b = 1 / three_x87;
  (void)a;
  (void)b;
}

struct Restored {
  std::fenv_t before;
  Restored() { std::fegetenv(&before); }
  ~Restored() { std::fesetenv(&before); }
};

}  // namespace

TEST_CASE("flags that the library raises do not reach the host") {
  const Restored restored;
  for (const int wanted : {0, FE_INEXACT, FE_INVALID | FE_OVERFLOW}) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(wanted);
    const int raised = std::fetestexcept(FE_ALL_EXCEPT);  // on arm64, an overflow is also inexact
    {
      const LibraryScope scope;
      compute();
      CHECK(std::fetestexcept(FE_DIVBYZERO) != 0);
    }
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == raised);
  }
}

TEST_CASE("traps and rounding of the host have no effect inside, and are restored") {
  const Restored restored;
  volatile double nearest = 1 / three;
  volatile long double nearest_x87 = 1 / three_x87;
  for (const int wanted : {0, FE_DIVBYZERO | FE_UNDERFLOW | FE_INEXACT}) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_UPWARD);
    feenableexcept(wanted);
    const int traps = fegetexcept();  // many arm64 processors cannot trap
    volatile bool same = false;
    int rounding[2], trapping[2], flags[2];
    const auto look = [&](int i) {
      rounding[i] = std::fegetround();
      trapping[i] = fegetexcept();
      flags[i] = std::fetestexcept(FE_ALL_EXCEPT);
    };
    {
      LibraryScope scope;
      compute();
      same = 1 / three == nearest && 1 / three_x87 == nearest_x87;
      const HostScope host(scope);
      look(0);
      std::fesetround(FE_DOWNWARD);
    }
    look(1);
    std::fesetenv(&restored.before);  // the test's own code may raise flags
    CHECK(same);
    CHECK(rounding[0] == FE_UPWARD);
    CHECK(rounding[1] == FE_DOWNWARD);
    for (int i = 0; i < 2; ++i) {
      CHECK(trapping[i] == traps);
      CHECK(flags[i] == 0);
    }
  }
}
