// Counters beside the clock: wrapping, the kernel's counts, reading at boundaries and once a step, threads.
#include "frames.hpp"

#include "runtime/measure/metric_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace effort::measure;

namespace {

std::int64_t grown(std::int64_t before, std::int64_t now, bool expect_fall = false) {
  bool fell = false;
  const std::int64_t delta = growth(before, now, fell);
  CHECK(fell == expect_fall);
  return delta;
}

std::uint32_t metric(Recorder& rec, const char* name) { return rec.registry().metric(name, "").id; }

/// Touches fresh pages: so many faults, at least.
void fault(std::size_t pages) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, pages * size, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * size] = 1;
  munmap(memory, pages * size);
}

}  // namespace

TEST_CASE("counters of any width wrap, and others are reset") {
  CHECK(grown(5, 12) == 7);
  CHECK(grown(INT64_MAX - 1, INT64_MIN + 3) == 5);
  for (const int bits : {32, 40, 48}) {
    const std::int64_t range = std::int64_t{1} << bits;
    CHECK(grown(range - 10, 15) == 25);
    CHECK(grown(range - 1, 0) == 1);
  }
  CHECK(grown(1000, 10, true) == 0);
  CHECK(grown((std::int64_t{1} << 32) - 10, std::int64_t{1} << 31, true) == 0);
  CHECK(grown(0, -3, true) == 0);
}

TEST_CASE("page faults once a step belong to the step") {
  Recorder rec({"time", "page_faults", "rss"}, "time", LoadThreads::max);
  const auto region = rec.registry().region("touch", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  rec.end_step(0, 0, stream);
  stream.clear();
  begin(rec, region);
  fault(100);
  end(rec);
  rec.end_step(1, 1, stream);
  const Frame f = read(stream);
  CHECK(f.at(whole_step, metric(rec, "page_faults")) >= 100);
  CHECK(f.at(region, metric(rec, "page_faults")) == 0);
  CHECK(f.at(whole_step, metric(rec, "rss")) > 1e5);
  CHECK(f.at(whole_step, metric(rec, "rss")) < 1e12);
  // A frame of several steps gives each of them the whole state.
  rec.end_step(2, 5, stream);
  const double four = read(stream).at(whole_step, metric(rec, "rss"));
  CHECK(four > 2 * f.at(whole_step, metric(rec, "rss")));
}

TEST_CASE("a host without regions has its counts once a step, too") {
  Recorder rec({"time", "page_faults"}, "time", LoadThreads::max);
  SlotRegistry::instance().retire_all();
  RecordStream stream;
  rec.end_step(0, 0, stream);
  stream.clear();
  fault(100);
  rec.end_step(1, 1, stream);
  CHECK(read(stream).at(whole_step, metric(rec, "page_faults")) >= 100);
}

TEST_CASE("page faults per region belong to the region they happened in") {
  Options options;
  options.per_region = true;
  Recorder rec({"time", "page_faults", "context_switches"}, "time", LoadThreads::max, options);
  const auto touch = rec.registry().region("touch", Kind::compute).id,
             calm = rec.registry().region("calm", Kind::compute).id;
  RecordStream stream;
  begin(rec, calm);
  begin(rec, touch);
  fault(200);
  end(rec);
  end(rec);
  begin(rec, calm);
  usleep(1000);  // a context switch
  end(rec);
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.at(touch, metric(rec, "page_faults")) >= 200);
  CHECK(f.at(calm, metric(rec, "page_faults")) < 100);
  CHECK(f.at(calm, metric(rec, "context_switches")) >= 1);
}

TEST_CASE("the load can be a counter") {
  Recorder rec({"time"}, "page_faults", LoadThreads::max);
  const auto touch = rec.registry().region("touch", Kind::compute).id,
             halo = rec.registry().region("halo", Kind::comm).id;
  RecordStream stream;
  begin(rec, touch);
  fault(300);
  end(rec);
  begin(rec, halo);
  fault(500);
  end(rec);
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.header.load >= 300);
#ifndef __SANITIZE_THREAD__  // whose shadow of the memory faults too
  CHECK(f.header.load < 500);
#endif
}

TEST_CASE("counts of other threads are known after their next boundary, and not lost when the threads end") {
  Recorder rec({"time", "page_faults"}, "time", LoadThreads::max);
  const auto region = rec.registry().region("worker", Kind::compute).id;
  RecordStream stream;
  rec.slot();
  std::atomic<int> phase{0};
  std::thread worker([&] {
    ThreadSlot& s = rec.slot();
    open_region(s, region);
    fault(1000);
    close_region(s, region);
    phase = 1;
    while (phase != 2) std::this_thread::yield();
    open_region(s, region);
    phase = 3;
    while (phase != 4) std::this_thread::yield();
    fault(2000);
    close_region(s, region);
  });
  while (phase != 1) std::this_thread::yield();
  rec.end_step(0, 0, stream);
  const double before = read(stream).at(whole_step, metric(rec, "page_faults"));
  phase = 2;
  while (phase != 3) std::this_thread::yield();
  rec.end_step(1, 1, stream);
  const double first = read(stream).at(whole_step, metric(rec, "page_faults"));
  CHECK(before < 1000);
  CHECK(first >= 1000);
#ifndef __SANITIZE_THREAD__  // whose shadow of the memory faults too
  CHECK(first < 2000);
#endif
  phase = 4;
  worker.join();
  rec.end_step(2, 2, stream);
  CHECK(read(stream).at(whole_step, metric(rec, "page_faults")) >= 2000);
}

TEST_CASE("threads of a rank: sum, maximum, and by how much the busiest exceeds the mean") {
  Recorder rec({"time", "thread_sum", "thread_max", "thread_imbalance"}, "flops", LoadThreads::max);
  const auto solve = rec.registry().region("solve", Kind::compute).id,
             alone = rec.registry().region("alone", Kind::compute).id;
  const auto flops = metric(rec, "flops");
  RecordStream stream;
  std::atomic<int> here{0};
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t)
    team.emplace_back([&, t] {
      ThreadSlot& s = rec.slot();
      open_region(s, solve);
      rec.add_metric(flops, 1.0 + t);
      close_region(s, solve);
      if (t == 3) {
        open_region(s, alone);
        rec.add_metric(flops, 5.0);
        close_region(s, alone);
      }
      ++here;
      while (here < 4) std::this_thread::yield();
    });
  for (auto& t : team) t.join();
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.at(solve, metric(rec, "thread_sum")) == 10);
  CHECK(f.at(solve, metric(rec, "thread_max")) == 4);
  CHECK(f.at(solve, metric(rec, "thread_imbalance")) == 1.5);
  CHECK(f.at(alone, metric(rec, "thread_sum")) == 5);
  CHECK(f.at(alone, metric(rec, "thread_imbalance")) == 0);  // of those that took part
}

TEST_CASE("calls are counted exactly") {
  Recorder rec({"time", "calls"}, "time", LoadThreads::max);
  const auto a = rec.registry().region("a", Kind::compute).id, b = rec.registry().region("b", Kind::compute).id;
  RecordStream stream;
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < 10 + s; ++i) {
      begin(rec, a);
      begin(rec, b);
      end(rec);
      begin(rec, b);
      end(rec);
      end(rec);
    }
    rec.end_step(s, s, stream);
    const Frame f = read(stream);
    CHECK(f.at(a, metric(rec, "calls")) == 10 + s);
    CHECK(f.at(b, metric(rec, "calls")) == 2 * (10 + s));
  }
}
