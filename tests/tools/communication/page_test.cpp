// Communication in the report's page.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tools/report/report_matrix.hpp"

using namespace effort::tools;
using Catch::Approx;
using nlohmann::ordered_json;

namespace {

std::vector<std::uint8_t> decoded(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> out;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<std::uint32_t>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.push_back(static_cast<std::uint8_t>(word >> bits));
  }
  return out;
}

std::vector<double> values_of(const ordered_json& column, std::size_t n) {
  const std::vector<std::uint8_t> bytes = decoded(column["values"]);
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (column.contains("distinct")) {
      out.push_back(column["distinct"][bytes[i]]);
      continue;
    }
    const int code = bytes[2 * i] | bytes[2 * i + 1] << 8;
    const double low = std::log2(column["low"].get<double>()), high = std::log2(column["high"].get<double>());
    out.push_back(code == 0 ? 0 : std::exp2(low + (high - low) * (code - 1) / 65534));
  }
  return out;
}

std::vector<PairTraffic> unpacked(const ordered_json& json, bool waiting) {
  const std::vector<std::uint8_t> bytes = decoded(json["rows"]);
  std::size_t at = 0;
  const auto varint = [&] {
    std::int32_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t byte = bytes.at(at++);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  std::vector<PairTraffic> out;
  const auto n = json["cells"].get<std::size_t>();
  for (std::int32_t row = -1; out.size() < n;) {
    row += varint();
    std::int32_t cells = varint(), column = -1;
    for (; cells > 0; --cells) out.push_back({row, column += varint(), 0, 0, 0, 0});
  }
  const std::vector<double> messages = values_of(json["messages"], n), size = values_of(json["bytes"], n),
                            seconds = values_of(json["seconds"], n),
                            waits = waiting ? values_of(json["waiting"], n) : std::vector<double>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = {out[i].a, out[i].b, messages[i], size[i], seconds[i], waits[i]};
  return out;
}

/// Cells with times of many magnitudes; one in 40 has only waiting.
std::vector<PairTraffic> cells(std::int32_t ranks) {
  std::vector<PairTraffic> out;
  for (std::int32_t a = 0; a < ranks; a += 1 + a % 3)
    for (std::int32_t b = a % 7; b < ranks; b += 1 + (a + b) % 200) {
      const double n = out.size() % 40 == 0 ? 0 : 1 + (a * 31 + b) % 5;
      out.push_back({a, b, n, n * 1024, n * 1e-9 * std::pow(1.01, (a * 17 + b) % 2000), (a + b) % 3 * 1e-6});
    }
  return out;
}

}  // namespace

TEST_CASE("a sparse matrix survives its packing") {
  for (const std::int32_t ranks : {1, 5, 1000}) {
    const std::vector<PairTraffic> in = cells(ranks);
    const std::vector<PairTraffic> out = unpacked(sparse_json(in, true, 100'000'000), true);
    REQUIRE(out.size() == in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      REQUIRE(out[i].a == in[i].a);
      REQUIRE(out[i].b == in[i].b);
      REQUIRE(out[i].messages == in[i].messages);
      REQUIRE(out[i].bytes == in[i].bytes);
      REQUIRE(out[i].seconds == Approx(in[i].seconds).epsilon(5e-4));
      REQUIRE(out[i].waiting == Approx(in[i].waiting).epsilon(5e-4));
    }
  }
}

TEST_CASE("an empty matrix") {
  const ordered_json json = sparse_json({}, false, 1000);
  CHECK(json["cells"] == 0);
  CHECK(json["left_out"]["cells"] == 0);
  CHECK_FALSE(json.contains("waiting"));
}

TEST_CASE("if not all cells fit, the largest stay, and the others are counted") {
  std::vector<PairTraffic> in = cells(1000);
  in[in.size() / 2].bytes = 1e12;
  in[in.size() / 3].waiting = 1e3;
  const std::size_t most = 20'000;
  const ordered_json json = sparse_json(in, true, most);
  const std::vector<PairTraffic> out = unpacked(json, true);
  CHECK(json.dump().size() < most + 8000);  // the distinct values and the sums are not strings
  CHECK(out.size() > 500);
  CHECK(json["left_out"]["cells"] == in.size() - out.size());
  std::map<std::pair<int, int>, PairTraffic> there;
  double messages = 0;
  for (const PairTraffic& c : out) there[{c.a, c.b}] = c, messages += c.messages;
  CHECK(there.count({in[in.size() / 2].a, in[in.size() / 2].b}) == 1);
  CHECK(there.count({in[in.size() / 3].a, in[in.size() / 3].b}) == 1);
  CHECK(json["left_out"]["messages"].get<double>() + messages == Approx(json["totals"]["messages"].get<double>()));
}
