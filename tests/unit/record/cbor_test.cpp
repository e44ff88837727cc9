// Compares our CBOR with that of a general library.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "record/cbor.hpp"

using namespace effort::record;
using nlohmann::json;

namespace {

json parse(const format::Bytes& bytes) {
  std::vector<std::uint8_t> plain;
  for (std::byte b : bytes) plain.push_back(std::to_integer<std::uint8_t>(b));
  return json::from_cbor(plain);
}

format::Bytes bytes_of(const json& value) {
  format::Bytes out;
  for (std::uint8_t b : json::to_cbor(value)) out.push_back(std::byte{b});
  return out;
}

}  // namespace

TEST_CASE("integers of all sizes") {
  for (std::int64_t value :
       {std::int64_t{0}, std::int64_t{23}, std::int64_t{24}, std::int64_t{255}, std::int64_t{256}, std::int64_t{65535},
        std::int64_t{65536}, std::int64_t{1} << 32, INT64_MAX, std::int64_t{-1}, std::int64_t{-24}, std::int64_t{-25},
        std::int64_t{-1000000}, INT64_MIN}) {
    format::Bytes bytes;
    cbor::Encoder(bytes).integer(value);
    CHECK(parse(bytes).get<std::int64_t>() == value);
    CHECK(bytes == bytes_of(value));
    CHECK(cbor::Decoder(bytes).integer() == value);
  }
}

TEST_CASE("reals are exact") {
  const double denormal = std::numeric_limits<double>::denorm_min();
  for (double value : {0.0, -0.0, 1.0, 0.1, 1e300, -1e-300, denormal, 1.0 / 3, 16777217.0}) {
    format::Bytes bytes;
    cbor::Encoder(bytes).real(value);
    CHECK(parse(bytes).get<double>() == value);
    CHECK(cbor::Decoder(bytes).real() == value);
    CHECK(std::signbit(cbor::Decoder(bytes).real()) == std::signbit(value));
    CHECK(bytes.size() == (static_cast<double>(static_cast<float>(value)) == value ? 5 : 9));
  }
  format::Bytes bytes;
  cbor::Encoder(bytes).real(std::numeric_limits<double>::quiet_NaN());
  CHECK(std::isnan(cbor::Decoder(bytes).real()));
}

TEST_CASE("text that is not UTF-8 is stored as bytes and read back") {
  for (const std::string& text : {std::string("solve"), std::string("caf\xc3\xa9"), std::string("\xf0\x9f\x98\x80"),
                                  std::string("a\0b", 3), std::string(70000, 'x')}) {
    format::Bytes bytes;
    cbor::Encoder(bytes).text(text);
    CHECK(parse(bytes).get<std::string>() == text);
    CHECK(cbor::Decoder(bytes).text() == text);
  }
  for (const std::string& text : {std::string("caf\xe9"), std::string("\xc0\x80"), std::string("\xed\xa0\x80"),
                                  std::string("\xf4\x90\x80\x80"), std::string("\xe2\x82")}) {
    CHECK_FALSE(cbor::is_utf8(text));
    format::Bytes bytes;
    cbor::Encoder(bytes).text(text);
    CHECK(parse(bytes).is_binary());
    CHECK(cbor::Decoder(bytes).text() == text);
  }
}

TEST_CASE("structures are readable by other libraries") {
  format::Bytes bytes;
  cbor::Encoder out(bytes);
  out.map(2);
  out.text("a");
  out.array(3);
  out.integer(1);
  out.boolean(false);
  out.real(2.5);
  out.text("b");
  out.map(0);
  CHECK(parse(bytes) == json::parse(R"({"a":[1,false,2.5],"b":{}})"));
  cbor::Decoder in(bytes);
  in.skip();
  CHECK_NOTHROW(in.finish());
}

TEST_CASE("unexpected items are refused") {
  const auto decoder = [](const format::Bytes& bytes) { return cbor::Decoder(bytes); };
  CHECK_THROWS_AS(decoder(bytes_of("x")).integer(), std::runtime_error);
  CHECK_THROWS_AS(decoder(bytes_of(1)).text(), std::runtime_error);
  CHECK_THROWS_AS(decoder(bytes_of(1)).boolean(), std::runtime_error);
  CHECK_THROWS_AS(decoder(bytes_of(nullptr)).real(), std::runtime_error);
  CHECK_THROWS_AS(decoder(bytes_of(300)).integer(0, 255), std::runtime_error);
  CHECK_THROWS_AS(decoder({}).integer(), std::runtime_error);
  CHECK_THROWS_AS(decoder({std::byte{0x9b}}).array(), std::runtime_error);               // no length
  CHECK_THROWS_AS(decoder({std::byte{0x9f}}).array(), std::runtime_error);               // indefinite
  CHECK_THROWS_AS(decoder({std::byte{0xc0}, std::byte{0}}).skip(), std::runtime_error);  // a tag
  CHECK_THROWS_AS(decoder(bytes_of(json::array({1, 2, 3}))).map(), std::runtime_error);
  CHECK_THROWS_AS(decoder({std::byte{0x82}, std::byte{1}}).array(),
                  std::runtime_error);  // longer than the remaining bytes
}
