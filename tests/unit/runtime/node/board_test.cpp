#include "runtime/node/board.hpp"

#include "runtime/node/segment.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace effort::node;

TEST_CASE("a board shows a hint as it was published") {
  const BoardShape shape{3, 2};
  auto segment = Segment::make_private({2, shape});
  Board& board = segment->board();
  CHECK(board.newest() == -1);
  const std::vector<double> load{1, 2, 3}, predicted{4, 5, 6}, by_stratum{1, 2, 3, 4}, region_load{7, 8, 9, 10};
  const std::vector<std::int32_t> stratum{0, 1, 1}, medoid{0, 2};
  const std::vector<std::string> names{"a", "b"};
  for (std::int64_t w = 0; w < 4; ++w) {
    HintContent h;
    h.numbers.look = w;
    h.numbers.n_regions = 2;
    h.numbers.report.strata = 2;
    h.numbers.report.imbalance = 0.5 * static_cast<double>(w);
    h.load = load;
    h.predicted = predicted;
    h.stratum = stratum;
    h.medoid_rank = medoid;
    h.stratum_region_load = by_stratum;
    h.region_load = region_load;
    h.region_names = names;
    board.publish(h);
    CHECK(board.newest() == w);
    const HintView v = board.view(w, 1);
    CHECK(v.numbers->report.imbalance == 0.5 * static_cast<double>(w));
    CHECK(v.predicted[2] == 6);
    CHECK(v.stratum[2] == 1);
    CHECK(v.stratum_region_load[3] == 4);
    CHECK(v.region_load[0] == 9);
    CHECK(v.delay == nullptr);
    CHECK(std::string(board.region_name(1)) == "b");
    if (w > 0) CHECK(board.view(w - 1, 0).numbers->look == w - 1);
  }
}

TEST_CASE("a hint with more regions than the board has room for is flagged as truncated") {
  const BoardShape shape{1, 1};
  auto segment = Segment::make_private({1, shape});
  std::vector<std::string> names;
  for (int i = 0; i < max_hint_regions + 100; ++i) names.push_back("region " + std::to_string(i));
  std::vector<double> one{1}, loads(2 * names.size(), 2.0);
  loads[names.size()] = 3;
  const std::vector<std::int32_t> zero{0}, last{max_hint_regions + 99};
  HintContent h;
  h.numbers.look = 0;
  h.numbers.n_regions = static_cast<std::int32_t>(names.size());
  h.numbers.report.strata = 2;
  h.numbers.report.worst_region = max_hint_regions;
  h.load = h.predicted = h.delay = one;
  h.stratum = zero;
  h.delay_region = last;
  h.stratum_region_load = h.region_load = loads;
  h.region_names = names;
  segment->board().publish(h);
  const HintView v = segment->board().view(0, 0);
  CHECK(v.numbers->n_regions == max_hint_regions);
  CHECK((v.numbers->report.advice & effort::window::advice_truncated) != 0);
  CHECK(v.numbers->report.worst_region == -1);
  CHECK(v.delay_region[0] == -1);
  CHECK(v.stratum_region_load[max_hint_regions - 1] == 2);
  CHECK(v.stratum_region_load[max_hint_regions] == 3);
}
