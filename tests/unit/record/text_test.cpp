// The display of names.
#include <catch2/catch_test_macros.hpp>

#include "record/text.hpp"

using namespace effort::record;

TEST_CASE("plain text is left unchanged") {
  for (const char* text : {"", "solve", "caf\xc3\xa9", "\xe6\xb1\x82\xe8\xa7\xa3", "\xf0\x9f\x98\x80", "a b\\n"})
    CHECK(visible(text) == text);
}

TEST_CASE("characters that control a terminal or the writing direction are escaped") {
  CHECK(visible("a\nb\tc") == "a\\nb\\x09c");
  CHECK(visible("\x1b[2J\x7f") == "\\x1b[2J\\x7f");
  CHECK(visible(std::string_view("\0x", 2)) == "\\x00x");
  CHECK(visible("\xc2\x9b"
                "31m") == "\\u009b31m");
  CHECK(visible("\xe2\x80\xae"
                "exe") == "\\u202eexe");
  CHECK(visible("\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8\xef\xbb\xbf") == "\\u2066\\u061c\\u2028\\ufeff");
}

TEST_CASE("bytes that are not UTF-8 are escaped one by one") {
  CHECK(visible("caf\xe9!") == "caf\\xe9!");
  CHECK(visible("\xff\xfe") == "\\xff\\xfe");
  CHECK(visible("\xe2\x80") == "\\xe2\\x80");                             // cut
  CHECK(visible("\xc0\x80\xed\xa0\x80") == "\\xc0\\x80\\xed\\xa0\\x80");  // overlong; half of a surrogate pair
}

TEST_CASE("the distance between words is the number of changes") {
  CHECK(distance("export", "export") == 0);
  CHECK(distance("exprot", "export") == 2);
  CHECK(distance("", "top") == 3);
}
