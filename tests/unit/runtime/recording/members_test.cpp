// The members of communicators as text.
#include "runtime/recording/members.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace effort::recording;

namespace {

std::vector<int> members_of(const std::string& text) {
  std::vector<std::int32_t> out;
  REQUIRE(append_members(text, out));
  return {out.begin(), out.end()};
}

}  // namespace

TEST_CASE("Members come back in their order") {
  CHECK(members_text(std::vector{0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(members_text(std::vector{7, 6, 5, 4}) == "7-4");
  CHECK(members_text(std::vector{0, 2, 4, 6}) == "0-6:2");
  CHECK(members_text(std::vector{10, 20, 30, 31, 32, 33, 5, 3, 1}) == "10-30:10,31-33,5-1:2");
  for (const std::vector<int>& ranks :
       {std::vector<int>{}, {0}, {1, 0}, {0, 5}, {7, 3, 9, 4, 5, 6, 1}, {3, 3, 3}, {2147483647, 0}})
    CHECK(members_of(members_text(ranks)) == ranks);
}

TEST_CASE("Members that cannot be described are left empty") {
  std::vector<int> scattered;
  for (int i = 0; i < 2000; ++i) scattered.push_back(i * i);
  CHECK(members_text(scattered).empty());
  CHECK(members_text(std::vector{0, -1, 2}).empty());
}

TEST_CASE("text that is not a list of members is refused") {
  for (const char* text : {"a", "-3", "1-", "1-5:0", "1,,2", " 1", "99999999999", "0-2000000000", "1;2"}) {
    std::vector<std::int32_t> out;
    CAPTURE(text);
    CHECK_FALSE(append_members(text, out));
  }
}
