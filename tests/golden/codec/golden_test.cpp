#include "golden_cases.hpp"

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace {

std::vector<std::byte> read_golden(const std::string& name) {
  std::ifstream in(std::string(EFFORT_GOLDEN_DIR) + "/" + name + ".ewz", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("streams of format version 1 stay readable") {
  using namespace effort::codec;
  for (const auto& c : effort::test::golden_cases()) {
    CAPTURE(c.name);
    const auto bytes = read_golden(c.name);
    REQUIRE_FALSE(bytes.empty());
    const auto values = effort::test::golden_matrix(c.rows, c.cols, c.flat);
    const Decoded back = c.history ? HistoryReader(bytes).read() : decode(bytes);
    REQUIRE(back.rows == c.rows);
    REQUIRE(back.cols == c.cols);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double range = *high > *low ? *high - *low : *high;
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += std::pow((values[i] - back.values[i]) / range, 2);
    CHECK(std::sqrt(sum / static_cast<double>(values.size())) <= c.nrmse);
    if (c.blocks) CHECK(HistoryReader(bytes).tiles() == 4);
  }
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  return Catch::Session().run(argc, argv);
}
