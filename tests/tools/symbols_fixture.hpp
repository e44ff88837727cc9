// A library with debug information whose calls the test records as an adapter would.
#pragma once

namespace fixture {

/// Takes its return address, and that of its caller, as a wrapper of MPI would.
using Call = void (*)();

/// Calls `call`; `line` receives the line of the call.
class Solver {
 public:
  void exchange(Call call, int* line);
  /// Calls `call` in a function that is inlined into this one.
  void step(Call call, int* inlined_line, int* line);
};

}  // namespace fixture

extern "C" void fixture_plain(fixture::Call call, int* line);
