// Calls that end by an exception.
#include <cstdio>
#include <stdexcept>

static volatile int sink;

__attribute__((noinline)) void thrower(int depth) {
  if (depth == 0) throw std::runtime_error("away");
  thrower(depth - 1);
  sink = sink + 1;
}
void calm();  // in calm.cpp
__attribute__((noinline)) void catcher() {
  for (int i = 0; i < 100; ++i) {
    try {
      thrower(4);
    } catch (const std::exception&) {
      calm();
    }
  }
}

int main() { catcher(); }
