// Slow instances, their causes and their order.
#include "analytics/communication/slow.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>

#include "analytics/communication/affinity.hpp"
#include "analytics/communication/outliers.hpp"
#include "program.hpp"

using namespace effort::communication;
using namespace effort::communication::test;
using Catch::Approx;

namespace {

using Values = std::vector<double>;

/// Lets `one_round` act 12 times; in rounds 5 and, if `twice`, 9, something is slow.
template <typename Round>
std::vector<SlowInstance> slow_of(std::int32_t ranks, bool twice, const Round& one_round) {
  Program program(ranks);
  for (int round = 0; round < 12; ++round) {
    one_round(program, round == 5 || (twice && round == 9), round);
    program.meet();
    for (std::int32_t r = 0; r < ranks; ++r) program.compute(r, 1000);
  }
  const Record record = program.record();
  return find_slow(record, find_patterns(record, Symbols::relative), 3.5);
}

}  // namespace

TEST_CASE("tables 6 and 7 of Alawneh & Hamou-Lhadj 2022") {
  const Values a = {1, 1, 2, 3, 2, 8}, b = {3, 3, 4, 5, 6, 12}, c = {2, 3, 3, 2, 3, 9};
  const Values za = modified_z_scores(a), zb = modified_z_scores(b), zc = modified_z_scores(c);
  const Values table_a = {0.6745, 0.6745, 0, 0.6745, 0, 4.047}, table_c = {1.349, 0, 0, 1.349, 0, 8.094};
  for (std::size_t i = 0; i < 6; ++i) {
    REQUIRE(std::abs(za[i]) == Approx(table_a[i]).margin(1e-12));
    REQUIRE(std::abs(zc[i]) == Approx(table_c[i]).margin(1e-12));
  }
  // The paper's 5.396 follows from the lower median.
  REQUIRE(zb[5] == Approx(3.3725));
}

TEST_CASE("modified Z-scores") {
  REQUIRE(modified_z_scores({}).empty());
  REQUIRE(median({}) == 0);
  REQUIRE(median({3, 1}) == 2);
  REQUIRE(median({5, 1, 3}) == 3);
  for (const double z : modified_z_scores(Values(7, 4.5))) REQUIRE(z == 0);
  // Of two values each is at 0.6745.
  REQUIRE(modified_z_scores(Values{1, 9})[1] == Approx(0.6745));
  // MAD 0: the mean absolute deviation of 9 zeros and a 10 is 1.
  const Values scores = modified_z_scores(Values{5, 5, 5, 5, 5, 5, 5, 5, 5, 15});
  REQUIRE(scores[9] == Approx(10 / 1.253314));
  REQUIRE(scores[0] == 0);
  // They do not depend on unit and origin.
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    Values values(1 + random() % 30), moved;
    for (double& value : values) value = static_cast<double>(random() % 100);
    for (const double value : values) moved.push_back(1000 + 8 * value);
    const Values z = modified_z_scores(values), z_moved = modified_z_scores(moved);
    for (std::size_t i = 0; i < z.size(); ++i) REQUIRE(z_moved[i] == Approx(z[i]).margin(1e-9));
  }
}

TEST_CASE("tables 8 and 9 of Alawneh & Hamou-Lhadj 2022") {
  const std::vector<Alternative> slow = {{8, 2, 2, 4}, {12, 9, 10, 18}, {9, 3, 4, 6}};
  const std::vector<Priority> p = prioritise(slow);
  const Values severity = {0.48, 0.16, 0.36}, complexity = {0.04, 0.85, 0.11}, angle = {85.5, 10.7, 72.5};
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(p[i].severity == Approx(severity[i]).margin(0.005));
    REQUIRE(p[i].complexity == Approx(complexity[i]).margin(0.005));
    REQUIRE(p[i].angle == Approx(angle[i]).margin(0.05));
  }
  REQUIRE(p[0].affinity == Affinity::high);
  REQUIRE(p[1].affinity == Affinity::low);
  REQUIRE(p[2].affinity == Affinity::high);
  REQUIRE(std::string(affinity_name(p[0].affinity)) == "High");
  REQUIRE(std::string(affinity_name(p[1].affinity)) == "Low");
}

TEST_CASE("weights are those of the comparison matrix") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Alternative> slow(1 + random() % 12);
    for (Alternative& a : slow)
      a = {1 + static_cast<double>(random() % 1000), 1 + random() % 5000, 1 + random() % 64, 2 + random() % 200};
    const std::vector<Priority> p = prioritise(slow);
    const auto severity = [&](std::size_t i) { return slow[i].duration / static_cast<double>(slow[i].bytes); };
    double total = 0;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      double weight = 0;
      for (std::size_t j = 0; j < slow.size(); ++j) {
        double column = 0;
        for (std::size_t k = 0; k < slow.size(); ++k) column += severity(k) / severity(j);
        weight += severity(i) / severity(j) / column / static_cast<double>(slow.size());
      }
      REQUIRE(p[i].severity == Approx(weight));
      total += p[i].complexity;
    }
    REQUIRE(total == Approx(1));
  }
  // Those that moved nothing are weighed among themselves, per event.
  const std::vector<Priority> mixed = prioritise(std::vector<Alternative>{{8, 4, 2, 2}, {6, 0, 3, 3}, {2, 0, 1, 1}});
  REQUIRE(mixed[0].affinity == Affinity::medium);
  REQUIRE(mixed[1].severity == Approx(0.5));
  REQUIRE(mixed[1].complexity == Approx(0.9));
  REQUIRE(prioritise({}).empty());
}

TEST_CASE("late senders and receivers") {
  for (const bool twice : {false, true}) {
    const auto sender = slow_of(2, twice, [](Program& p, bool slow, int) {
      if (slow) p.compute(0, 50000);
      p.send(0, 1);
      p.receive(1, 0, p.now(0) - p.now(1));
    });
    REQUIRE(sender.size() == (twice ? 2 : 1));
    REQUIRE(sender[0].instance == 5);
    REQUIRE(sender[0].cause == SlowCause::late_sender);
    REQUIRE(sender[0].last_rank == 0);
    REQUIRE(sender[0].z > 3.5);
    REQUIRE(sender[0].median_ns == 100);
    const auto receiver = slow_of(2, twice, [](Program& p, bool slow, int) {
      if (slow) p.compute(1, 50000);
      p.receive(1, 0);
      p.send(0, 1, 8, p.now(1) - p.now(0));
    });
    REQUIRE(receiver.size() == (twice ? 2 : 1));
    REQUIRE(receiver[0].cause == SlowCause::late_receiver);
    REQUIRE(receiver[0].last_rank == 1);
  }
}

TEST_CASE("a late rank of an exchange is a late sender, though it posts its receive first") {
  const auto slow = slow_of(3, false, [](Program& p, bool late, int) {
    if (late) p.compute(2, 40000);
    for (std::int32_t r = 2; r >= 0; --r) {
      p.start_receive(r, (r + 2) % 3), p.start_receive(r, (r + 1) % 3);
      p.start_send(r, (r + 1) % 3), p.start_send(r, (r + 2) % 3);
      p.wait_all(r, std::max<std::int64_t>(p.now(2) - p.now(r), 100));
    }
  });
  REQUIRE(slow.size() == 1);
  REQUIRE(slow[0].cause == SlowCause::late_sender);
  REQUIRE(slow[0].last_rank == 2);
}

TEST_CASE("late partners") {
  const auto slow = slow_of(4, false, [](Program& p, bool late, int round) {
    if (late) p.compute(2, 30000);
    p.compute(round % 4, 10);
    p.collective("MPI_Allreduce", Operation::nxn, {0, 1, 2, 3}, -1, p.now(2) + 200);
  });
  REQUIRE(slow.size() == 1);
  REQUIRE(slow[0].cause == SlowCause::late_partner);
  REQUIRE(slow[0].last_rank == 2);
}

TEST_CASE("transfers") {
  const auto slow = slow_of(2, false, [](Program& p, bool late, int) {
    const std::int64_t ns = late ? 60000 : 500;
    p.send(0, 1, 4096, ns), p.receive(1, 0, ns + 40);
  });
  REQUIRE(slow.size() == 1);
  REQUIRE(slow[0].cause == SlowCause::transfer);
  REQUIRE(slow[0].first_done == 0);
  REQUIRE(slow[0].last_done == 1);
}

TEST_CASE("noise, once, and a rank that is late within a pattern again and again") {
  for (const bool twice : {false, true}) {
    const auto slow = slow_of(2, twice, [](Program& p, bool held_up, int) {
      for (std::int32_t r = 0; r < 2; ++r) p.enter(r, "exchange");
      p.start_receive(0, 1), p.start_receive(1, 0);
      if (held_up) p.compute(1, 70000);
      p.start_send(0, 1), p.start_send(1, 0);
      for (const std::int32_t r : {1, 0}) p.wait_all(r, std::max<std::int64_t>(p.now(1) - p.now(r), 100));
      for (std::int32_t r = 0; r < 2; ++r) p.leave(r);
    });
    REQUIRE(slow.size() == (twice ? 2 : 1));
    for (const SlowInstance& s : slow) {
      REQUIRE(s.cause == (twice ? SlowCause::late_sender : SlowCause::noise));
      REQUIRE(s.last_rank == 1);
    }
  }
}

TEST_CASE("only instances of one pattern and size are compared, and only in classes of five or more") {
  const auto bytes = slow_of(2, false, [](Program& p, bool, int round) {
    const bool large = round % 4 == 0;
    p.send(0, 1, large ? 4096 : 8, large ? 90000 : 100), p.receive(1, 0, large ? 90000 : 100);
  });
  REQUIRE(bytes.empty());
  Program four(2);
  for (int i = 0; i < 4; ++i) four.send(0, 1, 8, i == 3 ? 90000 : 100), four.receive(1, 0);
  const Record record = four.record();
  REQUIRE(find_slow(record, find_patterns(record, Symbols::relative), 3.5).empty());
}
