// An allocation that fails leaves nothing half done.
#include "runtime/measure/grow.hpp"
#include "runtime/measure/registry.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <new>
#include <set>
#include <string>

using namespace effort::measure;

namespace {

thread_local int left = 0;  ///< allocations until one fails; 0: none fails

/// Whether the n-th allocation of `body` has failed.
template <typename Body>
bool fails(int n, const Body& body) {
  bool failed = false;
  left = n;
  try {
    body();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  left = 0;
  return failed;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (left > 0 && --left == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

TEST_CASE("an array that could not grow is not seen") {
  for (int n = 1; n < 4; ++n) {
    std::atomic<std::atomic<int>*> array{nullptr};
    std::vector<std::unique_ptr<std::atomic<int>[]>> owned;
    const bool failed = fails(n, [&] { grow(array, owned, 0, 8, copy_value<int>); });
    CHECK(failed == (n < 3));
    CHECK(array.load() == (failed ? nullptr : owned.back().get()));
  }
}

TEST_CASE("a name that could not be defined takes no id") {
  int refusals = 0;
  for (int n = 1; n < 16; ++n) {
    Registry registry;
    const auto region = [&](int i) {
      return registry.region(("a region of some length, number " + std::to_string(i)).c_str(), Kind::compute).id;
    };
    for (int i = 0; i < 16; ++i) region(i);  // the next one needs more room
    refusals += fails(n, [&] { region(16); });
    std::set<std::uint32_t> ids;
    for (int i = 0; i < 40; ++i) {
      const std::uint32_t id = region(i);
      CHECK(ids.insert(id).second);
      CHECK(registry.region_name(id).ends_with(" " + std::to_string(i)));
    }
    CHECK(registry.n_regions() == 40);
    CHECK(registry.since(0).size() == 40);
  }
  CHECK(refusals > 4);
}

}  // namespace
