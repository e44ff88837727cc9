/* Numbers that people paste elsewhere have a decimal point, also where the host's locale has a comma. */
#include "check.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

static void no_commas(const char* text) {
  for (const char* c = text; *c; ++c)
    if (c > text && *c == ',' && isdigit((unsigned char)c[-1]) && isdigit((unsigned char)c[1])) {
      CHECK(!"a number with a comma");
      printf("%s\n", text);
      return;
    }
}

int main(void) {
  char scratch[] = "locale-XXXXXX", number[32], text[8192] = "";
  snprintf(number, sizeof number, "%.1f", 0.5);
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
    printf("skipped: there is no locale de_DE.UTF-8 and no localedef that makes one\n");
    return 77;
  }
  snprintf(number, sizeof number, "%.1f", 0.5);
  CHECK(strcmp(number, "0,5") == 0);
  if (!CHECK(mkdtemp(scratch) != NULL) || !CHECK(chdir(scratch) == 0)) return 1;
  setenv("EFFORT_REPORT", "summary.txt", 1);
  setenv("EFFORT_REBALANCE_THRESHOLD", "0.25", 1);
  setenv("EFFORT_SNAPSHOT_DIR", ".", 1);
  setenv("EFFORT_LOAD_METRIC", "cells", 1);
  CHECK_OK(effort_init(NULL));
  effort_metric_id cells;
  CHECK_OK(effort_metric_define("cells", "1", &cells));
  CHECK_FAILS(effort_metric(cells, -0.5), EFFORT_ERR_INVALID_ARGUMENT, "-0.5");
  for (int step = 0; step < 25; ++step) {
    CHECK_OK(effort_metric(cells, 1234.5));
    CHECK_OK(effort_progress_step());
  }
  CHECK_OK(effort_finalize());
  FILE* written = fopen("summary.txt", "r");
  if (!CHECK(written != NULL)) return 1;
  CHECK(fread(text, 1, sizeof text - 1, written) > 100);
  fclose(written);
  CHECK(strstr(text, "0.0") != NULL);
  no_commas(text);
  CHECK(system("rm -f summary.txt *.effort") == 0 && chdir("..") == 0 && rmdir(scratch) == 0);
  return failures() != 0;
}
