// Streams: their contents beyond the bounds of errors, how they are read, and input that is refused.
#include "analytics/codec/codec.hpp"
#include "analytics/codec/matrix.hpp"
#include "analytics/wavelet/cdf97.hpp"

#include "matrices.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace {

using namespace effort::codec;
namespace test = effort::test;
using Values = std::vector<double>;

using effort::test::inf;
using effort::test::not_a_number;

/// Returns bytes like a file, and counts them.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }
  std::span<const std::byte> view(std::size_t offset, std::size_t count,
                                  std::vector<std::byte>& storage) const override {
    if (offset > size() || count > size() - offset) throw std::logic_error("bytes past the end are read");
    storage.assign(bytes_.begin() + static_cast<std::ptrdiff_t>(offset),
                   bytes_.begin() + static_cast<std::ptrdiff_t>(offset + count));
    read += count;
    largest = std::max(largest, count);
    return storage;
  }
  mutable std::size_t read = 0, largest = 0;

 private:
  std::span<const std::byte> bytes_;
};

/// The places of the tiles in a tiled stream.
std::vector<std::pair<std::size_t, std::size_t>> tiles_of(std::span<const std::byte> stream) {
  std::vector<std::pair<std::size_t, std::size_t>> tiles;
  ByteReader in(stream);
  in.skip(4);
  for (int i = 0; i < 4; ++i) in.varint();  // extents of the whole and of a tile
  in.skip(12);
  while (in.left() > 0) {
    const std::size_t size = in.varint();
    tiles.emplace_back(in.offset(), size);
    in.skip(size);
  }
  return tiles;
}

/// The low band of values after `level` halvings, scaled to their unit.
Values low_band(Values values, std::size_t rows, std::size_t cols, int level) {
  namespace wavelet = effort::wavelet;
  const wavelet::Levels levels{std::min(level, wavelet::deepest_level(rows)),
                               std::min(level, wavelet::deepest_level(cols))};
  wavelet::forward(Kokkos::Serial(), wavelet::MatrixView(values.data(), rows, cols), levels);
  const double scale = std::exp2(-0.5 * (levels.rows + levels.cols));
  Values low;
  for (std::size_t i = 0; i < wavelet::low_length(rows, level); ++i)
    for (std::size_t j = 0; j < wavelet::low_length(cols, level); ++j) low.push_back(scale * values[i * cols + j]);
  return low;
}

}  // namespace

TEST_CASE("Coarser levels are the low band of the full inverse") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  for (const auto& kind : test::kinds())
    for (const auto& [rows, cols] :
         {std::pair<std::size_t, std::size_t>{52, 75}, {67, 41}, {129, 33}, {17, 203}, {1, 300}, {131, 1}, {9, 7}})
      for (const double bound : {0.02, 1e-4}) {
        const auto bytes = encode(test::matrix(kind, rows, cols, 6), rows, cols, Target::nrmse(bound), coder);
        REQUIRE(inspect(bytes).passes > 0);  // raw values have means instead
        const auto full = decode(bytes);
        for (int level = 0; level < 10; ++level) {
          const auto coarse = decode(bytes, {.level = level});
          CAPTURE(kind, rows, cols, bound, level, static_cast<int>(coder));
          REQUIRE(coarse.rows == (rows + (std::size_t{1} << level) - 1) >> level);
          REQUIRE(coarse.cols == (cols + (std::size_t{1} << level) - 1) >> level);
          CHECK(test::largest_error(low_band(full.values, rows, cols, level), coarse.values) < 1e-10);
        }
      }
}

TEST_CASE("Special matrices are decoded within their bounds") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  const auto check = [&](const Values& values, std::size_t rows, std::size_t cols) {
    for (const double bound : {0.01, 1e-7}) {
      const auto bytes = encode(values, rows, cols, Target::nrmse(bound), coder);
      CHECK(test::nrmse(values, decode(bytes).values) <= bound);
    }
    CHECK(test::nrmse(values, decode(encode(values, rows, cols, Target::passes(30), coder)).values) <= 0.01);
  };
  SECTION("constant") {
    check(Values(60, 3.25), 6, 10);
    CHECK(decode(encode(Values(60, -3.7), 6, 10, Target::nrmse(0.1), coder)).values == Values(60, -3.7));
    CHECK(encode(Values(60, 3.25), 6, 10, Target::nrmse(0.1), coder).size() < 20);
  }
  SECTION("zero") {
    check(Values(60, 0.0), 6, 10);
    CHECK(encode(Values(6000, 0.0), 60, 100, Target::nrmse(0.1), coder).size() < 10);
  }
  SECTION("one value") {
    check({-5}, 1, 1);
    check({-5, 7}, 1, 2);
    check({-5, 7}, 2, 1);
  }
  SECTION("a single spike") {
    Values values(64 * 80);
    values[64 * 33 + 5] = -900;
    check(values, 64, 80);
  }
  SECTION("denormals") {
    Values values(30 * 30);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 37) * 5e-324;
    const auto back = decode(encode(values, 30, 30, Target::nrmse(0.01), coder)).values;
    CHECK(test::largest_error(values, back) <= 3 * 5e-324);
  }
  SECTION("large values of both signs") {
    Values values = test::matrix("noise", 30, 30, 1);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= i % 2 ? 1e299 : -1e299;
    check(values, 30, 30);
    for (double& v : values) v = v > 0 ? 1.7e308 : -1.7e308;
    const auto back = decode(encode(values, 30, 30, Target::nrmse(1e-6), coder)).values;
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(std::abs(values[i] / 4 - back[i] / 4) < 1e302);
  }
  SECTION("a small range far from zero") {
    Values values = test::matrix("noise", 30, 30, 1);
    for (double& v : values) v = 1e9 + v;
    CHECK(test::nrmse(values, decode(encode(values, 30, 30, Target::nrmse(0.01), coder)).values) <= 0.01);
  }
  SECTION("nothing") {
    CHECK(decode(encode({}, 0, 0, Target::nrmse(0.01), coder)).values.empty());
    CHECK(decode(encode({}, 5, 0, Target::nrmse(0.01), coder)).rows == 5);
  }
}

TEST_CASE("NaN and infinity are refused with their place") {
  Values values(12, 1.0);
  values[7] = not_a_number;
  try {
    encode(values, 3, 4, Target::nrmse(0.1));
    FAIL("NaN was accepted");
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CHECK(message.find("row 1") != std::string::npos);
    CHECK(message.find("column 3") != std::string::npos);
  }
  values[7] = -inf;
  CHECK_THROWS_AS(encode(values, 3, 4, Target::nrmse(0.1)), std::invalid_argument);
  CHECK_THROWS_AS(encode(Values(11), 3, 4, Target::nrmse(0.1)), std::invalid_argument);
}

TEST_CASE("Absent values stay absent and do not affect the others") {
  auto values = test::matrix("front", 20, 60, 2);
  std::vector<std::uint8_t> absent(values.size());
  for (std::size_t i = 5; i < 9; ++i)
    for (std::size_t j = i; j < 40; ++j) {
      absent[i * 60 + j] = 1;
      values[i * 60 + j] = not_a_number;
    }
  const auto bytes =
      encode(values, 20, 60, Target::nrmse(0.01), EncodeOptions{.coder = Coder::context, .absent = absent});
  CHECK(inspect(bytes).has_absent);
  const auto back = decode(bytes).values;
  Values a, b;
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(std::isnan(back[i]) == (absent[i] != 0));
    if (absent[i]) continue;
    a.push_back(values[i]);
    b.push_back(back[i]);
  }
  CHECK(test::nrmse(a, b) <= 0.01);
  const auto coarse = decode(bytes, {.level = 1});
  CHECK(std::isnan(coarse.values[3 * 30 + 10]));
  CHECK_FALSE(std::isnan(coarse.values[0]));
  const std::vector<std::uint8_t> all(1200, 1);
  for (const double v :
       decode(encode(values, 20, 60, Target::nrmse(0.01), EncodeOptions{.coder = Coder::context, .absent = all}))
           .values)
    CHECK(std::isnan(v));
  CHECK_THROWS_AS(encode(values, 20, 60, Target::nrmse(0.01),
                         EncodeOptions{.coder = Coder::context, .absent = std::span(absent).first(5)}),
                  std::invalid_argument);
}

TEST_CASE("Encoding decoded values changes them little") {
  const auto values = test::matrix("front", 64, 100, 2);
  const auto once = decode(encode(values, 64, 100, Target::nrmse(0.01))).values;
  const auto twice = decode(encode(once, 64, 100, Target::nrmse(0.01))).values;
  CHECK(test::nrmse(once, twice) <= 0.01);
  CHECK(test::nrmse(values, twice) <= 0.02);
}

TEST_CASE("The same input gives the same bytes") {
  const auto values = test::matrix("noise", 100, 31, 2);
  CHECK(encode(values, 100, 31, Target::nrmse(0.01)) == encode(values, 100, 31, Target::nrmse(0.01)));
}

TEST_CASE("Large matrices are tiled, and a level is read without the whole matrix") {
  const std::size_t rows = 9000, cols = 600;
  Values values(rows * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      values[i * cols + j] = std::sin(static_cast<double>(i) * 0.003) + static_cast<double>(j) * 0.001;
  const auto bytes = encode(values, rows, cols, Target::nrmse(0.001));
  const auto info = inspect(bytes);
  CHECK(info.tiles > 1);
  CHECK(test::nrmse(values, decode(bytes).values) <= 0.001);
  const auto coarse = decode(bytes, {.level = 5});
  REQUIRE(coarse.rows == 282);
  REQUIRE(coarse.cols == 19);
  for (std::size_t i = 1; i + 1 < coarse.rows; ++i)
    for (std::size_t j = 1; j + 1 < coarse.cols; ++j)
      if (std::abs(coarse.values[i * coarse.cols + j] - values[32 * i * cols + 32 * j]) > 0.1) FAIL(i << ", " << j);
  CHECK(decode(bytes, {.level = 20}).values.size() == 1);
  CHECK_THROWS_AS(decode(bytes, {.max_values = 1000}), CodecError);
}

TEST_CASE("A stream on disk is read a tile at a time, and only as far as the passes need") {
  const std::size_t rows = 9000, cols = 600;
  const auto values = test::matrix("front", rows, cols, 3);
  const auto bytes = encode(values, rows, cols, Target::nrmse(1e-4));
  const auto tiles = tiles_of(bytes);
  REQUIRE(tiles.size() == 3);
  std::size_t largest = 0;
  for (const auto& [offset, size] : tiles) largest = std::max(largest, size);
  REQUIRE(largest < bytes.size() / 2);
  REQUIRE(largest > std::size_t{1} << 20);

  const std::size_t pieces = 4096 * (tiles.size() + 1);  // for headers
  const CountingSource whole(bytes);
  CHECK(decode(whole, {.level = 3}).values == decode(bytes, {.level = 3}).values);
  CHECK(whole.largest <= largest);
  CHECK(whole.read <= 2 * bytes.size() + pieces);  // once for the checksum

  const CountingSource part(bytes);
  CHECK(decode(part, {.passes = 3, .level = 1}).values == decode(bytes, {.passes = 3, .level = 1}).values);
  CHECK(decode(bytes, {.passes = 3}).values != decode(bytes, {.passes = 4}).values);
  CHECK(part.largest <= std::size_t{1} << 18);
  CHECK(part.read <= bytes.size() + bytes.size() / 10 + 2 * pieces);

  const CountingSource headers(bytes);
  CHECK(inspect(headers).nrmse == inspect(bytes).nrmse);
  CHECK(headers.read <= 2 * pieces);
}

TEST_CASE("An error in a tile is reported with its place in the stream") {
  const std::size_t rows = 9000, cols = 600;
  auto bytes = encode(Values(rows * cols, 2.0), rows, cols, Target::nrmse(0.1));
  const auto tiles = tiles_of(bytes);
  REQUIRE(tiles.size() == 3);
  bytes[tiles[1].first] = std::byte{7};
  seal(bytes);
  try {
    decode(bytes);
    FAIL("an unknown kind of tile is accepted");
  } catch (const CodecError& e) {
    CHECK(e.offset() == tiles[1].first);
    CHECK(std::string(e.what()) == "unknown kind of tile (at byte " + std::to_string(e.offset()) + ")");
  }
  CHECK_THROWS_AS(inspect(bytes), CodecError);
}

TEST_CASE("Changed or missing bytes are found") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  const auto bytes = encode(test::matrix("front", 30, 40, 2), 30, 40, Target::nrmse(0.01), coder);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= std::byte{1};
    CHECK_THROWS_AS(decode(changed), CodecError);
    CHECK_THROWS_AS(decode(std::span(bytes).first(i)), CodecError);
  }
}

TEST_CASE("Targets and options out of range are refused") {
  CHECK_THROWS_AS(Target::passes(0), std::invalid_argument);
  CHECK_THROWS_AS(Target::passes(61), std::invalid_argument);
  CHECK_THROWS_AS(Target::nrmse(0), std::invalid_argument);
  CHECK_THROWS_AS(Target::nrmse(not_a_number), std::invalid_argument);
  CHECK_THROWS_AS(Target::max_error(-1), std::invalid_argument);
  CHECK_THROWS_AS(Target::max_bytes(10), std::invalid_argument);
  const auto bytes = encode(Values(4, 1.0), 2, 2, Target::nrmse(0.1));
  CHECK_THROWS_AS(decode(bytes, {.passes = -1}), std::invalid_argument);
  CHECK_THROWS_AS(decode(bytes, {.level = -1}), std::invalid_argument);
}

TEST_CASE("A bound that exceeds all deviations costs a few bytes, even for spiky values") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const std::size_t rows = 4096, cols = 200;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(1, 0.02);
    std::vector<double> values(rows * cols);
    for (double& v : values) v = noise(random);
    for (int event = 0; event < 400; ++event) {
      const double height =
          std::min(0.5 * std::pow(std::uniform_real_distribution<double>(1e-6, 1)(random), -1 / 1.5), 400.0);
      const std::size_t at = random() % values.size();
      for (std::size_t d = 0; d < 6 && at % cols + d < cols; ++d)
        values[at + d] += std::ldexp(height, -static_cast<int>(d));
    }
    for (const double bound : {0.1, 0.04, 0.02, 0.01, 0.007}) {
      const auto bytes = encode(values, rows, cols, Target::nrmse(bound));
      CAPTURE(seed, bound, bytes.size());
      CHECK(bytes.size() < 400);
      CHECK(test::nrmse(values, decode(bytes).values) <= bound);
    }
  }
}

// All signs and many bits are equal, so that the arithmetic code ends in many zero bytes.
TEST_CASE("Loads that alternate from step to step or from rank to rank are read back") {
  constexpr std::size_t rows = 1024, cols = 512;
  const int apart = GENERATE(1, 2, 3);  // ranks, steps, both
  const double low = GENERATE(-1.0, 1.0);
  std::vector<double> values;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t s = 0; s < cols; ++s)
      values.push_back(((apart & 1 ? r : 0) + (apart & 2 ? s : 0)) % 2 == 0 ? 2.0 : low);
  for (const Target& target : {Target::nrmse(0.1), Target::max_error(1e-3), Target::max_error(1e-6), Target::passes(1),
                               Target::passes(12), Target::max_bytes(200)}) {
    const auto bytes = encode(values, rows, cols, target);
    CAPTURE(apart, low, target.value(), bytes.size());
    const auto back = decode(bytes);
    CHECK(test::largest_error(values, back.values) <= inspect(bytes).max_error + 1e-15);
    if (target.kind() == Target::Kind::max_bytes) CHECK(bytes.size() <= 200);
  }
}
