// Which ranks of whole nodes in one process are kept in a trace, and why.
#include "record/trace/reader.hpp"
#include "world.hpp"

#include <algorithm>
#include <set>

using namespace effort;
using namespace effort::engine;
using namespace effort::engine::test;

namespace {

/// The kept ranks by window, and why they were kept, from all files.
std::set<std::string> kept_ranks(const World& w) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    CHECK(file.problems().empty());
    for (const auto& window : file.windows())
      for (const auto& r : window.ranks)
        out.insert(std::to_string(window.first_step) + ": rank " + std::to_string(r.rank) + ", reasons " +
                   std::to_string(r.reasons) + ", probability " + std::to_string(r.probability));
  }
  return out;
}

}  // namespace

TEST_CASE("the same ranks are kept for the same reasons, however ranks are divided into nodes") {
  std::optional<std::set<std::string>> reference;
  for (auto split : std::vector<std::vector<int>>{{12}, {3, 4, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    World w;
    w.ranks_per_node = split;
    w.settings.trace.on = true;
    w.settings.trace.pinned = {7};
    w.load = [](int rank, int step) { return 1.0 + 0.2 * (rank % 5) + 0.01 * ((rank * 7 + step) % 11); };
    w.run();
    for (const std::string& failure : w.failures) CHECK(failure.empty());
    check_same_everywhere(w, 4);
    const auto kept = kept_ranks(w);
    CHECK(kept.size() > 5);
    if (!reference) reference = kept;
    CHECK(*reference == kept);
  }
}

TEST_CASE("the least loaded rank is kept in the window of a rebalance, and in the one after it") {
  World w;
  w.ranks_per_node = {3, 2};
  w.steps = 50;
  w.settings.trace.on = true;
  w.before_step_ends = [](int, int step, session::RankClient& client) {
    if (step != 14) return;
    client.rebalance_begin();
    client.rebalance_end();
  };
  w.run();
  for (const std::string& failure : w.failures) CHECK(failure.empty());
  std::set<std::int64_t> steps;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    for (const auto& window : file.windows())
      for (const auto& r : window.ranks)
        if ((r.reasons & record::trace::reason_rebalance) != 0) {
          CHECK(r.rank == 0);
          steps.insert(window.first_step);
        }
  }
  REQUIRE(steps.size() == 2);
  CHECK(*steps.begin() <= 14);
  CHECK(*steps.rbegin() <= 24);
}

TEST_CASE("a note says that the budget left no room") {
  World w;
  w.settings.trace.on = true;
  w.settings.trace.budget = 0;
  w.run();
  CHECK(kept_ranks(w).empty());
  for (const auto& entry : std::filesystem::directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".effort") continue;
    record::Reader reader(entry.path());
    const auto& notes = reader.run().notes;
    CHECK(std::count(notes.begin(), notes.end(), "TRACE_BUDGET is 0, so the trace has no events") == 1);
  }
}
