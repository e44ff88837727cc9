/* A program without MPI that opens a module with MPI: opener MODULE FUNCTION */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  int (*run)(void) = (int (*)(void))dlsym(module, argv[2]);
  return run ? run() : 4;
}
