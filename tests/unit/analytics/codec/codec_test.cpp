// Bounds on errors and bytes.
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

}  // namespace

TEST_CASE("The achieved error is at most the target, and is stated in the stream") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  for (const auto& kind : test::kinds())
    for (const auto& [rows, cols] :
         {std::pair<std::size_t, std::size_t>{16, 150}, {67, 41}, {1, 300}, {130, 1}, {3, 2}}) {
      const auto values = test::matrix(kind, rows, cols, 2);
      for (const double bound : {0.1, 0.01, 1e-3, 1e-6, 1e-10}) {
        const auto bytes = encode(values, rows, cols, Target::nrmse(bound), coder);
        const auto back = decode(bytes);
        const auto info = inspect(bytes);
        CAPTURE(kind, rows, cols, bound, bytes.size(), static_cast<int>(coder));
        REQUIRE(back.values.size() == values.size());
        const double achieved = test::nrmse(values, back.values);
        CHECK(achieved <= bound);
        CHECK(achieved <= info.nrmse + 1e-18);
        CHECK(info.nrmse <= bound * 1.001);
        CHECK(test::largest_error(values, back.values) <= info.max_error + 1e-15);
        CHECK(info.rows == rows);
        CHECK(info.cols == cols);
        CHECK(bytes.size() <= values.size() * 8 * 101 / 100 + 16);
      }
    }
}

TEST_CASE("The error target is met closely") {
  for (const auto& kind : {"front", "groups", "checkpoint", "noise"}) {
    const auto values = test::matrix(kind, 128, 200, 3);
    for (const double bound : {1e-2, 1e-3, 1e-5}) {
      const auto info = inspect(encode(values, 128, 200, Target::nrmse(bound)));
      CAPTURE(kind, bound);
      CHECK(info.nrmse >= 0.97 * bound);
    }
  }
}

TEST_CASE("The size is within 3 % of the best truncation point of the same stream") {
  // The best size by truncation: the stream of every step, cut at every pass for which the bound holds.  Steps an
  // eighth of an octave apart stand for the points between two passes.
  for (const auto& kind : test::kinds())
    for (const double bound : {0.02, 2e-3, 1e-4}) {
      const std::size_t rows = 96, cols = 150;
      const auto values = test::matrix(kind, rows, cols, 8);
      const std::size_t mine = encode(values, rows, cols, Target::nrmse(bound)).size();
      std::size_t best = mine;
      for (int eighth = 0; eighth < 8; ++eighth) {
        const auto fine = encode(values, rows, cols, Target::nrmse(bound / 16 * std::exp2(eighth / 8.0)));
        const StreamInfo info = inspect(fine);
        for (const Cut& cut : info.cuts) {
          const auto prefix = std::span(fine).first(cut.bytes);
          if (test::nrmse(values, decode(prefix, {.passes = cut.passes, .prefix = true}).values) <= bound)
            best = std::min(best, cut.bytes);
        }
      }
      CAPTURE(kind, bound, mine, best);
      CHECK(static_cast<double>(mine) <= 1.03 * static_cast<double>(best) + 2);
    }
}

namespace {

/// Values for which an estimate of the error fails.
const std::vector<std::string>& awkward_kinds() {
  static const std::vector<std::string> names{"rare spikes", "one spike", "heavy tails",  "denormals", "tiny",
                                              "edges",       "signs",     "mean far off", "two values"};
  return names;
}

const std::vector<std::pair<std::size_t, std::size_t>>& awkward_shapes() {
#ifdef __SANITIZE_THREAD__  // forty times slower, and no result here depends on threads
  static const std::vector<std::pair<std::size_t, std::size_t>> shapes{{64, 10}, {5, 3}};
#else
  static const std::vector<std::pair<std::size_t, std::size_t>> shapes{
      {96, 150}, {300, 64}, {1, 5000}, {64, 10}, {5, 3}};
#endif
  return shapes;
}

Values awkward(const std::string& kind, std::size_t rows, std::size_t cols) {
  test::Random random(17);
  Values values(rows * cols);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / cols, col = i % cols;
    double v = 1;
    if (kind == "rare spikes")
      v = 1 + 0.02 * random.normal() + (random.uniform() < 5e-4 ? 40 * std::pow(random.uniform() + 1e-4, -0.7) : 0);
    if (kind == "one spike") v = i == values.size() / 3 ? 1e6 : 1;
    if (kind == "heavy tails") v = std::tan(3.1415 * (random.uniform() - 0.5));
    if (kind == "denormals") v = std::floor(60 * random.uniform()) * 5e-324;
    if (kind == "tiny") v = 1e-45 * (1 + 0.1 * random.normal());
    if (kind == "edges") v = (row * 7 / rows) % 2 + (col * 5 / cols) % 3 * 0.25;
    if (kind == "signs") v = (row + col) % 2 ? 1 + 0.1 * random.uniform() : -1;
    if (kind == "mean far off") v = 1e7 + random.normal();
    if (kind == "two values") v = random.uniform() < 0.01 ? -3 : 4;
    values[i] = v;
  }
  return values;
}

}  // namespace

TEST_CASE("Difficult values keep every bound, at about the size of the best of all steps") {
  for (const auto& kind : awkward_kinds())
    for (const auto& [rows, cols] : awkward_shapes()) {
      const auto values = awkward(kind, rows, cols);
      std::vector<std::pair<double, std::size_t>> steps;  // error and size of every power of two
      for (int passes = 1; passes <= 50; ++passes) {
        const auto bytes = encode(values, rows, cols, Target::passes(passes));
        steps.emplace_back(test::nrmse(values, decode(bytes).values), bytes.size());
      }
      for (const double bound : {2.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-6, 1e-10, 1e-14}) {
        const auto bytes = encode(values, rows, cols, Target::nrmse(bound));
        std::size_t best = values.size() * 8 + 16;
        for (const auto& [error, size] : steps)
          if (error <= bound) best = std::min(best, size);
        CAPTURE(kind, rows, cols, bound, best, bytes.size());
        CHECK(test::nrmse(values, decode(bytes).values) <= bound);
        CHECK(bytes.size() <= values.size() * 8 * 101 / 100 + 16);
        // For a checkerboard some larger steps happen to have smaller errors, and decoded denormals are rounded in
        // their favour.
        if (kind != "signs" && kind != "denormals")
          CHECK(static_cast<double>(bytes.size()) <= 1.03 * static_cast<double>(best) + 3);
      }
      for (const double bound : {2.0, 0.1, 1e-6}) {
        const double largest = bound * *std::max_element(values.begin(), values.end());
        if (largest > 0)
          CHECK(test::largest_error(values, decode(encode(values, rows, cols, Target::max_error(largest))).values) <=
                largest);
      }
    }
}

TEST_CASE("A largest error is kept") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  for (const auto& kind : test::kinds()) {
    const auto values = test::matrix(kind, 48, 100, 5);
    for (const double bound : {1.0, 0.1, 1e-4}) {
      const auto back = decode(encode(values, 48, 100, Target::max_error(bound), coder));
      CAPTURE(kind, bound);
      CHECK(test::largest_error(values, back.values) <= bound);
    }
  }
}

TEST_CASE("A bound on the bytes is kept, and more bytes do not increase the error") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  for (const auto& kind : test::kinds()) {
    const auto values = test::matrix(kind, 64, 90, 5);
    double before = inf;
    for (const std::size_t bound : {48u, 100u, 400u, 2000u, 20000u}) {
      const auto bytes = encode(values, 64, 90, Target::max_bytes(bound), coder);
      CAPTURE(kind, bound, bytes.size());
      CHECK(bytes.size() <= bound);
      const double error = test::nrmse(values, decode(bytes).values);
      CHECK(error <= before * 1.02);
      before = error;
    }
  }
}

TEST_CASE("More passes reduce the error") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  for (const auto& kind : test::kinds()) {
    const auto values = test::matrix(kind, 40, 120, 6);
    const auto bytes = encode(values, 40, 120, Target::nrmse(1e-5), coder);
    double before = inf;
    for (int passes = 1; passes <= inspect(bytes).passes; ++passes) {
      const double error = test::nrmse(values, decode(bytes, {.passes = passes}).values);
      CAPTURE(kind, passes, static_cast<int>(coder));
      // The first passes of the zerotrees refine little more than the mean, which may be nearer to the middle of a wide
      // interval.  As the basis is not quite orthogonal, a pass over a few coefficients may lose a little: at most a
      // sixth at any step in the ramp, which has the fewest.
      const double loss = kind == "ramp" ? 1.17 : 1.02;
      if (coder == Coder::context || passes > 6) CHECK(error <= before * loss);
      before = error;
    }
    CHECK(decode(bytes, {.passes = 63}).values == decode(bytes).values);
  }
}

TEST_CASE("Passes of a target are passes of the stream") {
  const Coder coder = GENERATE(Coder::context, Coder::ezw);
  const auto values = test::matrix("front", 64, 64, 6);
  for (const int passes : {1, 5, 20})
    CHECK(inspect(encode(values, 64, 64, Target::passes(passes), coder)).passes == passes);
}

TEST_CASE("A prefix that ends at a cut decodes as its passes do") {
  const auto values = test::matrix("noise", 128, 160, 6);
  const auto bytes = encode(values, 128, 160, Target::nrmse(1e-4));
  const auto info = inspect(bytes);
  REQUIRE(info.cuts.size() > 3);
  for (const Cut& cut : info.cuts) {
    const auto prefix = std::span(bytes).first(cut.bytes);
    const auto part = decode(prefix, {.passes = cut.passes, .prefix = true});
    const auto expected = decode(bytes, {.passes = cut.passes});
    CHECK(part.values == expected.values);
    CHECK(decode(prefix, {.prefix = true}).values == expected.values);
    const double error = test::nrmse(values, part.values);
    CAPTURE(cut.passes, cut.nrmse, error);
    CHECK(cut.nrmse > error * 0.8);
    CHECK(cut.nrmse < error * 1.25);
  }
  CHECK(info.cuts.back().bytes == bytes.size());
}
