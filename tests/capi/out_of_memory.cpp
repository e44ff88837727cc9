// Calls that run out of memory report that, and never return the message of an earlier error.
#include "check.h"

#include <cstdlib>
#include <new>

namespace {
bool refuse = false;
}

// The library's allocations also call these operators.
void* operator new(std::size_t bytes) {
  void* const memory = refuse ? nullptr : std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" effort_status effort_fail(effort_status status, const char* message);

int main() {
  effort_config* config = nullptr;
  CHECK_OK(effort_config_new(&config));
  CHECK_FAILS(effort_config_set(config, "WINDOW", "a value that is not a number"), EFFORT_ERR_CONFIG, "WINDOW");
  refuse = true;
  const effort_status kept = effort_fail(EFFORT_ERR_IO, "a message that is too long to be kept without an allocation");
  refuse = false;
  CHECK(kept == EFFORT_ERR_IO);
  CHECK(strstr(effort_last_error(), "WINDOW") == nullptr && strstr(effort_last_error(), "out of memory") != nullptr);
  refuse = true;
  effort_config* none = nullptr;
  const effort_status refused = effort_config_new(&none);
  refuse = false;
  CHECK(refused == EFFORT_ERR_MEMORY && strcmp(effort_last_error(), "out of memory") == 0);
  CHECK_OK(effort_config_free(config));
  return failures() != 0;
}
