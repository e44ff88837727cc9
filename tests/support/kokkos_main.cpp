// Main function of tests that use Kokkos: initialises it before the tests and finalises it afterwards.
#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  return Catch::Session().run(argc, argv);
}
