// Writes the golden file of the current format version.  Run it by hand when the major or minor version is raised.
// Files of older versions are never changed.
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>

#include "golden_run.hpp"
#include "record/writer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden FILE\n");
    return 2;
  }
  try {
    Kokkos::ScopeGuard kokkos(argc, argv);
    effort::record::write_file(argv[1], effort::record::test::golden_file(true, true));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "write_golden: %s\n", e.what());
    return 1;
  }
  return 0;
}
