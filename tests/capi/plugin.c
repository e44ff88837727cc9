/* A module that says so when it is loaded. */
#include <stdio.h>

static void loaded(void) __attribute__((constructor));
static void loaded(void) { fputs("the plug-in was loaded\n", stderr); }
