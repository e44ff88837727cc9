// Weights for partitioners through the C++ header.
#include "check.h"

#include <effort/effort.hpp>

int main() {
  CHECK((effort::weights_items({1, 2, 3, 0}, {0.5, 0.25}) == std::vector<double>{1, 1.5}));
  CHECK(effort::weights_items({1, -2}, {0.5, 0.25}).empty());
  // With incomplete rows, or with amounts but no costs, the number of items cannot be known.
  CHECK(effort::weights_items({1, 2, 3}, {0.5, 0.25}).empty());
  CHECK(strstr(effort_last_error(), "whole rows") != nullptr);
  CHECK(effort::weights_items({1, 2, 3}, {}).empty());
  CHECK(effort::weights_items({}, {}).empty());
  CHECK((effort::weights_share({1, 3}, 8) == std::vector<double>{2, 6}));
  CHECK((effort::weights_integers({1, 2, 3}, 12) == std::vector<std::int64_t>{2, 4, 6}));
  CHECK(effort::weights_integers({1, 2, 3}, 2, 1).empty());
  CHECK((effort::weights_ranks({1, 3}) == std::vector<double>{0.5, 1.5}));
  return failures() != 0;
}
