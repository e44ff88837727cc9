#include "runtime/session/attempt.hpp"

#include <catch2/catch_test_macros.hpp>

#include <new>
#include <stdexcept>
#include <string>

using namespace effort;
using effort::session::Attempt;

TEST_CASE("a failed attempt keeps the kind of the failure, for the other ranks") {
  Attempt attempt;
  CHECK(attempt([] {}));
  CHECK((attempt.good() && attempt.status() == Status::ok));
  CHECK_FALSE(attempt([] { throw std::bad_alloc(); }));
  CHECK(attempt.status() == Status::memory);
  CHECK_FALSE(attempt([] { throw std::logic_error("a defect"); }));
  CHECK(attempt.status() == Status::internal);
  CHECK_FALSE(attempt([] { throw Error(Status::unsupported, "no such counter"); }));
  CHECK((attempt.status() == Status::unsupported && attempt.why() == std::string("no such counter")));
  CHECK(attempt([] {}));
  CHECK_FALSE(attempt.good());
}
