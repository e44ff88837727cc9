// A library that is loaded and unloaded while calls are recorded.
static volatile int sink;
__attribute__((noinline)) void deep_in_module(void) { ++sink; }
void in_module(void) { deep_in_module(); }
