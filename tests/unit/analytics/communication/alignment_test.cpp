// The alignment of phases against all alignments.
#include "analytics/communication/alignment.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

using namespace effort::communication;
using Catch::Approx;

namespace {

double best_of_all(const std::vector<Shares>& a, const std::vector<Shares>& b, std::size_t i, std::size_t j) {
  if (i == a.size() || j == b.size()) return 0;
  double best = std::max(best_of_all(a, b, i + 1, j), best_of_all(a, b, i, j + 1));
  const double same = similarity(a[i], b[j]);
  return same < 0.5 ? best : std::max(best, same + best_of_all(a, b, i + 1, j + 1));
}

}  // namespace

TEST_CASE("alignments are the best ones, and complete") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Shares> a(random() % 6), b(random() % 6);
    for (auto* run : {&a, &b}) {
      for (Shares& shares : *run) {
        shares.assign(3, 0);
        for (int i = 0; i < 4; ++i) shares[random() % 3] += 0.25;
      }
    }
    const std::vector<AlignedPhases> aligned = align_phases(a, b);
    double sum = 0;
    std::size_t i = 0, j = 0;
    for (const AlignedPhases& pair : aligned) {
      if (pair.a != AlignedPhases::nothing) REQUIRE(pair.a == i++);
      if (pair.b != AlignedPhases::nothing) REQUIRE(pair.b == j++);
      if (pair.a != AlignedPhases::nothing && pair.b != AlignedPhases::nothing) {
        REQUIRE(pair.similarity == Approx(similarity(a[pair.a], b[pair.b])));
        REQUIRE(pair.similarity >= 0.5);
      } else {
        REQUIRE(pair.similarity == 0);
      }
      sum += pair.similarity;
    }
    REQUIRE(i == a.size());
    REQUIRE(j == b.size());
    REQUIRE(sum == Approx(best_of_all(a, b, 0, 0)));
  }
}
