// The ids that call sites of the host remember.
#include "runtime/measure/site_cache.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>

using namespace effort::measure;

namespace {

constexpr std::uint32_t most = (1u << site_id_bits) - 1;

TEST_CASE("a call site remembers an id for one session") {
  for (const std::uint64_t session : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{65535}, std::uint64_t{131071}})
    for (const std::uint32_t id : {1u, 77u, most}) {
      const std::int32_t cached = to_site_cache(session, id);
      CHECK(cached > 0);
      CHECK(from_site_cache(cached, session) == id);
      CHECK(from_site_cache(cached, session + 1) == 0);
    }
}

TEST_CASE("no later session takes the id of an earlier one, however many there are") {
  for (const std::uint64_t session : {1, 2, 65535, 65536, 131071, 131072, 131073}) {
    const std::int32_t cached = to_site_cache(session, 5);
    for (std::uint64_t later = session + 1; later < session + 300'000; ++later)
      if (from_site_cache(cached, later) != 0) FAIL("session " << later << " takes the id of session " << session);
    CHECK(from_site_cache(cached, (std::uint64_t{1} << 32) + session) == 0);
  }
}

TEST_CASE("sessions beyond the last number that fits remember nothing") {
  CHECK(from_site_cache(to_site_cache(131072, 5), 131072) == 0);
  CHECK(from_site_cache(-1, 1) == 0);
  CHECK(from_site_cache(0, 0) == 0);
}

}  // namespace
