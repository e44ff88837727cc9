// Traces of whole nodes in one process.
#include "record/trace/reader.hpp"
#include "record/trace/writer.hpp"
#include "world.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effort;
using namespace effort::engine;
using namespace effort::engine::test;

namespace {

struct Sums {
  double seconds = 0;
  std::int64_t calls = 0;
};

/// A region of the run, from all windows of all files.
Sums traced(const World& w, const std::string& region) {
  Sums sums;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    std::map<std::uint32_t, std::string> names;
    for (const auto& r : file.names().regions) names[r.id] = r.name;
    for (const auto& window : file.windows()) {
      REQUIRE(window.region_sums.has_value() == (window.node == 0));
      if (!window.region_sums) continue;
      for (const auto& sum : *window.region_sums) {
        if (names.at(sum.region) != region) continue;
        sums.seconds += 1e-9 * static_cast<double>(sum.ns);
        sums.calls += sum.calls;
      }
    }
  }
  return sums;
}

double recorded_seconds(const World& w, const std::string& region) {
  for (const auto& entry : std::filesystem::directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".effort") continue;
    record::Reader reader(entry.path());
    const record::Run& run = reader.run();
    for (const auto& series : run.series)
      if (series.region == region && run.metrics[series.metric].name == "time") return series.total;
  }
  return -1;
}

}  // namespace

TEST_CASE("the times and calls of regions in a trace include the ranks that were not kept") {
  for (const auto& split : std::vector<std::vector<int>>{{24}, {7, 8, 9}}) {
    World w;
    w.ranks_per_node = split;
    w.calls = 20;
    w.settings.trace.on = true;
    w.settings.trace.error = 0.5;
    w.run();
    for (const std::string& failure : w.failures) CHECK(failure.empty());
    const double recorded = recorded_seconds(w, "solve");
    CHECK(recorded > 0);
    const Sums sums = traced(w, "solve");
    CHECK(sums.seconds == Catch::Approx(recorded).margin(1e-8));  // whole nanoseconds in each file
    CHECK(sums.calls == 24 * 20 * w.steps);
  }
}

TEST_CASE("times and calls of regions exclude the first step if no events were recorded in it") {
  for (const bool late : {false, true}) {
    World w;
    w.ranks_per_node = {2, 1};
    w.record_late = late;
    w.settings.trace.on = true;
    w.load = [](int, int step) {
      volatile double x = 1;
      for (int i = 0; step == 0 && i < 10'000'000; ++i) x = x * 1.0000001;
      return 1.0;
    };
    w.run();
    const double recorded = recorded_seconds(w, "solve"), seconds = traced(w, "solve").seconds;
    CAPTURE(late, recorded, seconds);
    CHECK(recorded > 0);
    CHECK((late ? seconds < 0.5 * recorded : seconds > 0.99 * recorded));
    CHECK(traced(w, "solve").calls == 3 * (w.steps - (late ? 1 : 0)));
  }
}

TEST_CASE("a run that ends before the first look notes that nothing was traced") {
  World w;
  w.steps = 1;
  w.settings.trace.on = true;
  w.run();
  std::size_t snapshots = 0;
  for (const auto& entry : std::filesystem::directory_iterator(w.settings.snapshot_dir)) {
    REQUIRE(entry.path().extension() == ".effort");
    ++snapshots;
    record::Reader reader(entry.path());
    const auto& notes = reader.run().notes;
    CHECK(std::any_of(notes.begin(), notes.end(),
                      [](const std::string& note) { return note.starts_with("nothing is traced: "); }));
  }
  CHECK(snapshots == 1);
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

namespace {

/// The host takes the descriptor of a node's trace file away.
void take_descriptor(const std::string& directory, const std::string& name) {
  struct stat file {
  }, open{};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.path().filename() == name) ::stat(entry.path().c_str(), &file);
  const int other = ::open("/dev/null", O_RDWR);
  for (int descriptor = 3; descriptor < 256; ++descriptor)
    if (file.st_ino != 0 && ::fstat(descriptor, &open) == 0 && open.st_ino == file.st_ino && open.st_dev == file.st_dev)
      ::dup2(other, descriptor);
  ::close(other);
}

}  // namespace

TEST_CASE("the snapshot's notes say why the traces of other nodes end early, and these have no end") {
  World w;
  w.ranks_per_node = {2, 1, 1};
  w.settings.trace.on = true;
  w.before_step_ends = [&](int rank, int step, session::RankClient&) {
    if (rank != 0 || step != 25) return;
    for (const char* name : {"node-00001.trc", "node-00002.trc"}) take_descriptor(w.settings.snapshot_dir, name);
  };
  w.run();
  for (const std::string& failure : w.failures) CHECK(failure.empty());
  std::map<std::string, std::size_t> ends;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() == ".trc")
      ends[entry.path().filename()] = record::trace::Reader(entry.path()).ends().size();
    if (entry.path().extension() != ".effort") continue;
    record::Reader snapshot(entry.path());
    const auto& notes = snapshot.run().notes;
    CHECK(std::count_if(notes.begin(), notes.end(), [](const std::string& note) {
            return note.starts_with("the trace of node 1 ends before step ") &&
                   note.ends_with("; in all, the traces of 2 nodes are incomplete");
          }) == 1);
  }
  CHECK(ends ==
        std::map<std::string, std::size_t>{{"node-00000.trc", 1}, {"node-00001.trc", 0}, {"node-00002.trc", 0}});
}

namespace {

using Sampled = std::set<std::pair<int, int>>;  // rank and window

/// The windows in which a rank found itself in the sample, in all of their steps or none.
Sampled run_and_note_samples(World& w) {
  std::mutex mutex;
  std::map<std::pair<int, int>, int> steps;
  w.before_step_ends = [&](int rank, int step, session::RankClient& client) {
    const std::lock_guard lock(mutex);
    steps[{rank, step / 10}] += client.sampled();
  };
  w.run();
  Sampled out;
  for (const auto& [where, count] : steps) {
    CHECK((count == 0 || count == std::min(10, w.steps - 10 * where.second)));
    if (count > 0) out.insert(where);
  }
  return out;
}

/// The ranks in the sample according to the files; checks that the stored parts agree.
Sampled sampled_by_the_files(const World& w) {
  Sampled out;
  std::map<std::int64_t, std::int64_t> planned;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    for (const auto& window : file.windows()) {
      planned[window.window] = 0;
      for (const auto& s : window.strata) planned[window.window] += s.sample;
      for (const auto& r : window.ranks)
        if (r.reasons & record::trace::reason_sample) out.emplace(r.rank, static_cast<int>(window.window));
    }
  }
  for (const auto& [window, size] : planned)
    CHECK(std::count_if(out.begin(), out.end(), [&](const auto& at) { return at.second == window; }) == size);
  return out;
}

void prepare(World& w, config::TraceDesign design, int update) {
  w.steps = 120;
  w.settings.trace.design = design;
  w.settings.trace.update = update;
  w.load = [](int rank, int step) { return 1.0 + 0.1 * (rank % 5) + 0.01 * ((rank * 7 + step) % 11); };
}

std::set<int> ranks_in(const Sampled& sampled, int window) {
  std::set<int> out;
  for (const auto& [rank, at] : sampled)
    if (at == window) out.insert(rank);
  return out;
}

}  // namespace

TEST_CASE("ranks know in advance that they are in the sample, the same on any split into nodes, and the trace agrees") {
  for (const auto design : {config::TraceDesign::subset, config::TraceDesign::global}) {
    std::optional<Sampled> reference;
    for (auto split : std::vector<std::vector<int>>{{24}, {7, 8, 9}, {1, 23}}) {
      for (const bool traced : {true, false}) {
        World w;
        prepare(w, design, 3);
        w.ranks_per_node = split;
        w.settings.trace.on = traced;
        const Sampled sampled = run_and_note_samples(w);
        if (traced) CHECK(sampled == sampled_by_the_files(w));
        if (!reference) reference = sampled;
        CHECK(sampled == *reference);
      }
    }
    // The first hint comes in the second window, and what it decided holds from the third on.
    CHECK(ranks_in(*reference, 0).empty());
    CHECK(ranks_in(*reference, 1).empty());
    std::set<std::set<int>> sets;
    for (int window = 2; window < 12; ++window) sets.insert(ranks_in(*reference, window));
    if (design == config::TraceDesign::subset) {
      CHECK(!ranks_in(*reference, 2).empty());
      // The first decisions hold for a window each, until four windows have shown how the load changes.
      CHECK(ranks_in(*reference, 2) != ranks_in(*reference, 3));
      for (const int first : {6, 9})
        for (const int more : {1, 2}) CHECK(ranks_in(*reference, first) == ranks_in(*reference, first + more));
      CHECK(ranks_in(*reference, 8) != ranks_in(*reference, 9));
    } else {
      CHECK(sets.size() > 5);
    }
  }
}

TEST_CASE("pinned ranks are always in a sample that is decided before") {
  World w;
  prepare(w, config::TraceDesign::global, 1);
  w.ranks_per_node = {10, 10};
  w.settings.trace.pinned = {3, 17, 400};
  const Sampled sampled = run_and_note_samples(w);
  for (int window = 2; window < 12; ++window)
    for (const int pinned : {3, 17}) CHECK(sampled.count({pinned, window}) == 1);
}

TEST_CASE("groups have samples of their own, and another metric guides") {
  World w;
  w.ranks_per_node = {20, 20};
  w.settings.trace.on = true;
  w.settings.trace.guide = "units@solve";
  w.settings.trace.groups = {{"static", {{0, 9}}, {{4, 4}}, -1, -1, 3}};
  w.settings.trace.policies = {{"solve", -1, -1, false}};
  w.load = [](int rank, int) { return 1.0 + 0.01 * (rank % 7); };
  w.run();
  for (const std::string& failure : w.failures) CHECK(failure.empty());
  std::map<std::int64_t, int> in_group;
  int chunks = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    CHECK(file.header().guide == "units@solve");
    for (const auto& window : file.windows()) {
      REQUIRE(window.strata.size() == 3);
      CHECK(window.strata[0].population == 9);
      CHECK(window.strata[0].sample == 2);
      CHECK(window.strata[1].sample == 1);
      CHECK(window.error >= 0);
      CHECK_FALSE(window.region_sums.has_value());  // those around the region would lack its time
      for (const auto& r : window.ranks) {
        if (r.rank < 10 && (r.reasons & record::trace::reason_sample)) ++in_group[window.window];
        if (r.rank == 4) CHECK((r.reasons & (record::trace::reason_sample | record::trace::reason_pin)) == 17);
      }
    }
    for (const auto& chunk : file.chunks()) {
      ++chunks;
      for (const auto& e : file.rebuilt(chunk).events)
        CHECK(e.kind == record::trace::Kind::step);  // the region is not traced
    }
  }
  CHECK(chunks > 0);
  CHECK(in_group.size() >= 4);
  for (const auto& [window, n] : in_group) CHECK(n == 3);
}

TEST_CASE("names can be hidden") {
  World w;
  w.ranks_per_node = {2, 2};
  w.settings.trace.on = true;
  w.settings.trace.hash_names = true;
  w.settings.trace.guide = "units@solve";
  w.run();
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const record::trace::Reader file(entry.path());
    for (const auto& r : file.names().regions) names.insert(r.name);
    for (const auto& phase : file.names().phases) names.insert(phase.name);
    CHECK(file.header().guide == "units@" + record::trace::hidden_name("solve"));
  }
  CHECK(names.count(record::trace::hidden_name("solve")) == 1);
  CHECK(names.count(record::trace::hidden_name("main")) == 1);
  for (const char* plain : {"solve", "other", "main"}) CHECK(names.count(plain) == 0);
}

TEST_CASE("ranks that stand for others are reduced, except in odd windows; odd and pinned ranks never are") {
  namespace file = record::trace;
  World w;
  w.ranks_per_node = {6, 6};
  w.steps = 125;
  w.calls = 10;
  w.settings.trace.on = true;
  w.settings.trace.pinned = {7};
  w.settings.trace.reduce = reduction::Method{reduction::Similarity::iter_k, 1};
  w.load = [](int rank, int step) { return 1.0 + 0.2 * (rank % 5) + 0.01 * ((rank * 7 + step) % 11); };
  w.callback = [](int, const session::DeliveredHint& hint) { return hint.step == 51 ? 1 : 0; };
  w.run();
  for (const std::string& failure : w.failures) CHECK(failure.empty());
  constexpr int odd_ranks = file::reason_critical | file::reason_outlier | file::reason_pin | file::reason_partner |
                            file::reason_mispredicted,
                odd_windows = file::reason_rebalance | file::reason_jump;
  std::set<std::int64_t> odd, with_reduced;
  std::size_t reduced = 0, odd_kept = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(w.settings.snapshot_dir)) {
    if (entry.path().extension() != ".trc") continue;
    const file::Reader reader(entry.path());
    CHECK(reader.problems().empty());
    CHECK(reader.header().reduction == "iter_k:1");
    REQUIRE(reader.ends().size() == 1);
    CHECK(reader.ends()[0].steps == w.steps);
    for (const auto& window : reader.windows())
      for (const auto& r : window.ranks)
        if (r.reasons & odd_windows) odd.insert(window.window);
    for (const auto& chunk : reader.chunks()) {
      const auto& ranks = reader.window_of(chunk)->ranks;
      const auto kept = std::find_if(ranks.begin(), ranks.end(), [&](const auto& r) { return r.rank == chunk.rank; });
      REQUIRE(kept != ranks.end());
      const auto rebuilt = reader.rebuilt(chunk);
      CHECK(rebuilt.events.size() == chunk.events);
      odd_kept += (kept->reasons & odd_ranks) != 0 ? 1 : 0;
      if (!chunk.reduced) continue;
      ++reduced;
      CHECK(rebuilt.rebuilt > 0);
      CHECK((kept->reasons & (odd_ranks | odd_windows)) == 0);
      with_reduced.insert(chunk.window);
    }
  }
  CHECK(reduced > 10);
  CHECK(odd_kept > 10);
  CHECK_FALSE(odd.empty());
  for (const std::int64_t window : odd) CHECK(with_reduced.count(window) == 0);
}
