// A second source file of functions_exceptions, for the filter by file.
static volatile int sink;

void calm();
__attribute__((noinline)) void calm() { sink = sink + 1; }
