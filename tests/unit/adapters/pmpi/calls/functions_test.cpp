// Names of functions as in the report.
#include "adapters/pmpi/calls/functions.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::pmpi;

namespace solver {
namespace {

__attribute__((noinline)) std::string here(int) { return functions_of(__builtin_return_address(0), {}); }
template <typename T>
__attribute__((noinline)) std::string step(T value) {
  std::string text = here(value);
  __asm__ volatile("" ::: "memory");  // no tail call
  return text;
}

}  // namespace
}  // namespace solver

TEST_CASE("symbols are written as in the source") {
  CHECK(readable_symbol("main") == "main");
  CHECK(readable_symbol("MAIN__") == "main program");
  CHECK(readable_symbol("__halo_MOD_exchange") == "halo::exchange");
  CHECK(readable_symbol("_ZN6solver4MeshclEi") == "solver::Mesh::operator()");
  CHECK(readable_symbol("_ZN12_GLOBAL__N_14normEd") == "(anonymous namespace)::norm");
  CHECK(readable_symbol("_ZN3ampIPFvvEE2goEv") == "amp<void (*)()>::go");
  CHECK(readable_symbol("_ZlsRSoRK1A") == "operator<<");
  CHECK(readable_symbol("_Z_no_such") == "_Z_no_such");
}

TEST_CASE("a function that is not exported has a name; without a file it has none") {
  CHECK(solver::step(3).find("solver::(anonymous namespace)::step<int>") != std::string::npos);
  CHECK(functions_of(nullptr, {}) == "?");
}
