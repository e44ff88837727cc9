// Failures of the programs that check a trace: each is printed, and their number decides the exit code.
#pragma once

#include <cstdio>

namespace effort::test {

inline int bad = 0;

template <typename... T>
void fail(const char* format, T... values) {
  std::fprintf(stderr, format, values...);
  std::fputc('\n', stderr);
  ++bad;
}

}  // namespace effort::test
