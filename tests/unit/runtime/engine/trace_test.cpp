// Traces of whole nodes in one process.
#include "record/trace/reader.hpp"
#include "world.hpp"

#include <fstream>
#include <set>

using namespace effort;
using namespace effort::engine;
using namespace effort::engine::test;

namespace {

/// Which ranks were kept in which windows and why, whatever files they are in.
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

TEST_CASE("a trace changes no hint") {
  std::vector<std::vector<std::byte>> hints[2];
  for (const bool on : {false, true}) {
    World w;
    w.ranks_per_node = {2, 3};
    w.settings.trace.on = on;
    w.run();
    for (const Seen& hint : w.logs[0].hints) hints[on].push_back(hint.bytes);
  }
  CHECK(hints[0].size() == 4);
  CHECK(hints[0] == hints[1]);
}

TEST_CASE("a trace that cannot be written leaves the run and its hints as they are") {
  World w;
  w.ranks_per_node = {2, 1};
  w.settings.trace.on = true;
  w.settings.snapshot_dir += "/file";
  std::ofstream(w.settings.snapshot_dir) << "not a directory";
  w.run();
  check_same_everywhere(w, 4);
  for (const std::string& failure : w.failures) CHECK((failure.empty() || failure.starts_with("a snapshot was lost")));
}
