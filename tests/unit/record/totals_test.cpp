// The totals of a series over its ranks.
#include "record/run.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace effort::record;

TEST_CASE("totals name the first of the ranks with the largest sum, also if all sums are zero") {
  Totals totals;
  totals.add({0, 0, 4});
  CHECK(totals.largest_rank == 4);
  totals.add({3, 3, 5});
  totals.add({3, 3, 6});
  Totals of_another_node;
  of_another_node.add({1, 1, 1});
  of_another_node.add({3, 3, 2});
  totals.add(of_another_node);
  CHECK(totals.total == 10);
  CHECK(totals.largest == 3);
  CHECK(totals.largest_rank == 5);
  Series series;
  series.set_totals(totals, 5);
  CHECK(series.mean_over_ranks == 2);
  CHECK(series.max_rank == 5);
  CHECK(series.imbalance == 0.5);
}
