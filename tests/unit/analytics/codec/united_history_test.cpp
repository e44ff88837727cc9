#include "analytics/codec/united_history.hpp"

#include "analytics/comm/thread_group.hpp"
#include "matrices.hpp"

#include <catch2/catch_test_macros.hpp>

#include <numeric>
#include <vector>

namespace {

using namespace effort;
using namespace effort::codec;
using Bytes = std::vector<std::byte>;
using Counts = std::vector<std::size_t>;
using Values = std::vector<double>;
namespace test = effort::test;

using effort::test::not_a_number;

/// Rows of a matrix on a node.
struct Part {
  const Values& values;  ///< NaN: absent
  std::size_t cols, row0, rows;
};

/// Appends the columns from `first` on, in windows of 10.
void fill(History& history, const Part& part, std::size_t first) {
  for (std::size_t j = first; j < part.cols; j += 10) {
    const std::size_t n = std::min<std::size_t>(10, part.cols - j);
    Values block;
    std::vector<std::uint8_t> absent;
    for (std::size_t i = part.row0; i < part.row0 + part.rows; ++i)
      for (std::size_t k = j; k < j + n; ++k) {
        block.push_back(part.values[i * part.cols + k]);
        absent.push_back(std::isnan(block.back()));
      }
    history.append(block, n, absent);
  }
}

struct Options {
  Target target = Target::nrmse(0.01);
  std::size_t max_tile_values = std::size_t{1} << 18;
  Counts first{};  ///< step from which each node has a history; empty: the first
};

/// Every series of all nodes, with a history of rows[n] ranks on node n.
std::vector<Bytes> share(const std::vector<Values>& series, std::size_t cols, const Counts& rows,
                         const Options& options) {
  std::vector<Bytes> out;
  run_thread_group(static_cast<int>(rows.size()), [&](Communicator& nodes) {
    const auto me = static_cast<std::size_t>(nodes.rank());
    const std::size_t row0 = std::accumulate(rows.begin(), rows.begin() + nodes.rank(), std::size_t{0});
    const std::size_t first = options.first.empty() ? 0 : options.first[me];
    UnitedHistories united(nodes, options.target);
    for (const Values& values : series) {
      if (rows[me] == 0 || first == cols) {
        united.add({nullptr, rows[me], cols, cols});
        continue;
      }
      History history(rows[me], options.target, options.max_tile_values, true);
      fill(history, {values, cols, row0, rows[me]}, first);
      united.add({&history, rows[me], first, cols});
    }
    auto bytes = united.finish();
    if (nodes.rank() == 0) out = std::move(bytes);
  });
  return out;
}

Bytes on_one_node(const Values& values, std::size_t cols, const Options& options) {
  History history(values.size() / cols, options.target, options.max_tile_values);
  fill(history, {values, cols, 0, history.rows()}, 0);
  return history.serialize_final();
}

void check_bound(const Values& values, const Bytes& bytes, double bound) {
  const HistoryReader reader(bytes);
  const Values back = reader.read().values;
  REQUIRE(back.size() == values.size());
  Values a, b;
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(std::isnan(back[i]) == std::isnan(values[i]));
    if (std::isnan(values[i])) continue;
    a.push_back(values[i]);
    b.push_back(back[i]);
  }
  CHECK(test::nrmse(a, b) <= bound);
  CHECK(test::nrmse(a, b) <= reader.nrmse());
  CHECK(reader.nrmse() <= bound * 1.002);
  CHECK(test::largest_error(a, b) <= reader.max_error());
}

}  // namespace

TEST_CASE("Histories of several nodes are within 5 % of one node's, at the same error") {
  const std::size_t rows = 64, cols = 600;
  for (const Counts& split : {Counts{32, 32}, Counts{5, 40, 0, 19}, Counts(16, 4), Counts{1, 62, 1}}) {
    for (const auto& kind : test::kinds())
      for (const double bound : {0.04, 0.01, 1e-3}) {
        if (split.size() > 4 && bound != 0.01) continue;
        const Values values = test::matrix(kind, rows, cols, 7);
        const Options options{Target::nrmse(bound)};
        const Bytes one = on_one_node(values, cols, options), united = share({values}, cols, split, options).at(0);
        CAPTURE(kind, bound, split.size(), split[0], one.size(), united.size());
        check_bound(values, united, bound);
        CHECK(static_cast<double>(united.size()) <= 1.05 * static_cast<double>(one.size()) + 2);
      }
  }
}

TEST_CASE("Long histories with closed tiles stay within 5 % of one node's, and within their bound") {
  const std::size_t rows = 12, cols = 2000;
  for (const auto& kind : {"front", "groups", "noise"}) {
    const Values values = test::matrix(kind, rows, cols, 3);
    Options options{Target::nrmse(0.01), 4096};
    const Bytes one = on_one_node(values, cols, options);
    for (const Counts& split : {Counts{6, 6}, Counts{1, 4, 7}}) {
      const Bytes united = share({values}, cols, split, options).at(0);
      CAPTURE(kind, one.size(), united.size());
      check_bound(values, united, 0.01);
      CHECK(static_cast<double>(united.size()) <= 1.05 * static_cast<double>(one.size()));
    }
    options.target = Target::max_error(0.2);
    CHECK(test::largest_error(values, HistoryReader(share({values}, cols, {5, 7}, options).at(0)).read().values) <=
          0.2);
    options.target = Target::passes(9);
    CHECK(inspect(share({values}, cols, {5, 7}, options).at(0)).passes == 9);
  }
}

TEST_CASE("Series that a node measured late or never are zero there before") {
  const std::size_t rows = 20, cols = 300;
  Values values = test::matrix("front", rows, cols, 3);
  const Counts split{6, 8, 6};
  const Options options{.first = {50, 0, cols}};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      if ((i < 6 && j < 50) || i >= 14) values[i * cols + j] = 0;
  check_bound(values, share({values}, cols, split, options).at(0), 0.01);
}

TEST_CASE("Ranks that are missing on a node are absent in the whole") {
  const std::size_t rows = 24, cols = 200;
  Values values = test::matrix("front", rows, cols, 3);
  for (std::size_t i = 9; i < 12; ++i)
    for (std::size_t j = 95; j < 160; ++j) values[i * cols + j] = not_a_number;
  check_bound(values, share({values}, cols, {8, 10, 6}, {}).at(0), 0.01);
  const Values none(rows * cols, not_a_number);
  for (const double v : HistoryReader(share({none}, cols, {8, 10, 6}, {}).at(0)).read().values) CHECK(std::isnan(v));
}

TEST_CASE("The work on many series is shared, and the same histories give the same bytes") {
  const std::size_t rows = 16, cols = 120;
  std::vector<Values> series;
  for (const auto& kind : test::kinds()) series.push_back(test::matrix(kind, rows, cols, 4));
  series.emplace_back(rows * cols, 0.0);
  series.emplace_back(rows * cols, -3.5);
  const auto once = share(series, cols, {3, 6, 7}, {}), again = share(series, cols, {3, 6, 7}, {});
  REQUIRE(once.size() == series.size());
  CHECK(once == again);
  for (std::size_t k = 0; k < series.size(); ++k) check_bound(series[k], once[k], 0.01);
  CHECK(once.back().size() < 32);
}

TEST_CASE("Histories without steps, and none at all") {
  CHECK(share({}, 10, {2, 3}, {}).empty());
  const Bytes empty = share({Values{}}, 0, {2, 3}, {}).at(0);
  CHECK(HistoryReader(empty).steps() == 0);
  CHECK(HistoryReader(empty).rows() == 5);
}

TEST_CASE("All nodes refuse histories that do not fit together") {
  run_thread_group(2, [&](Communicator& nodes) {
    History history(2, Target::nrmse(0.01), std::size_t{1} << 18, true);
    history.append(Values(20, 1.0), 10);
    UnitedHistories united(nodes, Target::nrmse(0.01));
    const auto refused = [&](const HistoryShare& share) {
      try {
        united.add(share);
      } catch (const std::invalid_argument&) {
        return true;
      }
      return false;
    };
    const bool odd = nodes.rank() == 1;
    if (!refused({&history, odd ? std::size_t{3} : std::size_t{2}, 0, 10}))
      throw std::runtime_error("a wrong number of rows was accepted");
    if (!refused({&history, 2, 0, odd ? std::size_t{11} : std::size_t{10}}))
      throw std::runtime_error("too many steps were accepted");
    if (!refused({&history, 2, odd ? std::size_t{5} : std::size_t{0}, odd ? std::size_t{15} : std::size_t{10}}))
      throw std::runtime_error("unequal steps were accepted");
    if (refused({&history, 2, 0, 10})) throw std::runtime_error("valid histories were refused");
  });
  run_thread_group(1, [](Communicator& nodes) {
    bool refused = false;
    try {
      const UnitedHistories united(nodes, Target::max_bytes(200));
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    if (!refused) throw std::runtime_error("a bound on the bytes was accepted");
  });
}
