// Trace reduction, compared with the worked examples and on the programs of Mohror & Karavanic 2009.
#include "analytics/reduction/reduction.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "analytics/reduction/representatives.hpp"
#include "program.hpp"
#include "programs.hpp"

using Catch::Approx;
using effort::communication::Cause;
using effort::communication::Operation;
using effort::communication::Record;
using effort::communication::test::Program;
using namespace effort::reduction;

namespace {

/// The segments of figure 2: begin and end of do_work, begin and end of MPI_Allgather, end of the segment.
const std::vector<double> s0 = {1, 20, 21, 49, 50}, s1 = {1, 40, 41, 50, 51}, s2 = {1, 17, 18, 48, 49};

/// Whether `second` is taken for `first`.
bool match(Similarity similarity, double threshold, const std::vector<double>& first,
           const std::vector<double>& second) {
  Representatives kept({similarity, threshold});
  kept.add(7, first);
  return kept.add(7, second) == 0;
}

/// Relative, of the waits that are at least 1 % of all.
double largest_error(const effort::communication::WaitTotals& full, const effort::communication::WaitTotals& reduced) {
  double all = 0, largest = 0;
  for (const auto& ranks : full)
    for (const std::int64_t ns : ranks) all += static_cast<double>(ns);
  for (std::size_t c = 0; c < full.size(); ++c)
    for (std::size_t r = 0; r < full[c].size(); ++r)
      if (const auto ns = static_cast<double>(full[c][r]); ns > 0 && ns >= 0.01 * all)
        largest = std::max(largest, std::abs(static_cast<double>(reduced[c][r]) - ns) / ns);
  return largest;
}

std::int64_t waiting(const effort::communication::WaitTotals& totals, Cause cause, std::size_t rank) {
  return totals[static_cast<std::size_t>(cause)][rank];
}

}  // namespace

TEST_CASE("the distances of figure 2 decide") {
  using enum Similarity;
  // Limits are thresholds times the largest stamp of the pair, 51 or 50.
  struct Golden {
    Similarity similarity;
    double far, near;  ///< s2 from s1 and from s0
  };
  for (const Golden& g : {Golden{manhattan, 50, 8}, Golden{euclidean, 32.65, 4.472}, Golden{chebyshev, 23, 3}}) {
    CHECK(match(g.similarity, 1.001 * g.far / 51, s1, s2));
    CHECK_FALSE(match(g.similarity, 0.999 * g.far / 51, s1, s2));
    CHECK(match(g.similarity, 1.001 * g.near / 50, s0, s2));
    CHECK_FALSE(match(g.similarity, 0.999 * g.near / 50, s0, s2));
    CHECK(match(g.similarity, 0.2, s0, s2));
    CHECK_FALSE(match(g.similarity, 0.2, s1, s2));
  }
  CHECK(match(rel_diff, 0.5, s0, s2));
  CHECK_FALSE(match(rel_diff, 0.5, s1, s2));
  CHECK(match(rel_diff, 0.6, s1, s2));  // 1 - 17 / 40 is the largest difference
  CHECK_FALSE(match(rel_diff, 0.574, s1, s2));
  CHECK(match(abs_diff, 20, s0, s2));
  CHECK_FALSE(match(abs_diff, 20, s1, s2));
}

TEST_CASE("the wavelets of figure 3") {
  std::vector<double> a = {0, 1, 20, 21, 49, 50, 0, 0}, b = {0, 1, 17, 18, 48, 49, 0, 0};
  const auto distance = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  };
  const double before = distance();
  std::vector<double> haar_a = a, haar_b = b, means;
  transform(a, false, means);
  transform(b, false, means);
  CHECK(a[0] == 17.625);
  CHECK(*std::max_element(a.begin(), a.end()) == 17.625);
  CHECK(distance() == Approx(1.9).margin(0.05));
  CHECK(0.2 * 17.625 == Approx(3.5).margin(0.05));
  CHECK(match(Similarity::avg_wave, 0.2, s0, s2));
  CHECK_FALSE(match(Similarity::avg_wave, 0.1, s0, s2));
  CHECK_FALSE(match(Similarity::avg_wave, 0.2, s1, s2));

  transform(haar_a, true, means);
  transform(haar_b, true, means);
  a = haar_a, b = haar_b;
  CHECK(distance() == Approx(before));
}

TEST_CASE("numbers and means of iterations") {
  Representatives three({Similarity::iter_k, 2});
  CHECK(three.add(1, s0) == 0);
  CHECK(three.add(1, s1) == 1);
  CHECK(three.add(1, s2) == 1);  // the last one kept stands for those that follow
  CHECK(three.add(2, s2) == 2);
  CHECK(three.classes() == 2);

  Representatives mean({Similarity::iter_avg, 0});
  for (const auto* s : {&s0, &s1, &s2}) CHECK(mean.add(1, *s) == 0);
  CHECK(mean.stamps(0)[1] == Approx((20.0 + 40 + 17) / 3));
  CHECK(mean.stamps(0)[4] == Approx(50));
}

TEST_CASE("errors of bounded matches stay within the tolerance, and so do their sums") {
  constexpr double tolerance = 10;
  Representatives kept({Similarity::bounded, 0.2}, tolerance);
  std::vector<std::vector<double>> all;
  std::vector<std::uint32_t> as;
  std::uint64_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> x;
    double at = 0;
    for (int k = 0; k < 5; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x.push_back(at += 100 + static_cast<double>(state >> 59));
    }
    all.push_back(x);
    as.push_back(kept.add(1, x));
  }
  std::vector<double> sums(5, 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < 5; ++k) {
      const double error = all[i][k] - kept.stamps(as[i])[k];
      sums[k] += error;
      REQUIRE(std::abs(error) <= tolerance);
      REQUIRE(std::abs(sums[k]) <= tolerance);
    }
  }
  CHECK(kept.size() < all.size() / 4);
}

TEST_CASE("methods by name") {
  for (std::size_t i = 0; i < n_similarities; ++i) {
    const auto similarity = static_cast<Similarity>(i);
    for (const double threshold : studied_thresholds(similarity)) {
      const auto read = method_from(method_text({similarity, threshold}));
      REQUIRE(read);
      CHECK(read->similarity == similarity);
      CHECK(read->threshold == (similarity == Similarity::iter_avg ? 0 : threshold));
    }
    CHECK(method_from(std::string(similarity_text(similarity)))->threshold == default_threshold(similarity));
  }
  CHECK(method_from("EUCLIDEAN:1"));
  for (const char* wrong : {"", ":", "none", "avgWave:", "avgWave:x", "avgWave:0", "avgWave:-1", "avgWave:1e999",
                            "avgWave:nan", "avgWave:1 ", "iter_k:1.5", "iter_avg:1", "avgWave:0.2:1"})
    CHECK_FALSE(method_from(wrong));
}

TEST_CASE("segments by regions, as in figure 1") {
  Program p(1);
  p.enter(0, "main");
  p.enter(0, "MPI_Init");
  p.compute(0, 10);
  p.leave(0);
  for (int i = 0; i < 3; ++i) {
    p.enter(0, "main.1");
    p.enter(0, "do_work");
    p.compute(0, 10 + i);
    p.leave(0);
    p.leave(0);
  }
  for (int j = 0; j < 2; ++j) {
    p.enter(0, "main.2");
    p.enter(0, "do_other_work");
    p.compute(0, 20);
    p.leave(0);
    for (int k = 0; k < 2 + j; ++k) {
      p.enter(0, "main.2.1");
      p.compute(0, 5);
      p.leave(0);
    }
    p.leave(0);
  }
  p.compute(0, 7);
  p.enter(0, "MPI_Finalize");
  p.leave(0);
  p.leave(0);
  const Record record = p.record();
  std::vector<bool> regions;
  for (const std::string& name : record.regions) regions.push_back(name.starts_with("main."));
  const Segments cut = cut_at_regions(record, regions);
  // init; 3 x main.1; 2 x (main.2, main.2.1 twice or three times, the end of main.2); final
  REQUIRE(cut.segments.size() == 1 + 3 + (1 + 2 + 1) + (1 + 3 + 1) + 1);
  std::set<std::uint64_t> structures;
  std::size_t stamps = 0;
  for (const Segment& s : cut.segments) {
    structures.insert(s.structure);
    CHECK(s.end > s.first);
    stamps += s.end - s.first;
  }
  CHECK(structures.size() == 6);
  CHECK(stamps == 2 * record.calls.size());
  CHECK(cut.segments[1].structure == cut.segments[3].structure);
  CHECK(cut.segments[4].structure == cut.segments[8].structure);
  CHECK(cut.segments[7].structure == cut.segments[12].structure);
  CHECK(cut.segments[1].end_ns - cut.segments[1].begin_ns == 10);
  std::vector<std::string> names;
  for (const Segment& s : cut.segments) names.push_back(cut.contexts[s.context].name);
  CHECK(names == std::vector<std::string>{"initial", "main.1", "main.1", "main.1", "main.2", "main.2.1", "main.2.1",
                                          "main.2 after main.2.1", "main.2", "main.2.1", "main.2.1", "main.2.1",
                                          "main.2 after main.2.1", "final"});
  for (const Context& context : cut.contexts)
    if (context.region != effort::communication::none) CHECK(record.regions[context.region] == context.name);
  // The time between the last iteration and MPI_Finalize belongs to the final segment.
  CHECK(cut.segments.back().end_ns - cut.segments.back().begin_ns == 7);
}

TEST_CASE("segments are compared if partners and sizes are equal") {
  Program p(3);
  for (const auto& [to, bytes] : {std::pair{1, 8}, {1, 8}, {2, 8}, {1, 16}}) {
    p.enter(0, "iteration");
    p.send(0, to, static_cast<std::uint64_t>(bytes));
    p.leave(0);
    p.receive(to, 0);
  }
  const Record record = p.record();
  const Segments cut = test::iterations(record);
  CHECK(cut.segments[0].structure == cut.segments[1].structure);
  CHECK(cut.segments[0].structure != cut.segments[2].structure);
  CHECK(cut.segments[0].structure != cut.segments[3].structure);
  CHECK(cut.segments[0].ends_of_messages == 1);
}

TEST_CASE("segments by steps") {
  Program p(2);
  for (int i = 0; i < 4; ++i) {
    for (const std::int32_t rank : {0, 1}) p.compute(rank, 100);
    p.collective("MPI_Barrier", Operation::barrier, {0, 1});
  }
  Record record = p.record();
  for (const std::int32_t rank : {0, 1})
    for (std::int64_t step = 0; step < 3; ++step) record.steps.push_back({rank, step, 201 + 200 * step});
  const Segments cut = cut_at_steps(record);
  REQUIRE(cut.segments.size() == 8);  // before step 0, and three steps, on each rank
  CHECK(cut.segments[1].structure == cut.segments[3].structure);
  CHECK(cut.segments[0].structure != cut.segments[1].structure);
  CHECK(cut.segments[2].begin_ns == 401);
  CHECK(cut.segments[2].end_ns == 601);
  CHECK(cut.segments[7].location == 1);
  CHECK(cut.contexts[cut.segments[0].context].name == "initial");
  CHECK(cut.contexts[cut.segments[7].context].name == "step");
  // The second step on rank 0 is in phase 4.
  record.phases.push_back({0, 4, 401});
  const Segments phased = cut_at_steps(record);
  CHECK(phased.contexts[phased.segments[1].context].name == "step");
  CHECK(phased.contexts[phased.segments[2].context].name == "step, phase 4");
  CHECK(phased.segments[1].structure != phased.segments[2].structure);
}

TEST_CASE("segments of different phases are not comparable") {
  Program p(1);
  std::vector<std::int64_t> begin;
  for (int i = 0; i < 5; ++i) {
    begin.push_back(p.now(0));
    p.enter(0, "work");
    p.compute(0, 100);
    p.leave(0);
    p.compute(0, 10);
  }
  Record record = p.record();
  for (std::int64_t step = 0; step < 5; ++step)
    record.steps.push_back({0, step, begin[static_cast<std::size_t>(step)]});
  REQUIRE(cut_at_steps(record).segments.size() == 5);
  CHECK(cut_at_steps(record).segments[1].structure == cut_at_steps(record).segments[2].structure);

  record.phases = {{0, 0, begin[2]}, {0, 7, begin[3]}, {0, 0, begin[4]}};
  const Segments cut = cut_at_steps(record);
  REQUIRE(cut.segments.size() == 5);
  CHECK(cut.segments[1].structure != cut.segments[2].structure);
  CHECK(cut.segments[2].structure != cut.segments[3].structure);
  CHECK(cut.segments[2].structure == cut.segments[4].structure);
}

TEST_CASE("the four criteria, by hand") {
  // Rank 1 is late by 100, 100 and 400 ns.  The mean iteration has no such lateness.
  Program p(2);
  for (const std::int64_t late : {100, 100, 400}) {
    for (const std::int32_t rank : {0, 1}) p.enter(rank, "iteration");
    p.compute(1, late);
    p.collective("MPI_Barrier", Operation::barrier, {0, 1}, -1, std::max(p.now(0), p.now(1)) + 10);
    for (const std::int32_t rank : {0, 1}) p.leave(rank);
  }
  const Record record = p.record();
  const Segments cut = test::iterations(record);
  Reducer reducer(record, cut);
  CHECK(waiting(reducer.waits(), Cause::barrier, 0) == 600);

  const Reduced exact = reducer.reduce({Similarity::abs_diff, 1});
  CHECK(exact.segments == 6);
  CHECK(exact.stored == 4);
  CHECK(exact.classes == 2);
  CHECK(exact.degree == 0.5);
  const std::uint64_t segment = 4 * bytes_per_event + bytes_per_exchange;
  CHECK(exact.full_bytes == 6 * segment);
  CHECK(exact.size_bytes == 4 * segment + 6 * bytes_per_execution);
  CHECK(exact.distance90_ns == 0);
  CHECK(exact.violations.empty());
  CHECK(waiting(exact.waits, Cause::barrier, 0) == 600);

  const Reduced first = reducer.reduce({Similarity::iter_k, 1});
  CHECK(first.stored == 2);
  CHECK(first.degree == 1);
  CHECK(first.distance90_ns == 300);
  REQUIRE(first.violations.size() == 1);
  CHECK(first.violations[0].rank == 0);
  CHECK(first.violations[0].full_ns == 600);
  CHECK(first.violations[0].reduced_ns == 300);

  // Trying the first method again gives the same: the one in between leaves no trace.
  CHECK(reducer.reduce({Similarity::abs_diff, 1}).waits == exact.waits);
}

TEST_CASE("bounded retains the waits in all programs of the paper") {
  std::size_t lost_by_mean = 0;
  for (const std::string& name : test::program_names()) {
    const Record record = test::program(name);
    const Segments cut = test::iterations(record);
    Reducer reducer(record, cut);
    const Reduced bounded = reducer.reduce({Similarity::bounded, default_threshold(Similarity::bounded)});
    INFO(name);
    CHECK(bounded.violations.empty());
    CHECK(bounded.size_bytes < bounded.full_bytes / 2);
    const Reduced strict = reducer.reduce({Similarity::bounded, 0.02});
    CHECK(largest_error(reducer.waits(), strict.waits) <= 0.02);
    CHECK(strict.size_bytes >= bounded.size_bytes);
    lost_by_mean += reducer.reduce({Similarity::iter_avg, 0}).violations.empty() ? 0 : 1;
    for (const char* other :
         {"relDiff", "absDiff", "Manhattan", "Euclidean", "Chebyshev", "iter_k", "avgWave", "haarWave"}) {
      const Reduced r = reducer.reduce(*method_from(other));
      CHECK(r.stored <= r.segments);
      CHECK(r.stored >= r.classes);
      CHECK(r.degree <= 1);
      if (r.violations.empty()) CHECK(bounded.size_bytes <= r.size_bytes);
    }
  }
  CHECK(lost_by_mean > 0);
}

TEST_CASE("an empty trace can be reduced") {
  const Record record;
  const Segments none = cut_at_steps(record);
  Reducer reducer(record, none);
  const Reduced r = reducer.reduce({Similarity::bounded, 0.2});
  CHECK(r.segments == 0);
  CHECK(r.full_bytes == 0);
  CHECK(r.violations.empty());
}
