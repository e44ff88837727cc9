#include "analytics/codec/history.hpp"

#include "matrices.hpp"

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <vector>

namespace {

using namespace effort::codec;
namespace test = effort::test;

/// Columns [first, first + n) of a row-major matrix.
std::vector<double> columns(const std::vector<double>& values, std::size_t rows, std::size_t first, std::size_t n) {
  const std::size_t cols = values.size() / rows;
  std::vector<double> part;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = first; j < first + n; ++j) part.push_back(values[i * cols + j]);
  return part;
}

/// Appends windows of `window` steps.
void fill(History& history, const std::vector<double>& values, std::size_t window) {
  const std::size_t rows = history.rows(), cols = values.size() / rows;
  for (std::size_t j = 0; j < cols; j += window) {
    const std::size_t n = std::min(window, cols - j);
    history.append(columns(values, rows, j, n), n);
  }
}

}  // namespace

TEST_CASE("A history keeps its bound whenever it is serialised") {
  for (const auto& kind : test::kinds()) {
    const auto values = test::matrix(kind, 24, 430, 4);
    for (const double bound : {0.04, 0.01, 1e-3}) {
      History history(24, Target::nrmse(bound));
      for (std::size_t j = 0; j < 430; j += 10) {
        history.append(columns(values, 24, j, 10), 10);
        if (j % 150 != 140 && j != 420) continue;
        const auto so_far = columns(values, 24, 0, j + 10);
        for (const auto& bytes : {history.serialize(), history.serialize_final()}) {
          const HistoryReader reader(bytes);
          REQUIRE(reader.rows() == 24);
          REQUIRE(reader.steps() == j + 10);
          const auto back = reader.read();
          CAPTURE(kind, bound, j, bytes.size());
          CHECK(test::nrmse(so_far, back.values) <= bound);
          CHECK(test::nrmse(so_far, back.values) <= reader.nrmse());
          CHECK(reader.nrmse() <= bound * 1.002);
          CHECK(test::largest_error(so_far, back.values) <= reader.max_error());
        }
      }
    }
  }
}

TEST_CASE("The finished history is within 10 % of the size of the whole matrix encoded at once") {
  double history_bytes = 0, whole_bytes = 0;
  for (const auto& kind : test::kinds()) {
    if (kind == "ramp") continue;  // a smooth surface has too few bytes for a ratio
    const auto values = test::matrix(kind, 64, 600, 7);
    for (const double bound : {0.04, 0.01, 1e-3}) {
      History history(64, Target::nrmse(bound));
      fill(history, values, 10);
      const double mine = static_cast<double>(history.serialize_final().size());
      const double whole = static_cast<double>(encode(values, 64, 600, Target::nrmse(bound)).size());
      CAPTURE(kind, bound, mine, whole);
      CHECK(mine <= 1.1 * whole + 16);
      history_bytes += mine;
      whole_bytes += whole;
    }
  }
  CHECK(history_bytes <= 1.1 * whole_bytes);
}

TEST_CASE("A history keeps largest errors, bytes and passes too") {
  const auto values = test::matrix("spikes", 16, 330, 2);
  SECTION("largest error") {
    History history(16, Target::max_error(0.5));
    fill(history, values, 10);
    for (const auto& bytes : {history.serialize(), history.serialize_final()})
      CHECK(test::largest_error(values, HistoryReader(bytes).read().values) <= 0.5);
  }
  SECTION("bytes") {
    for (const std::size_t bound : {96u, 300u, 3000u}) {
      History history(16, Target::max_bytes(bound));
      fill(history, values, 10);
      const auto bytes = history.serialize();
      CHECK(bytes.size() <= bound);
      CHECK(HistoryReader(bytes).steps() == 330);
    }
  }
  SECTION("passes") {
    History history(16, Target::passes(8));
    fill(history, values, 10);
    const HistoryReader reader(history.serialize_final());
    const auto bytes = history.serialize_final();
    CHECK(test::nrmse(values, HistoryReader(bytes).read().values) < 0.02);
  }
}

TEST_CASE("Zero and constant histories cost a few bytes") {
  for (const double value : {0.0, 0.125}) {
    History history(64, Target::nrmse(0.01));
    for (int w = 0; w < 100; ++w) history.append(std::vector<double>(640, value), 10);
    const auto bytes = history.serialize();
    CHECK(history.serialize_final().size() <= 32);
    CHECK(bytes.size() <= 128);
    CHECK(HistoryReader(bytes).read().values == std::vector<double>(64000, value));
    CHECK(HistoryReader(bytes).nrmse() == 0);
  }
}

TEST_CASE("The range may grow considerably during the run") {
  auto values = test::matrix("noise", 8, 400, 3);
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 300; j < 400; ++j) values[i * 400 + j] *= 1000;
  History history(8, Target::nrmse(0.001));
  fill(history, values, 10);
  CHECK(test::nrmse(values, HistoryReader(history.serialize_final()).read().values) <= 0.001);
  CHECK(test::nrmse(values, HistoryReader(history.serialize()).read().values) <= 0.001);
}

TEST_CASE("Large histories consist of tiles that are not recoded") {
  const auto values = test::matrix("front", 16, 1000, 3);
  History history(16, Target::nrmse(0.01), 4096);
  fill(history, values, 10);
  const auto bytes = history.serialize_final();
  CHECK(HistoryReader(bytes).tiles() > 1);
  CHECK(test::nrmse(values, HistoryReader(bytes).read().values) <= 0.01);
}

TEST_CASE("Levels of a history are its means, for any tiles") {
  const auto values = test::matrix("ramp", 16, 250, 3);
  History history(16, Target::nrmse(1e-4));
  fill(history, values, 7);
  const auto bytes = history.serialize();
  const auto coarse = HistoryReader(bytes).read(2);
  REQUIRE(coarse.rows == 4);
  REQUIRE(coarse.cols == 63);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 1; j < 62; ++j) {
      double mean = 0;
      for (std::size_t k = 0; k < 16; ++k) mean += values[(4 * i + k / 4) * 250 + 4 * j + k % 4] / 16;
      CHECK(std::abs(coarse.values[i * 63 + j] - mean) < 1.5);
    }
}

TEST_CASE("Wrong blocks leave the history as it was") {
  History history(4, Target::nrmse(0.01));
  history.append(std::vector<double>(8, 1.0), 2);
  std::vector<double> bad(8, 1.0);
  bad[5] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(history.append(bad, 2), std::invalid_argument);
  CHECK_THROWS_AS(history.append(std::vector<double>(7, 1.0), 2), std::invalid_argument);
  CHECK(history.steps() == 2);
  history.append({}, 0);
  CHECK(HistoryReader(history.serialize()).steps() == 2);
  CHECK_THROWS_AS(History(0, Target::nrmse(0.01)), std::invalid_argument);
  CHECK_THROWS_AS(History(4, Target::max_bytes(60)), std::invalid_argument);
}

TEST_CASE("A rank that is missing for some steps is absent, not zero") {
  const std::size_t rows = 12, cols = 400;
  const auto values = test::matrix("front", rows, cols, 3);
  std::vector<double> holes = values;
  std::vector<std::uint8_t> absent(values.size());
  for (std::size_t j = 95; j < 260; ++j) absent[4 * cols + j] = 1;
  for (std::size_t i = 0; i < rows; ++i) absent[i * cols + 300] = 1;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (absent[k]) holes[k] = k % 2 ? 1e9 : std::numeric_limits<double>::quiet_NaN();
  History history(rows, Target::nrmse(0.01));
  for (std::size_t j = 0; j < cols; j += 10) {
    std::vector<std::uint8_t> gone;
    for (const double a : columns(std::vector<double>(absent.begin(), absent.end()), rows, j, 10))
      gone.push_back(a != 0);
    history.append(columns(holes, rows, j, 10), 10, gone);
  }
  CHECK(history.max() < 10);
  for (const auto& bytes : {history.serialize(), history.serialize_final()}) {
    const auto back = HistoryReader(bytes).read().values;
    std::vector<double> a, b;
    for (std::size_t k = 0; k < values.size(); ++k) {
      REQUIRE(std::isnan(back[k]) == (absent[k] != 0));
      if (absent[k]) continue;
      a.push_back(values[k]);
      b.push_back(back[k]);
    }
    CHECK(test::nrmse(a, b) <= 0.01);
    CHECK(test::nrmse(a, b) <= HistoryReader(bytes).nrmse());
    const auto coarse = HistoryReader(bytes).read(2);
    CHECK(std::isfinite(coarse.values[1 * 100 + 75]));
  }
  History all(2, Target::nrmse(0.01));
  all.append(std::vector<double>(100, 5.0), 50, std::vector<std::uint8_t>(100, 1));
  for (const double v : HistoryReader(all.serialize_final()).read().values) CHECK(std::isnan(v));
  CHECK_THROWS_AS(all.append(std::vector<double>(4, 1.0), 2, std::vector<std::uint8_t>(3, 1)), std::invalid_argument);
}

TEST_CASE("An empty history serialises and reads") {
  const History history(4, Target::nrmse(0.01));
  const auto bytes = history.serialize();
  CHECK(HistoryReader(bytes).steps() == 0);
  CHECK(HistoryReader(bytes).read().values.empty());
}

TEST_CASE("Changed or missing bytes of a history are found") {
  const auto values = test::matrix("front", 8, 100, 3);
  History history(8, Target::nrmse(0.01));
  fill(history, values, 10);
  const auto bytes = history.serialize();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= std::byte{0x20};
    CHECK_THROWS_AS(HistoryReader(changed), CodecError);
    CHECK_THROWS_AS(HistoryReader(std::span(bytes).first(i)), CodecError);
  }
}

TEST_CASE("Tiles that merge into one that merges at once are encoded only once") {
  struct Case {
    std::size_t rows, max_tile_values, tiles;
  };
  const std::size_t window = 64;  // a tile each
  for (const auto& [rows, max_tile_values, tiles] : {Case{16, 16 * 2048, 2}, Case{128, 128 * 512, 5}}) {
    History history(rows, Target::nrmse(0.01), max_tile_values);  // closes tiles of sixteen, of four
    const auto values = test::matrix("front", rows, 17 * window, 5);
    std::vector<int> pieces;
    for (std::size_t j = 0; j < 17 * window; j += window) {
      history.append(columns(values, rows, j, window), window);
      pieces.push_back(0);
      while (history.work()) ++pieces.back();
    }
    CHECK(pieces == std::vector<int>{1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1});
    const auto bytes = history.serialize();
    CHECK(HistoryReader(bytes).tiles() == tiles);
    CHECK(test::nrmse(values, HistoryReader(bytes).read().values) <= 0.01);
  }
}

TEST_CASE("The contents of a history do not depend on when it is encoded") {
  for (const bool united : {false, true}) {
    auto values = test::matrix("front", 16, 2000, 5);
    for (std::size_t i = 0; i < 16; ++i) values[i * 2000 + 1500] *= 40;  // the range grows in between
    std::vector<std::vector<std::byte>> held;
    for (const int every : {1, 7, 0}) {  // windows
      History history(16, Target::nrmse(0.01), 8192, united);
      int window = 0, pieces = 0;
      for (std::size_t j = 0; j < 2000; j += 10) {
        history.append(columns(values, 16, j, 10), 10);
        if (every == 0 || ++window % every != 0) continue;
        while (history.work()) ++pieces;
      }
      CHECK((pieces > 10) == (every > 0));
      CHECK(history.work() == (every != 1));
      held.push_back(history.serialize());
      CHECK_FALSE(history.work());
    }
    CHECK(held[1] == held[0]);
    CHECK(held[2] == held[0]);
  }
}

TEST_CASE("Postponed encoding is done before more than a tile waits for it") {
  const auto values = test::matrix("noise", 64, 3000, 5);
  const std::size_t tile = std::size_t{1}
                           << 13;  // 64 x 128 values; a fourth of a 32nd of the largest would be less than 40 steps
  History history(64, Target::nrmse(0.04), tile);
  std::size_t most = 0;
  for (std::size_t j = 0; j < 3000; j += 10) {
    history.append(columns(values, 64, j, 10), 10);
    most = std::max(most, history.held_bytes());
  }
  CHECK(most < 2 * 64 * 40 * sizeof(double) + history.serialize().size() * 40);
  CHECK(most > 64 * 40 * sizeof(double));
}
