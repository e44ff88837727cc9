// Hints on whole nodes in one process.
#include "world.hpp"

using namespace effort;
using namespace effort::engine;
using namespace effort::engine::test;

TEST_CASE("hints arrive HINT_LAG steps after each window, the same on all ranks and node splits") {
  std::optional<std::vector<std::byte>> reference;
  for (auto split : std::vector<std::vector<int>>{{6}, {3, 3}, {1, 2, 3}, {1, 1, 1, 1, 1, 1}}) {
    World w;
    w.ranks_per_node = split;
    w.run();
    check_same_everywhere(w, 4);
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < 4; ++i) {
      const Seen& hint = w.logs[0].hints[i];
      CHECK(hint.step == static_cast<std::int64_t>(10 * i + 11));
      CHECK(hint.numbers.report.last == static_cast<std::int64_t>(10 * i + 9));
      for (int r = 0; r < 6; ++r) CHECK(hint.load[static_cast<std::size_t>(r)] == Catch::Approx(1.0 + r));
      CHECK(hint.numbers.report.imbalance == Catch::Approx(6 / 3.5 - 1));
      CHECK(hint.numbers.report.rebalance == 1);
      all.insert(all.end(), hint.bytes.begin(), hint.bytes.end());
    }
    if (!reference) reference = all;
    CHECK(*reference == all);
    for (const RankLog& log : w.logs) CHECK(log.finalized == Status::ok);
    int files = 0;
    for (const auto& f : std::filesystem::directory_iterator(w.settings.snapshot_dir))
      files += f.path().extension() == ".effort";
    CHECK(files == 1);
  }
}

TEST_CASE("a lag of a whole window, and of one step") {
  for (int lag : {1, 4}) {
    World w;
    w.ranks_per_node = {2, 1};
    w.settings.window = 4;
    w.settings.hint_lag = lag;
    w.steps = 17;
    w.run();
    const std::size_t due = static_cast<std::size_t>((17 - lag) / 4);
    check_same_everywhere(w, due);
    for (std::size_t i = 0; i < due; ++i) CHECK(w.logs[0].hints[i].step == static_cast<std::int64_t>(4 * i) + 3 + lag);
  }
}

TEST_CASE("after a rebalance, a window begins with the first new step") {
  World w;
  w.ranks_per_node = {2, 2};
  w.steps = 60;
  // Rank 3 alone answers 1, at the first hint; the maximum counts.
  w.callback = [&](int rank, const session::DeliveredHint& h) { return rank == 3 && h.step == 11 ? 1 : 0; };
  w.run();
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const window::Report& n = log.hints[i].numbers.report;
      CHECK(n.first == (i == 1 ? 12 : static_cast<std::int64_t>(10 * i)));
      CHECK(n.last == static_cast<std::int64_t>(10 * i) + 9);
      CHECK((n.advice & 1u) == 0);
      CHECK(n.rebalance == 1);
    }
  }
}

TEST_CASE("windows that end before a rebalance are stale, and those with new steps use only these") {
  World w;
  w.ranks_per_node = {2, 2};
  w.steps = 60;
  w.settings.hint_lag = 10;
  w.callback = [&](int rank, const session::DeliveredHint& h) { return rank == 3 && h.step == 19 ? 1 : 0; };
  w.run();
  const auto& hints = w.logs[0].hints;
  REQUIRE(hints.size() == 5);
  CHECK((hints[0].numbers.report.advice & 1u) == 0);
  CHECK((hints[1].numbers.report.advice & 1u) == 1);  // steps 10..19, the rebalance was at 19
  CHECK(hints[1].numbers.report.first == 10);
  CHECK(hints[1].numbers.report.rebalance == 0);
  CHECK((hints[2].numbers.report.advice & 1u) == 0);
  CHECK(hints[2].numbers.report.rebalance == 1);  // nothing changed: recommended again
  // Loads that are not times have no price, however long the callback took.
  CHECK(hints[4].numbers.report.rebalance_cost < 0);
}

TEST_CASE("a rebalance between a window's end and its hint overtakes the hint, on all ranks") {
  World w;
  w.ranks_per_node = {2, 1, 2};
  w.steps = 60;
  w.before_step_ends = [](int, int step, session::RankClient& client) {
    if (step != 30) return;  // window 2 ended with step 29, its hint is due at the end of step 31
    client.rebalance_begin();
    client.rebalance_end();
  };
  w.run();
  for (const RankLog& log : w.logs) {
    REQUIRE(log.hints.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(log.hints[i].overtaken == (i == 2));
    CHECK(log.hints[3].numbers.report.first == 31);
  }
}

TEST_CASE(
    "the price of a rebalance: the longest computing where communication is marked, otherwise the shortest stay") {
  const auto united = [](std::vector<RebalanceAnswer> ranks) {
    RebalanceAnswer all = ranks[0];
    for (std::size_t r = 1; r < ranks.size(); ++r) all.add(ranks[r]);
    return all.seconds();
  };
  // step, price, computing, answer, bracketed
  CHECK(united({{5, 0.4, -1, 1, 1}, {5, 0.1, -1, 1, 1}, {5, 0.9, -1, 1, 1}}) == 0.1);
  CHECK(united({{5, 0.4, 0.3, 1, 1}, {5, 0.1, 0.1, 1, 1}, {5, 0.9, 0.2, 1, 1}}) == 0.3);
  CHECK(united({{5, 0.4, 0.3, 1, 1}, {5, 0.4, 0.1, 1, 1}, {5, 0.9, 0.2, 1, 1}}) ==
        0.4);  // by the wall clock, transfer included
  CHECK(united({{5, 0.1, -1, 1, 1}, {5, 0.5, 0.2, 1, 1}}) ==
        0.2);  // a rank without a mark does not count beside others
  CHECK(united({{5, 9.0, 9.0, -5, 0}, {5, 0.2, 0.1, 1, 0}, {5, 8, 8, -5, 0}}) == 0.2);  // nor does one that failed
  CHECK(united({{5, -1, -1, 1, 1}, {5, 0.2, -1, 1, 1}}) == 0.2);  // nor one whose clock is unknown
  CHECK(united({{5, -1, -1, 1, 1}, {5, -1, -1, 1, 1}}) < 0);
}

TEST_CASE("a step belongs to the distribution under which most of it ran") {
  const RebalanceAnswer early{5, 0, -1, 1, 4, 0.1, 4.0}, late{5, 0, -1, 1, 4, 3.9, 4.0}, answered{5, 0, -1, 1, 0, 0, 0};
  CHECK(early.last_old_step() == 4);
  CHECK(late.last_old_step() == 5);
  CHECK(answered.last_old_step() == 5);
}

TEST_CASE("a node that fails switches all ranks off at the same step, and finalize returns") {
  World w;
  w.ranks_per_node = {2, 1, 2};
  w.steps = 60;
  w.before_look = [](int node, std::int64_t look) {
    if (node == 1 && look == 2) throw std::bad_alloc();
  };
  w.run();
  check_same_everywhere(w, 2);
  for (const RankLog& log : w.logs) {
    CHECK(log.off_at == 31);  // where the hint of window 2 was due
    CHECK(log.finalized == Status::switched_off);
  }
  for (const auto& f : w.failures) CHECK_FALSE(f.empty());
}

TEST_CASE("no steps at all, fewer than a window, and one rank") {
  for (int steps : {0, 1, 7, 10, 11}) {
    World w;
    w.ranks_per_node = {1, 1};
    w.steps = steps;
    w.run();
    for (const RankLog& log : w.logs) {
      CHECK(log.finalized == Status::ok);
      CHECK(log.hints.empty());
    }
  }
}
