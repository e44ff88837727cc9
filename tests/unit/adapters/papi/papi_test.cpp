// PAPI events as metrics.  Software-defined events are real events that need no hardware, so the test publishes its
// own.
#include "frames.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <papi.h>
#include <sde_lib.h>

using namespace effort::measure;

namespace {

long long particles = 0, cells = 0, narrow = 0, level = 0, late = 0;

papi_handle_t library() {
  static papi_handle_t handle = papi_sde_init("effort_test");
  return handle;
}

void publish(const char* name, long long& counter) {
  REQUIRE(papi_sde_register_counter(library(), name, PAPI_SDE_RO | PAPI_SDE_INSTANT, PAPI_SDE_long_long, &counter) ==
          0);
}

const std::string particles_event = "sde:::effort_test::particles", cells_event = "sde:::effort_test::cells";

Options per_region() {
  Options o;
  o.per_region = true;
  return o;
}

bool mention(const std::vector<std::string>& notes, const std::string& a, const std::string& b) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& n) {
    return n.find(a) != std::string::npos && n.find(b) != std::string::npos;
  });
}

std::uint32_t metric(Recorder& rec, const std::string& name) { return rec.registry().metric(name.c_str(), "1").id; }

/// The notes of a whole run.
std::vector<std::string> last_notes(Recorder& rec) {
  RecordStream stream;
  rec.end_step(99, 99, stream);
  rec.add_final_notes(stream);
  return notes_in(stream);
}

struct Published {
  Published() {
    publish("particles", particles);
    publish("cells", cells);
    publish("narrow", narrow);
    publish("level", level);
  }
};
const Published& published() {
  static const Published all;
  return all;
}

}  // namespace

TEST_CASE("events read at boundaries are charged exactly to the region in which they occurred") {
  published();
  Recorder rec({"time", particles_event, cells_event}, "time", LoadThreads::max, per_region());
  const auto outer = rec.registry().region("outer", Kind::compute).id,
             inner = rec.registry().region("inner", Kind::comm).id;
  RecordStream stream;
  rec.slot();
  for (int s = 0; s < 3; ++s) {
    begin(rec, outer);
    particles += 100;
    begin(rec, inner);
    particles += 7;
    cells += 3;
    end(rec);
    particles += 10;
    end(rec);
    particles += 1;  // outside
    rec.end_step(s, s, stream);
    const Frame f = read(stream);
    CHECK(f.at(outer, metric(rec, particles_event)) == 110);
    CHECK(f.at(inner, metric(rec, particles_event)) == 7);
    CHECK(f.at(inner, metric(rec, cells_event)) == 3);
    CHECK(f.at(outer, metric(rec, cells_event)) == 0);
    CHECK(f.at(whole_step, metric(rec, cells_event)) == 0);
  }
}

TEST_CASE("by default events are read once a step") {
  published();
  Recorder rec({"time", particles_event}, "time", LoadThreads::max);
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  begin(rec, region);
  particles += 11;
  end(rec);
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.at(whole_step, metric(rec, particles_event)) == 11);
  CHECK(f.at(region, metric(rec, particles_event)) == 0);
}

TEST_CASE("an event can be the load") {
  published();
  Recorder rec({"time"}, particles_event, LoadThreads::max);
  REQUIRE(rec.load_refusal().empty());
  const auto solve = rec.registry().region("solve", Kind::compute).id,
             halo = rec.registry().region("halo", Kind::comm).id;
  RecordStream stream;
  begin(rec, solve);
  particles += 21;
  end(rec);
  begin(rec, halo);
  particles += 1000;
  end(rec);
  rec.end_step(0, 0, stream);
  CHECK(read(stream).header.load == 21);
}

TEST_CASE("events of the process are counted once, for any number of threads") {
  published();
  Recorder rec({"time", particles_event}, "time", LoadThreads::sum, per_region());
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  begin(rec, region);
  std::vector<std::thread> team;
  for (int t = 0; t < 3; ++t)
    team.emplace_back([&] {
      ThreadSlot& s = rec.slot();
      open_region(s, region);
      __atomic_fetch_add(&particles, 5, __ATOMIC_RELAXED);
      close_region(s, region);
    });
  for (auto& t : team) t.join();
  end(rec);
  rec.end_step(0, 0, stream);
  CHECK(read(stream).at(region, metric(rec, particles_event)) == 15);
}

TEST_CASE("events that cannot be counted are named with PAPI's reason, and the rest is counted") {
  published();
  Recorder rec({"time", "PAPI_NO_SUCH_EVENT", particles_event, "appio:::NOTHING"}, "time", LoadThreads::max,
               per_region());
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  begin(rec, region);
  particles += 4;
  end(rec);
  rec.end_step(0, 0, stream);
  const auto notes = notes_in(stream);
  CHECK(mention(notes, "'PAPI_NO_SUCH_EVENT' cannot be counted",
                "Not supported"));  // refused by PAPI, or later by the component
  CHECK(mention(notes, "'appio:::NOTHING'", "cannot be counted"));
  CHECK_FALSE(mention(notes, "particles", "cannot"));
  CHECK(read(stream).at(region, metric(rec, particles_event)) == 4);
  Recorder refused({"time"}, "PAPI_NO_SUCH_EVENT", LoadThreads::max);
  CHECK(refused.load_refusal().find("PAPI_NO_SUCH_EVENT") != std::string::npos);
}

TEST_CASE("an event registered during the run counts from zero; one that is never registered gets a note") {
  published();
  Recorder rec({"time", "sde:::effort_test::late", "sde:::effort_test::misspelt"}, "time", LoadThreads::max);
  RecordStream stream;
  rec.slot();
  rec.end_step(0, 0, stream);
  CHECK(read(stream).at(whole_step, metric(rec, "sde:::effort_test::late")) == 0);
  publish("late", late);
  late = 12;
  rec.end_step(1, 1, stream);
  CHECK(read(stream).at(whole_step, metric(rec, "sde:::effort_test::late")) == 12);
  late = 20;
  rec.end_step(2, 2, stream);
  const Frame f = read(stream);
  CHECK(f.at(whole_step, metric(rec, "sde:::effort_test::late")) == 8);
  CHECK(f.at(whole_step, metric(rec, "sde:::effort_test::misspelt")) == 0);
  const auto notes = last_notes(rec);
  CHECK(mention(notes, "misspelt", "never registered"));
  CHECK_FALSE(mention(notes, "late", "never registered"));
}

TEST_CASE("wrapping is corrected, a decrease is noted, and a state is kept unchanged") {
  published();
  narrow = (1LL << 32) - 10;
  cells = 100;
  Recorder rec({"time", "sde:::effort_test::narrow", cells_event, "sde:::effort_test::level@value"}, "time",
               LoadThreads::max);
  RecordStream stream;
  rec.slot();
  narrow = 5;
  cells = 40;
  level = 1000;
  rec.end_step(0, 0, stream);
  const Frame first = read(stream);
  CHECK(first.at(whole_step, metric(rec, "sde:::effort_test::narrow")) == 15);
  CHECK(first.at(whole_step, metric(rec, cells_event)) == 0);
  CHECK(first.at(whole_step, metric(rec, "sde:::effort_test::level")) == 1000);
  level = 900;
  cells = 43;
  rec.end_step(1, 1, stream);
  const Frame second = read(stream);
  CHECK(second.at(whole_step, metric(rec, "sde:::effort_test::level")) == 900);
  CHECK(second.at(whole_step, metric(rec, cells_event)) == 3);
  const auto notes = last_notes(rec);
  CHECK(mention(notes, cells_event, "@value"));
  CHECK_FALSE(mention(notes, "narrow", "fell"));
}

TEST_CASE("counters of any width wrap between two boundaries of a region") {
  published();
  Recorder rec({"time", "sde:::effort_test::narrow"}, "time", LoadThreads::max, per_region());
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  int step = 0;
  for (const int bits : {32, 40, 48, 64}) {
    const auto last = static_cast<long long>(bits == 64 ? ~0ull >> 1 : (1ull << bits) - 1);
    narrow = last - 9;  // before the region, where a jump forwards is not a wrap
    begin(rec, region);
    narrow = bits == 64 ? static_cast<long long>(static_cast<unsigned long long>(last) + 6) : 5;
    end(rec);
    rec.end_step(step, step, stream);
    CHECK(read(stream).at(region, metric(rec, "sde:::effort_test::narrow")) == 15);
    ++step;
    narrow = 0;
    begin(rec, region);  // the next decrease is not charged to the region
    end(rec);
    rec.end_step(step, step, stream);
    ++step;
  }
}

TEST_CASE("components that count everything at once are not multiplexed") {
  published();
  Options o = per_region();
  o.multiplex = true;
  Recorder rec({"time", particles_event, cells_event}, "time", LoadThreads::max, o);
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  begin(rec, region);
  particles += 4;
  cells += 9;
  end(rec);
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.at(region, metric(rec, particles_event)) == 4);
  CHECK(f.at(region, metric(rec, cells_event)) == 9);
}

TEST_CASE("an event set of the application is left alone, and the missing counts are noted") {
  published();
  if (PAPI_is_initialized() == PAPI_NOT_INITED) REQUIRE(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
  SlotRegistry::instance().retire_all();  // left running by the last session
  int set = PAPI_NULL, code = 0;
  REQUIRE(PAPI_create_eventset(&set) == PAPI_OK);
  REQUIRE(PAPI_event_name_to_code(cells_event.c_str(), &code) == PAPI_OK);
  REQUIRE(PAPI_add_event(set, code) == PAPI_OK);
  REQUIRE(PAPI_start(set) == PAPI_OK);
  {
    Recorder rec({"time", particles_event}, "time", LoadThreads::max);
    rec.slot();
    CHECK(mention(last_notes(rec), "particles", "the application's own"));
  }
  long long value = 0;
  CHECK(PAPI_stop(set, &value) == PAPI_OK);
  PAPI_cleanup_eventset(set);
  PAPI_destroy_eventset(&set);
}

TEST_CASE("threads come and go, and the application goes on using PAPI in them") {
  published();
  Recorder rec({"time", particles_event}, "time", LoadThreads::max);
  const auto region = rec.registry().region("r", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  for (int s = 0; s < 20; ++s) {
    std::thread([&] {
      ThreadSlot& slot = rec.slot();
      open_region(slot, region);
      int code = 0;
      CHECK(PAPI_register_thread() == PAPI_OK);
      CHECK(PAPI_event_name_to_code(cells_event.c_str(), &code) == PAPI_OK);
      close_region(slot, region);
    }).join();
    particles += 3;
    rec.end_step(s, s, stream);
    CHECK(read(stream).at(whole_step, metric(rec, particles_event)) == 3);
  }
}

TEST_CASE("after a session its event sets are destroyed") {
  published();
  for (int session = 0; session < 3; ++session) {
    Recorder rec({"time", particles_event}, "time", LoadThreads::max, per_region());
    const auto region = rec.registry().region("r", Kind::compute).id;
    RecordStream stream;
    begin(rec, region);
    particles += 2;
    end(rec);
    rec.end_step(0, 0, stream);
    CHECK(read(stream).at(region, metric(rec, particles_event)) == 2);
    SlotRegistry::instance().retire_all();
  }
}
