// A library with debug information. The test records its calls as an adapter would.
#pragma once

namespace fixture {

/// Takes its own return address and that of its caller, as an MPI wrapper would.
using Call = void (*)();

/// Calls `call`; `line` receives the line of the call.
class Solver {
 public:
  void exchange(Call call, int* line);
  /// Calls `call` from a function that is inlined into this one.
  void step(Call call, int* inlined_line, int* line);
};

}  // namespace fixture

extern "C" void fixture_plain(fixture::Call call, int* line);
