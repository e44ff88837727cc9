#include "symbols_fixture.hpp"

namespace {

volatile int after = 0;  // keeps a call from being the last one of the function

__attribute__((always_inline)) inline void reduce(fixture::Call call, int* line) {
  *line = __LINE__ + 1;
  call();
  after = 1;
}

}  // namespace

namespace fixture {

__attribute__((noinline)) void Solver::exchange(Call call, int* line) {
  *line = __LINE__ + 1;
  call();
  after = 2;
}

__attribute__((noinline)) void Solver::step(Call call, int* inlined_line, int* line) {
  *line = __LINE__ + 1;
  reduce(call, inlined_line);
  after = 3;
}

}  // namespace fixture

extern "C" __attribute__((noinline)) void fixture_plain(fixture::Call call, int* line) {
  *line = __LINE__ + 1;
  call();
  after = 4;
}
