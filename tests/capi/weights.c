/* Weights for partitioners: before any init, right on known numbers, refused on bad ones. */
#include "check.h"

#include <stdint.h>

static void items(void) {
  const double amount[6] = {1, 2, 3, 0, 0, 10}, cost[2] = {0.5, 0.25}, unknown[2] = {-1, -1}, half[2] = {-1, 2};
  double weight[3] = {7, 7, 7};
  CHECK_OK(effort_weights_items(3, 2, amount, cost, weight));
  CHECK(weight[0] == 1.0 && weight[1] == 1.5 && weight[2] == 2.5);
  CHECK_OK(effort_weights_items(3, 2, amount, half, weight));
  CHECK(weight[0] == 4 && weight[1] == 0 && weight[2] == 20);
  CHECK_OK(effort_weights_items(3, 2, amount, unknown, weight));
  CHECK(weight[0] == 1 && weight[1] == 1 && weight[2] == 1);
  weight[0] = 7;
  CHECK_OK(effort_weights_items(1, 0, NULL, NULL, weight)); /* a hint without units */
  CHECK(weight[0] == 1);
  CHECK_OK(effort_weights_items(0, 2, NULL, NULL, NULL));
  const double bad[2] = {1, -1}, endless[2] = {INFINITY, 1};
  weight[0] = 7;
  CHECK_FAILS(effort_weights_items(1, 2, bad, cost, weight), EFFORT_ERR_INVALID_ARGUMENT, "amount 1");
  CHECK_FAILS(effort_weights_items(1, 2, amount, endless, weight), EFFORT_ERR_INVALID_ARGUMENT, "cost of unit 0");
  CHECK_FAILS(effort_weights_items(1, -1, amount, cost, weight), EFFORT_ERR_INVALID_ARGUMENT, "n_units");
  CHECK_FAILS(effort_weights_items(1, 2, NULL, cost, weight), EFFORT_ERR_INVALID_ARGUMENT, "null");
  CHECK_FAILS(effort_weights_items(SIZE_MAX / 2, 2, amount, cost, weight), EFFORT_ERR_INVALID_ARGUMENT, "n_items");
  CHECK(weight[0] == 7);
}

static void share(void) {
  const double estimate[3] = {1, 1, 2}, zero[2] = {0, 0}, bad[2] = {NAN, 1};
  double weight[3];
  CHECK_OK(effort_weights_share(3, estimate, 8, weight));
  CHECK(weight[0] == 2 && weight[1] == 2 && weight[2] == 4);
  CHECK_OK(effort_weights_share(2, zero, 8, weight));
  CHECK(weight[0] == 4 && weight[1] == 4);
  CHECK_OK(effort_weights_share(2, NULL, 3, weight));
  CHECK(weight[0] == 1.5 && weight[1] == 1.5);
  CHECK_FAILS(effort_weights_share(2, bad, 8, weight), EFFORT_ERR_INVALID_ARGUMENT, "estimate 0");
  CHECK_FAILS(effort_weights_share(2, zero, -8, weight), EFFORT_ERR_INVALID_ARGUMENT, "load");
  CHECK(weight[0] == 1.5);
}

static void integers(void) {
  const double weight[4] = {1, 2, 3, 4}, equal[3] = {0, 0, 0};
  int64_t cost[4] = {-1, -1, -1, -1}, sum = 0;
  CHECK_OK(effort_weights_integers(4, weight, 10, 0, cost));
  for (int i = 0; i < 4; ++i) CHECK(cost[i] == i + 1);
  CHECK_OK(effort_weights_integers(4, weight, 1001, 5, cost));
  for (int i = 0; i < 4; ++i) {
    sum += cost[i];
    CHECK(cost[i] >= 5 && (i == 0 || cost[i] >= cost[i - 1]));
  }
  CHECK(sum == 1001);
  CHECK_OK(effort_weights_integers(3, equal, 7, 0, cost));
  CHECK(cost[0] + cost[1] + cost[2] == 7 && cost[0] - cost[2] <= 1);
  CHECK_OK(effort_weights_integers(0, NULL, 0, 0, NULL));
  cost[0] = -7;
  CHECK_FAILS(effort_weights_integers(4, weight, 3, 1, cost), EFFORT_ERR_INVALID_ARGUMENT, "choose a larger sum");
  CHECK_FAILS(effort_weights_integers(4, NULL, 3, 0, cost), EFFORT_ERR_INVALID_ARGUMENT, "null");
  CHECK(cost[0] == -7);
}

static void ranks(void) {
  const double load[4] = {1, 3, 4, 0}, zero[2] = {0, 0};
  double factor[4], sum = 0;
  CHECK_OK(effort_weights_ranks(4, load, factor));
  for (int r = 0; r < 4; ++r) sum += factor[r];
  CHECK_NEAR(sum, 4, 1e-12);
  CHECK_NEAR(factor[1] / factor[0], 3, 1e-12);
  CHECK(factor[3] > 0);
  CHECK_OK(effort_weights_ranks(2, zero, factor));
  CHECK(factor[0] == 1 && factor[1] == 1);
  CHECK_FAILS(effort_weights_ranks(-1, load, factor), EFFORT_ERR_INVALID_ARGUMENT, "n_ranks");
  CHECK_FAILS(effort_weights_ranks(2, NULL, factor), EFFORT_ERR_INVALID_ARGUMENT, "null");
}

int main(void) {
  items();
  share();
  integers();
  ranks();
  return failures() != 0;
}
