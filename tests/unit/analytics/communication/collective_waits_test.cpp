#include "analytics/communication/collective_waits.hpp"

#include "analytics/comm/thread_group.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace effort::communication {
namespace {

enum class Type { all, from_root, to_root, scan };

/// A collective of a made-up run, in which every rank takes part.
struct Instance {
  std::uint32_t communicator;
  Type type;
  int root;                      ///< place
  std::vector<std::int64_t> ns;  ///< by place
};

struct Run {
  int n_ranks;
  std::vector<std::vector<int>> members;  ///< by communicator: ranks by place
  std::vector<std::vector<Instance>> steps;
  int level = 0;
  bool skewed = false;  ///< odd ranks report the last instance of a step with the next one
};

std::uint8_t part_of(const Instance& i, int place) {
  switch (i.type) {
    case Type::all: return gives | waits;
    case Type::from_root: return place == i.root ? gives : waits;
    case Type::to_root: return place == i.root ? waits : gives;
    case Type::scan: return gives | waits | scans;
  }
  return 0;
}

struct Totals {
  std::vector<std::int64_t> waited, delay;  ///< ns by rank
  std::uint64_t dropped = 0;
  bool operator==(const Totals&) const = default;
};

/// The definitions, implemented directly.
Totals expected(const Run& run, int level = 0) {
  Totals t{std::vector<std::int64_t>(static_cast<std::size_t>(run.n_ranks)),
           std::vector<std::int64_t>(static_cast<std::size_t>(run.n_ranks))};
  std::map<std::uint32_t, std::uint64_t> ordinal;
  for (const auto& step : run.steps)
    for (const Instance& i : step) {
      if (!in_sample(ordinal[i.communicator]++, level)) continue;
      const std::vector<int>& ranks = run.members[i.communicator];
      for (std::size_t p = 0; p < ranks.size(); ++p) {
        if ((part_of(i, static_cast<int>(p)) & waits) == 0) continue;
        std::int64_t last = -1;
        int who = -1;
        for (std::size_t q = 0; q < ranks.size(); ++q) {
          if ((part_of(i, static_cast<int>(q)) & gives) == 0 || (i.type == Type::scan && q >= p)) continue;
          if (i.ns[q] > last || (i.ns[q] == last && ranks[q] > who)) {
            last = i.ns[q];
            who = ranks[q];
          }
        }
        if (last <= i.ns[p]) continue;
        t.waited[static_cast<std::size_t>(ranks[p])] += (last - i.ns[p]) << level;
        t.delay[static_cast<std::size_t>(who)] += (last - i.ns[p]) << level;
      }
    }
  return t;
}

/// The library's results if ranks are assigned to nodes in blocks, or round robin.
Totals found(const Run& run, int n_nodes, bool round_robin) {
  Totals t{std::vector<std::int64_t>(static_cast<std::size_t>(run.n_ranks)),
           std::vector<std::int64_t>(static_cast<std::size_t>(run.n_ranks))};
  std::mutex mutex;
  run_thread_group(n_nodes, [&](Communicator& nodes) {
    std::vector<int> mine;
    for (int r = 0; r < run.n_ranks; ++r)
      if ((round_robin ? r % n_nodes : r * n_nodes / run.n_ranks) == nodes.rank()) mine.push_back(r);
    const std::int64_t offset = 1'000'000'007LL * nodes.rank();  // of the node's clock
    CollectiveWaits all(mine, run.n_ranks);
    std::map<std::pair<std::uint32_t, int>, std::uint64_t> reported, reached;  // by communicator and rank
    std::map<std::pair<std::uint32_t, int>, std::vector<Arrival>> kept;
    for (std::size_t s = 0; s <= run.steps.size(); ++s) {
      const bool over = s == run.steps.size();
      if (!over)
        for (const Instance& i : run.steps[s]) {
          const auto& ranks = run.members[i.communicator];
          for (std::size_t p = 0; p < ranks.size(); ++p) {
            const std::pair key{i.communicator, ranks[p]};
            const std::uint64_t ordinal = reached[key]++;
            if (in_sample(ordinal, run.level))
              kept[key].push_back({ordinal, i.ns[p] + offset, part_of(i, static_cast<int>(p))});
          }
        }
      for (std::uint32_t c = 0; c < run.members.size(); ++c)
        for (std::size_t p = 0; p < run.members[c].size(); ++p) {
          const int rank = run.members[c][p];
          const auto local = std::find(mine.begin(), mine.end(), rank);
          const std::pair key{c, rank};
          std::uint64_t end = reached[key];
          if (run.skewed && !over && rank % 2 == 1 && end > reported[key]) --end;
          if (local == mine.end() || end == reported[key]) continue;
          ArrivalBatch batch{c,
                             static_cast<int>(local - mine.begin()),
                             static_cast<int>(p),
                             static_cast<int>(run.members[c].size()),
                             reported[key],
                             end,
                             run.level,
                             static_cast<std::int64_t>(s),
                             0,
                             {}};
          auto& arrivals = kept[key];
          while (!arrivals.empty() && arrivals.front().ordinal < end) {
            batch.arrivals.push_back(arrivals.front());
            arrivals.erase(arrivals.begin());
          }
          reported[key] = end;
          all.add(std::move(batch));
        }
      if (s % 3 != 2 && !over) continue;
      for (const CollectiveWait& w : all.find(nodes, run.members.size() + 1, {offset, 0})) {
        const std::lock_guard lock(mutex);
        const auto rank = static_cast<std::size_t>(mine[static_cast<std::size_t>(w.local)]);
        t.waited[rank] += static_cast<std::int64_t>(w.waited * 1e9 + 0.5);
        t.delay[rank] += static_cast<std::int64_t>(w.delay * 1e9 + 0.5);
      }
    }
    const std::lock_guard lock(mutex);
    t.dropped += all.dropped();
  });
  return t;
}

Run made_up(std::uint32_t seed, int n_ranks) {
  std::mt19937 random(seed);
  Run run{n_ranks, {}, {}};
  std::vector<int> world(static_cast<std::size_t>(n_ranks)), odd, backwards;
  for (int r = 0; r < n_ranks; ++r) world[static_cast<std::size_t>(r)] = r;
  for (int r = 1; r < n_ranks; r += 2) odd.push_back(r);
  backwards.assign(world.rbegin(), world.rend());
  run.members = {world, odd, backwards};
  std::int64_t now = 5'000'000;
  for (int s = 0; s < 7; ++s) {
    run.steps.emplace_back();
    for (int i = 0; i < 11; ++i) {
      Instance at{static_cast<std::uint32_t>(random() % 3), static_cast<Type>(random() % 4), 0, {}};
      const std::size_t size = run.members[at.communicator].size();
      at.root = static_cast<int>(random() % size);
      now += 2'000;
      for (std::size_t p = 0; p < size; ++p) at.ns.push_back(now + static_cast<std::int64_t>(random() % 1500));
      run.steps.back().push_back(std::move(at));
    }
  }
  return run;
}

TEST_CASE("Waits at all kinds of collectives are those of the definitions, for any split into nodes") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Run run = made_up(seed, 9);
    const Totals want = expected(run);
    CAPTURE(seed);
    CHECK(found(run, 1, false) == want);
    CHECK(found(run, 3, false) == want);
    CHECK(found(run, 4, true) == want);
    CHECK(found(run, 9, true) == want);
  }
}

TEST_CASE("A rank that reports an instance a step later than others loses none") {
  Run run = made_up(77, 8);
  run.skewed = true;
  const Totals want = expected(run), got = found(run, 2, false);
  CHECK(got == want);
}

TEST_CASE("Of sampled instances each counts for all that it stands for") {
  Run run = made_up(5, 6);
  run.level = 2;
  const Totals want = expected(run, 2);
  CHECK(*std::max_element(want.waited.begin(), want.waited.end()) > 0);
  CHECK(found(run, 3, false) == want);
}

TEST_CASE("The share of sampled instances is that of the level") {
  for (const int level : {1, 4, 9}) {
    int n = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
      n += in_sample(i, level);
      if (in_sample(i, level)) CHECK(in_sample(i, level - 1));
    }
    const double expect = 100'000.0 / (1 << level);
    CHECK(std::abs(n - expect) < 5 * std::sqrt(expect));  // five standard deviations
  }
}

TEST_CASE("A communicator one of whose members reports nothing is dropped, and the others are not") {
  std::vector<CollectiveWait> first[2], second[2], third[2];
  std::uint64_t dropped[2], evaluated[2];
  run_thread_group(2, [&](Communicator& nodes) {
    const int me = nodes.rank();
    CollectiveWaits all(std::vector<int>{me}, 2);
    const auto arrives = [&](std::uint32_t c, int size, std::uint64_t ordinal, std::int64_t ns) {
      all.add({c, 0, me, size, ordinal, ordinal + 1, 0, 4, 0, {{ordinal, ns, gives | waits}}});
    };
    arrives(0, 2, 0, 1000 + 500 * me);
    arrives(1, 3, 0, 1000 + 300 * me);  // has a third member, which no node has
    first[me] = all.find(nodes, 2, {});
    arrives(0, 2, 1, 3000 - 100 * me);
    second[me] = all.find(nodes, 2, {});
    third[me] = all.find(nodes, 2, {});
    dropped[me] = all.dropped();
    evaluated[me] = all.evaluated();
  });
  for (int me = 0; me < 2; ++me) {
    CAPTURE(me);
    REQUIRE(first[me].size() == 1);
    CHECK(first[me][0].step == 4);
    CHECK(std::lround(first[me][0].waited * 1e9) == (me == 0 ? 500 : 0));
    CHECK(std::lround(first[me][0].delay * 1e9) == (me == 1 ? 500 : 0));
    REQUIRE(second[me].size() == 1);
    CHECK(std::lround(second[me][0].delay * 1e9) == (me == 0 ? 100 : 0));
    CHECK(third[me].empty());
    CHECK(dropped[me] == 1);
    CHECK(evaluated[me] == 2);
  }
}

TEST_CASE("A rank that stops reporting does not make the others' arrivals pile up") {
  CollectiveWaits all(std::vector<int>{0, 1}, 2);
  SelfCommunicator self;
  const auto arrive = [&](int rank, std::uint64_t first, std::uint64_t end) {
    ArrivalBatch batch{0, rank, rank, 2, first, end, 0, 0, 0, {}};
    for (std::uint64_t i = first; i < end; ++i) batch.arrivals.push_back({i, 1000 + rank, gives | waits});
    all.add(std::move(batch));
  };
  arrive(0, 0, 10);
  arrive(1, 0, 1);
  CHECK(all.find(self, 1, {}).size() == 2);  // of the instance that both have reached
  arrive(0, 10, 20'000);
  CHECK(all.find(self, 1, {}).empty());
  CHECK(all.dropped() == 19'999);
  CHECK(all.evaluated() == 1);
}

TEST_CASE("Waits between nodes that may be errors of the clocks do not count") {
  std::vector<CollectiveWait> found[2];
  run_thread_group(2, [&](Communicator& nodes) {
    const int me = nodes.rank();
    CollectiveWaits all(std::vector<int>{2 * me, 2 * me + 1}, 4);
    const auto arrives = [&](std::uint64_t ordinal, const std::vector<std::int64_t>& ns) {
      for (int local = 0; local < 2; ++local)
        all.add({0,
                 local,
                 2 * me + local,
                 4,
                 ordinal,
                 ordinal + 1,
                 0,
                 0,
                 0,
                 {{ordinal, ns[static_cast<std::size_t>(2 * me + local)], gives | waits}}});
    };
    arrives(0, {0, 60, 70, 100});       // rank 3 is last: only rank 2, on its node, is known to have waited
    arrives(1, {500, 1000, 800, 801});  // rank 1 is last: ranks of the other node waited more than the bound
    found[me] = all.find(nodes, 1, {0, 150});
  });
  double waited = 0;
  for (const auto& node : found)
    for (const CollectiveWait& w : node) waited += w.waited;
  CHECK(std::lround(waited * 1e9) == 30 + 500 + 200 + 199);
}

TEST_CASE("More instances than are exchanged at a time are sampled") {
  constexpr std::uint64_t n = 300'000;
  CollectiveWaits all(std::vector<int>{0, 1}, 2);
  for (int r = 0; r < 2; ++r) {
    ArrivalBatch batch{0, r, r, 2, 0, n, 0, 0, 0, {}};
    for (std::uint64_t i = 0; i < n; ++i)
      batch.arrivals.push_back({i, static_cast<std::int64_t>(i * 1000 + (r ? 250 : 0)), gives | waits});
    all.add(std::move(batch));
  }
  SelfCommunicator self;
  const auto waits = all.find(self, 1, {});
  REQUIRE(waits.size() == 2);
  CHECK(all.evaluated() < 70'000);
  // Every wait is 250 ns: only the number of instances is estimated, with an error of 1 / sqrt(evaluated).
  CHECK(std::abs(waits[0].waited / (n * 250e-9) - 1) < 5 / std::sqrt(static_cast<double>(all.evaluated())));
}

}  // namespace
}  // namespace effort::communication
