// Series read in pieces, from which exports are made.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "golden_run.hpp"
#include "record/series.hpp"
#include "runs.hpp"

using namespace effort::record;
using effort::record::test::golden_file;
using effort::tools::test::interleaved_file;

namespace {

/// Puts a piece into a grid; each cell may be set only once.
void put(std::vector<double>& values, std::vector<int>& times, std::size_t cols, const Piece& piece) {
  REQUIRE(piece.values.size() == piece.rows.size() * piece.cols);
  for (std::size_t r = 0; r < piece.rows.size(); ++r) {
    for (std::size_t c = 0; c < piece.cols; ++c) {
      const std::size_t at = piece.rows[r] * cols + piece.first_col + c;
      REQUIRE(at < values.size());
      values[at] = piece.values[r * piece.cols + c];
      ++times[at];
    }
  }
}

}  // namespace

TEST_CASE("pieces make up the grid and set each cell at most once") {
  for (const auto& bytes : {golden_file(true), interleaved_file(), golden_file(true, true), interleaved_file(true)}) {
    Reader reader(bytes, "test");
    const SeriesReader series(reader);
    for (int level = 0; level < 4; ++level) {
      const Grid frame = series.frame(level);
      for (std::uint32_t index = 0; index < reader.run().series.size(); ++index) {
        std::vector<double> values(frame.rows() * frame.cols());
        std::vector<int> times(values.size());
        for (std::int32_t node : series.parts())
          series.each_piece(index, frame, node, [&](const Piece& piece) { put(values, times, frame.cols(), piece); });
        CHECK(values == series.grid(index, level).values);
        CHECK(*std::max_element(times.begin(), times.end()) == 1);
      }
    }
  }
}

TEST_CASE("a joint history of all nodes equals those of each node, for any placement") {
  Reader apart_reader(interleaved_file(), "apart"), united_reader(interleaved_file(true), "united");
  const SeriesReader apart(apart_reader), united(united_reader);
  for (std::uint32_t index = 0; index < 3; ++index) {
    const Grid a = apart.grid(index), b = united.grid(index);
    REQUIRE(a.first_rank == b.first_rank);
    REQUIRE(a.values.size() == b.values.size());
    for (std::size_t i = 0; i < a.values.size(); ++i)
      CHECK(std::abs(a.values[i] - b.values[i]) <= apart.max_error(index) + united.max_error(index));
  }
}

TEST_CASE("pieces can hold exact values, and errors bound the difference from these") {
  Reader reader(golden_file(true), "test");
  const SeriesReader series(reader);
  const Grid frame = series.frame(0);
  std::vector<std::vector<double>> values(
      reader.run().series.size(),
      std::vector<double>(frame.rows() * frame.cols(), std::numeric_limits<double>::quiet_NaN()));
  std::vector<std::vector<int>> times(values.size(), std::vector<int>(frame.rows() * frame.cols()));
  series.each_exact_piece(
      [&](std::uint32_t index, const Piece& piece) { put(values.at(index), times.at(index), frame.cols(), piece); });
  for (std::uint32_t index = 0; index < values.size(); ++index) {
    const std::vector<double> exact = series.exact(index).values, kept = series.grid(index).values;
    int compared = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      CHECK((exact[i] == values[index][i] || (std::isnan(exact[i]) && std::isnan(values[index][i]))));
      if (std::isnan(exact[i])) continue;
      CHECK(std::abs(exact[i] - kept[i]) <= series.max_error(index));
      ++compared;
    }
    CHECK(compared == 80);
  }
}
