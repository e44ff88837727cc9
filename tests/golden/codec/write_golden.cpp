// Writes the golden streams of the current format.  Run it once per format version (or for a new stream), never to make
// a test pass.
#include "golden_cases.hpp"

#include <Kokkos_Core.hpp>

#include <fstream>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  if (argc != 2) return 2;
  for (const auto& c : effort::test::golden_cases()) {
    const auto bytes = effort::test::encode_golden(c);
    std::ofstream(std::string(argv[1]) + "/" + c.name + ".ewz", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
}
