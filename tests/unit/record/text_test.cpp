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

TEST_CASE("characters that are not seen are escaped") {
  CHECK(visible("so\xe2\x80\x8blve") == "so\\u200blve");
  CHECK(visible("so\xc2\xadlve\xe2\x81\xa0\xef\xb8\x8f") == "so\\u00adlve\\u2060\\ufe0f");
  CHECK(visible("\xf3\xa0\x81\x81") == "\\U000e0041");
  for (const std::uint32_t code : {0x34fu, 0x70fu, 0x115fu, 0x17b5u, 0x180eu, 0x200du, 0x2064u, 0x206fu, 0x3164u,
                                   0xffa0u, 0xfffbu, 0x13430u, 0x1bca3u, 0x1d173u, 0xe0001u, 0xe01efu})
    CHECK(is_control(code));
  for (const std::uint32_t code : {0x20u, 0xa0u, 0xacu, 0xaeu, 0x301u, 0x600u, 0x6ddu, 0x200au, 0x2010u, 0x2027u,
                                   0x202fu, 0x2070u, 0xfe10u, 0xfffdu, 0x1f600u})
    CHECK_FALSE(is_control(code));
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
