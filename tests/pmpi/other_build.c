/* The answers of a library of another build to this build's adapters. */
#include <stddef.h>

void* effort_adapter_port(const char* build) {
  (void)build;
  return NULL;
}
