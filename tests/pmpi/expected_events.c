#include "expected_events.h"

#include <stdio.h>

static __thread FILE* list;

void expect_begin(int rank, int thread) {
  char name[64];
  snprintf(name, sizeof name, "expected-%d-%d.txt", rank, thread);
  list = fopen(name, "w");
}

void expect_end(void) {
  if (list) fclose(list);
  list = NULL;
}

void expect(const char* kind, const char* communicator, int peer, int tag, long bytes, long received, int request) {
  if (list) fprintf(list, "%s %s %d %d %ld %ld %d\n", kind, communicator, peer, tag, bytes, received, request);
}
