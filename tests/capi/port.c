/* Adapters of another build get no port, because its structures have the layout of this build. */
#include "check.h"

void* effort_adapter_port(const char* build);

int main(void) {
  CHECK(effort_adapter_port(NULL) == NULL);
  CHECK(effort_adapter_port("") == NULL);
  CHECK(effort_adapter_port("0.0.9 1 2240 400 2208") == NULL);
  /* Without a session, and with one. */
  CHECK_OK(effort_init(NULL));
  CHECK(effort_adapter_port("0.0.9 1 2240 400 2208") == NULL);
  CHECK_OK(effort_finalize());
  return failures() != 0;
}
