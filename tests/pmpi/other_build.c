/* What a library of another build answers to this one's adapters. */
#include <stddef.h>

void* effort_adapter_port(const char* build) {
  (void)build;
  return NULL;
}
