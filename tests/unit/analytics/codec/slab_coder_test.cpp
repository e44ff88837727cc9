#include "analytics/codec/slab_coder.hpp"

#include "analytics/comm/thread_group.hpp"
#include "analytics/wavelet/distributed.hpp"
#include "matrices.hpp"

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <numeric>
#include <vector>

namespace {

using namespace effort;
using namespace effort::codec;
using Bytes = std::vector<std::byte>;
using Counts = std::vector<std::size_t>;

/// The rows of a node.
std::vector<double> rows_of(const std::vector<double>& values, std::size_t cols, const Counts& counts, int node) {
  const std::size_t first = std::accumulate(counts.begin(), counts.begin() + node, std::size_t{0});
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * cols);
  return {begin, begin + static_cast<std::ptrdiff_t>(counts[static_cast<std::size_t>(node)] * cols)};
}

/// The most bytes by which the index of a single block exceeds the start of a local matrix's stream.
constexpr std::size_t index_bytes = 8;

/// A matrix with counts[n] rows on node n as one slab.
Bytes encode_distributed(const std::vector<double>& values, std::size_t cols, const Counts& counts,
                         const Target& target, const std::vector<std::uint8_t>& absent = {}) {
  Bytes stream;
  run_thread_group(static_cast<int>(counts.size()), [&](Communicator& nodes) {
    const auto mine = rows_of(values, cols, counts, nodes.rank());
    std::vector<std::uint8_t> gone;
    if (!absent.empty()) {
      const std::vector<double> all(absent.begin(), absent.end());
      for (const double v : rows_of(all, cols, counts, nodes.rank())) gone.push_back(v != 0);
    }
    SlabCoder coder(nodes);
    const std::vector<SlabCoder::Slab> slabs{
        coder.add({mine, counts[static_cast<std::size_t>(nodes.rank())], cols, gone}, {target.kind(), target.value()})};
    const auto bytes = gather_slabs(nodes, slabs, coder.code());
    if (nodes.rank() == 0)
      stream = write_blocks(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), bytes,
                            errors_of(slabs, slabs[0].nrmse_unit));
  });
  return stream;
}

const std::vector<Counts>& splits_of_40() {
  static const std::vector<Counts> splits{
      {40}, {20, 20}, {1, 39}, {7, 0, 13, 20}, {5, 5, 5, 5, 5, 5, 5, 5}, Counts(40, 1), {0, 39, 0, 0, 1}};
  return splits;
}

}  // namespace

TEST_CASE("Distributed rows are halved and joined to the same bits as a local matrix") {
  for (const std::size_t rows : {1u, 2u, 3u, 4u, 5u, 9u, 40u, 41u}) {
    const std::size_t cols = 6;
    const auto values = effort::test::matrix("noise", rows, cols, rows);
    std::vector<double> expected(values.size()), copy = values;
    const wavelet::MatrixView in(copy.data(), rows, cols), out(expected.data(), rows, cols);
    if (rows > 1) wavelet::split(Kokkos::Serial(), in, out, true, true);
    for (const Counts& pattern :
         {Counts{rows}, Counts{rows / 2, rows - rows / 2}, Counts{0, 1, rows - 1, 0}, Counts(rows, 1)}) {
      run_thread_group(static_cast<int>(pattern.size()), [&](Communicator& nodes) {
        const wavelet::RowDistribution distribution(pattern, {0});
        auto mine = rows_of(values, cols, pattern, nodes.rank());
        const std::size_t n = pattern[static_cast<std::size_t>(nodes.rank())];
        const wavelet::RowRange pairs = distribution.owned(nodes.rank(), 1);
        const std::size_t highs = wavelet::high_rows(distribution, nodes.rank(), 0), lows = (rows + 1) / 2;
        std::vector<double> low(pairs.size() * cols), high(highs * cols), back(mine.size());
        const wavelet::MatrixView low_rows(low.data(), pairs.size(), cols), high_rows(high.data(), highs, cols);
        wavelet::distributed_split(nodes, distribution, 0, wavelet::MatrixView(mine.data(), n, cols), low_rows,
                                   high_rows, true);
        if (rows == 1) return;
        for (std::size_t k = 0; k < low.size(); ++k)
          if (low[k] != expected[pairs.first * cols + k]) throw std::runtime_error("wrong low band");
        for (std::size_t k = 0; k < high.size(); ++k)
          if (high[k] != expected[(lows + pairs.first) * cols + k]) throw std::runtime_error("wrong high band");
        wavelet::distributed_join(nodes, distribution, 0, low_rows, high_rows,
                                  wavelet::MatrixView(back.data(), n, cols), true);
        for (std::size_t k = 0; k < mine.size(); ++k)
          if (std::abs(back[k] - mine[k]) > 1e-12) throw std::runtime_error("wrong rows");
      });
    }
  }
}

TEST_CASE("For any distribution of the rows, the bound holds and the size is that of a local matrix") {
  for (const auto& kind : effort::test::kinds())
    for (const double bound : {0.04, 1e-3, 1e-9}) {
      const auto values = effort::test::matrix(kind, 40, 300, 2);
      const std::size_t one = encode(values, 40, 300, Target::nrmse(bound)).size();
      for (const Counts& counts : splits_of_40()) {
        const Bytes stream = encode_distributed(values, 300, counts, Target::nrmse(bound));
        const auto back = decode(stream);
        CAPTURE(kind, bound, counts.size(), counts[0], one, stream.size());
        REQUIRE(back.rows == 40);
        REQUIRE(back.cols == 300);
        const double achieved = effort::test::nrmse(values, back.values);
        CHECK(achieved <= bound);
        CHECK(achieved <= inspect(stream).nrmse);
        CHECK(inspect(stream).nrmse <= bound * 1.001);
        CHECK(static_cast<double>(stream.size()) <= 1.05 * static_cast<double>(one) + 2 + index_bytes);
      }
    }
}

TEST_CASE("The same split gives the same bytes") {
  const auto values = effort::test::matrix("front", 40, 200, 3);
  for (const Counts& counts : splits_of_40())
    CHECK(encode_distributed(values, 200, counts, Target::nrmse(0.01)) ==
          encode_distributed(values, 200, counts, Target::nrmse(0.01)));
}

TEST_CASE("Shapes of all kinds are coded over nodes") {
  for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{1, 50}, {2, 1}, {64, 1}, {3, 2000}, {500, 37}}) {
    const auto values = effort::test::matrix("noise", rows, cols, 3);
    for (const Counts& counts :
         {Counts{rows}, Counts{rows / 3, rows - rows / 3, 0}, Counts{0, rows - rows / 2, rows / 2}}) {
      const Bytes stream = encode_distributed(values, cols, counts, Target::nrmse(1e-4));
      const auto back = decode(stream);
      CAPTURE(rows, cols, counts.size());
      CHECK(back.rows == rows);
      CHECK(back.cols == cols);
      CHECK(effort::test::nrmse(values, back.values) <= 1e-4);
    }
  }
}

TEST_CASE("Largest errors and passes are kept over nodes") {
  const Counts counts{11, 3, 0, 26};
  for (const auto& kind : effort::test::kinds()) {
    const auto values = effort::test::matrix(kind, 40, 150, 5);
    CAPTURE(kind);
    for (const double bound : {1.0, 0.01})
      CHECK(effort::test::largest_error(
                values, decode(encode_distributed(values, 150, counts, Target::max_error(bound))).values) <= bound);
    CHECK(inspect(encode_distributed(values, 150, counts, Target::passes(7))).passes == 7);
  }
}

TEST_CASE("Fine data of many nodes is stored in blocks, and reads at every level") {
  const std::size_t rows = 1200, cols = 500;
  const auto values = effort::test::matrix("noise", rows, cols, 5);
  const Bytes stream = encode_distributed(values, cols, {300, 101, 399, 50, 150, 200}, Target::nrmse(1e-3));
  const auto info = inspect(stream);
  CHECK(info.tiles > 1);
  CHECK(info.rows == rows);
  CHECK(effort::test::nrmse(values, decode(stream).values) <= 1e-3);
  const std::size_t one = encode(values, rows, cols, Target::nrmse(1e-3)).size();
  CAPTURE(one, stream.size());
  CHECK(static_cast<double>(stream.size()) < 1.05 * static_cast<double>(one));
  auto ramp = effort::test::matrix("ramp", rows, cols, 5);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] += 1e-4 * values[i];
  const Bytes smooth = encode_distributed(ramp, cols, {300, 101, 399, 50, 150, 200}, Target::nrmse(1e-7));
  CHECK(inspect(smooth).tiles > 1);
  for (const int level : {1, 2, 4}) {
    const auto coarse = decode(smooth, {.level = level});
    REQUIRE(coarse.rows == (rows + (1u << level) - 1) >> level);
    const auto cell = static_cast<double>(1 << level);
    double worst = 0;
    for (std::size_t i = 1; i + 1 < coarse.rows; ++i)
      for (std::size_t j = 1; j + 1 < coarse.cols; ++j) {
        const double x = static_cast<double>(i) * cell / static_cast<double>(rows),
                     t = static_cast<double>(j) * cell / static_cast<double>(cols);
        worst = std::max(worst, std::abs(coarse.values[i * coarse.cols + j] - (-3 + 10 * x + 4 * t * t)));
      }
    CHECK(worst < 0.02 * cell);
  }
  CHECK_THROWS_AS(decode(stream, {.max_values = 1000}), CodecError);
}

TEST_CASE("Special matrices over nodes") {
  const Counts counts{3, 5, 2};
  for (const double value : {0.0, -2.5, 5e-324, 1e300}) {
    const Bytes stream = encode_distributed(std::vector<double>(80, value), 8, counts, Target::nrmse(0.01));
    CHECK(decode(stream).values == std::vector<double>(80, value));
    CHECK(stream.size() < 20 + index_bytes);
  }
  auto values = effort::test::matrix("noise", 10, 8, 2);
  for (double& v : values) v *= 1e300;
  CHECK(effort::test::nrmse(values, decode(encode_distributed(values, 8, counts, Target::nrmse(0.01))).values) <= 0.01);
  CHECK(decode(encode_distributed(values, 8, counts, Target::nrmse(1e-17))).values == values);
}

TEST_CASE("Absent values stay absent over nodes") {
  const auto values = effort::test::matrix("front", 40, 60, 2);
  auto holes = values;
  std::vector<std::uint8_t> absent(values.size());
  for (std::size_t i = 8; i < 30; ++i)
    for (std::size_t j = i; j < 50; ++j) {
      absent[i * 60 + j] = 1;
      holes[i * 60 + j] = std::numeric_limits<double>::quiet_NaN();
    }
  for (const Counts& counts : splits_of_40()) {
    const auto back = decode(encode_distributed(holes, 60, counts, Target::nrmse(0.01), absent)).values;
    std::vector<double> a, b;
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE(std::isnan(back[i]) == (absent[i] != 0));
      if (absent[i]) continue;
      a.push_back(values[i]);
      b.push_back(back[i]);
    }
    CHECK(effort::test::nrmse(a, b) <= 0.01);
  }
}

TEST_CASE("All nodes refuse if one of them cannot encode its values") {
  run_thread_group(3, [&](Communicator& nodes) {
    std::vector<double> values(20, 1.0);
    if (nodes.rank() == 1) values[7] = std::numeric_limits<double>::quiet_NaN();
    bool refused = false;
    try {
      SlabCoder(nodes).add({values, 2, 10}, {Target::Kind::nrmse, 0.1});
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    if (!refused) throw std::runtime_error("a NaN was accepted");
    refused = false;
    try {
      const std::vector<double> ones(20, 1.0);
      SlabCoder(nodes).add({ones, 2, nodes.rank() == 2 ? std::size_t{5} : std::size_t{10}}, {Target::Kind::nrmse, 0.1});
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    if (!refused) throw std::runtime_error("unequal numbers of steps were accepted");
  });
}
