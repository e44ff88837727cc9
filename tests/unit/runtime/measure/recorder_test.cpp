#include "../recording/test_memory.hpp"
#include "frames.hpp"

#include <catch2/catch_approx.hpp>

#include <chrono>
#include <string>
#include <thread>

using namespace effort;
using namespace effort::measure;
using Catch::Approx;

TEST_CASE("time is exclusive of nested regions and adds up to the elapsed time") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto outer = rec.registry().region("outer", Kind::compute).id;
  const auto halo = rec.registry().region("halo", Kind::comm).id;
  RecordStream stream;
  rec.slot();
  rec.end_step(0, 0, stream);
  stream.clear();

  begin(rec, outer);
  spin(0.002);
  begin(rec, halo);
  const double inner = spin(0.003);
  end(rec);
  spin(0.001);
  end(rec);
  rec.end_step(1, 1, stream);
  const Frame f = read(stream);
  const double o = f.values.at({outer, 0}), h = f.values.at({halo, 0});
  // Two clocks: the TSC's rate is calibrated to some 1e-5.
  CHECK(h >= inner * 0.999);
  CHECK(o >= 0.003 * 0.999);
  CHECK(o + h <= f.header.wall);
  CHECK(f.header.load == Approx(o));  // compute only
  CHECK(f.header.wait == Approx(h));
}

TEST_CASE("a region open across steps is split at each of them") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto r = rec.registry().region("solve", Kind::compute).id;
  RecordStream stream;
  begin(rec, r);
  double sum = 0, wall = 0;
  for (int s = 0; s < 3; ++s) {
    spin(0.001);
    rec.end_step(s, s, stream);
    const Frame f = read(stream);
    CHECK(f.values.at({r, 0}) >= 0.001 * 0.999);
    sum += f.values.at({r, 0});
    wall += f.header.wall;
  }
  CHECK(sum <= wall);
  end(rec);
  spin(0.001);
  rec.end_step(3, 3, stream);
  CHECK(read(stream).values.count({r, 0}) == 1);  // only the time between the step and the end
  rec.end_step(4, 4, stream);
  CHECK(read(stream).values.count({r, 0}) == 0);
}

TEST_CASE("another thread's open region counts up to the step, and is not counted twice") {
  Recorder rec({"time"}, "time", LoadThreads::sum);
  const auto r = rec.registry().region("worker", Kind::compute).id;
  RecordStream stream;
  std::atomic<int> phase{0};
  std::atomic<double> lasted{0};
  std::thread worker([&] {
    rec.slot();
    const std::uint64_t start = monotonic_ns();
    begin(rec, r);
    phase = 1;
    while (phase != 2) {
    }
    end(rec);
    lasted = static_cast<double>(monotonic_ns() - start) * 1e-9;
    phase = 3;
    while (phase != 4) {
    }
  });
  while (phase != 1) {
  }
  double sum = 0;
  for (int s = 0; s < 5; ++s) {
    spin(0.0005);
    rec.end_step(s, s, stream);
    const Frame f = read(stream);
    CHECK(f.values.at({r, 0}) > 0.0004);
    sum += f.values.at({r, 0});
  }
  phase = 2;
  while (phase != 3) {
  }
  rec.end_step(5, 5, stream);
  sum += read(stream).values[{r, 0}];
  phase = 4;
  worker.join();
  CHECK(sum == Approx(lasted.load()).epsilon(0.02));
}

TEST_CASE("load over threads is the largest or the sum") {
  for (const auto how : {LoadThreads::max, LoadThreads::sum}) {
    Recorder rec({"time"}, "cells", how);
    const auto r = rec.registry().region("work", Kind::compute).id;
    const auto cells = rec.registry().metric("cells", "1").id;
    RecordStream stream;
    rec.end_step(0, 0, stream);
    stream.clear();
    auto work = [&](double amount) {
      begin(rec, r);
      rec.add_metric(cells, amount);
      end(rec);
    };
    work(3);
    std::thread a(work, 5.0);
    a.join();
    std::atomic<bool> done{false}, leave{false};
    std::thread b([&] {
      work(2);
      done = true;
      while (!leave) {
      }
    });
    while (!done) {
    }
    rec.end_step(1, 1, stream);
    const Frame f = read(stream);
    leave = true;
    b.join();
    // Thread b took over the slot of a: successive threads of a slot count as one.
    CHECK(f.header.load == (how == LoadThreads::sum ? 10.0 : 7.0));
  }
}

TEST_CASE("application metrics, work and added seconds arrive exactly, once") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  const auto r = rec.registry().region("a", Kind::compute).id;
  const auto m = static_cast<std::uint16_t>(rec.registry().metric("bytes", "B").id);
  const auto u = static_cast<std::uint16_t>(rec.registry().unit("cells"));
  RecordStream stream;
  rec.add_seconds(r, 0.25);
  begin(rec, r);
  rec.add_metric(m, 128);
  end(rec);
  rec.add_metric(m, 1);  // outside of any region
  rec.add_work(u, 10);
  rec.add_work(u, 32);
  int definitions = 0;
  rec.end_step(0, 0, stream);
  Frame f = read(stream, &definitions);
  CHECK(f.values.at({r, 0}) == Approx(0.25).epsilon(1e-3));
  CHECK(f.values.at({r, m}) == 128);
  CHECK(f.values.at({outside, m}) == 1);
  CHECK(f.values.at({0, static_cast<std::uint16_t>(work_series + u)}) == 42);
  CHECK(definitions == 5);  // phase main, metric time, region, metric, unit
  rec.end_step(1, 1, stream);
  definitions = 0;
  f = read(stream, &definitions);
  CHECK(f.values.empty());
  CHECK(definitions == 0);
}

TEST_CASE("CPU time as load excludes the time that the thread slept") {
  Recorder rec({"time"}, "cpu_time", LoadThreads::max);
  const auto r = rec.registry().region("nap", Kind::compute).id;
  RecordStream stream;
  begin(rec, r);
  const std::int64_t before = thread_cpu_ns();
  spin(0.002);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double used = static_cast<double>(thread_cpu_ns() - before) * 1e-9;
  end(rec);
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  CHECK(f.values.at({r, 0}) >= 0.022 * 0.999);
  CHECK(f.header.load >= used);
  CHECK(f.header.load < 0.015);
}

TEST_CASE("regions registered later, by the thousand, keep earlier totals") {
  Recorder rec({"time"}, "time", LoadThreads::max);
  RecordStream stream;
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 3000; ++i) {
    ids.push_back(rec.registry().region(("r" + std::to_string(i)).c_str(), Kind::compute).id);
    rec.add_seconds(ids.back(), 1e-3 * (i + 1));
  }
  rec.end_step(0, 0, stream);
  const Frame f = read(stream);
  REQUIRE(f.values.size() == 3000);
  for (int i = 0; i < 3000; ++i)
    CHECK(f.values.at({ids[static_cast<std::size_t>(i)], 0}) == Approx(1e-3 * (i + 1)).epsilon(1e-3));
}

TEST_CASE("a new session starts from zero on the old threads' slots") {
  for (int session = 0; session < 3; ++session) {
    Recorder rec({"time"}, "time", LoadThreads::max);
    const auto r = rec.registry().region("x", Kind::compute).id;
    RecordStream stream;
    rec.add_seconds(r, 0.5);
    rec.end_step(0, 0, stream);
    CHECK(read(stream).values.at({r, 0}) == Approx(0.5).epsilon(1e-3));
    SlotRegistry::instance().retire_all();
  }
}

TEST_CASE("names are checked, found again and limited") {
  Registry names;
  CHECK_THROWS_AS(names.region(nullptr, Kind::compute), Error);
  CHECK_THROWS_AS(names.region("", Kind::compute), Error);
  CHECK_THROWS_AS(names.region("two\nlines", Kind::compute), Error);
  CHECK_THROWS_AS(names.region(std::string(10000, 'x').c_str(), Kind::compute), Error);
  CHECK(names.region(std::string(1023, 'x').c_str(), Kind::compute).id == 1);
  const auto a = names.region("a", Kind::compute);
  CHECK(names.region("a", Kind::compute).id == a.id);
  CHECK_FALSE(names.region("a", Kind::compute).conflict);
  CHECK(names.region("a", Kind::wait).conflict);
  CHECK(names.find_region("a") == a.id);
  CHECK(names.find_region("b") == 0);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    try {
      names.region(("n" + std::to_string(i)).c_str(), Kind::compute);
    } catch (const Error& e) {
      REQUIRE(e.status() == Status::limit);
      ++refused;
    }
  }
  CHECK(names.n_regions() == max_regions);
  CHECK(refused == 20000 - static_cast<int>(max_regions) + 2);
}

namespace {

/// The share of empty regions' time that counts as load: the least over several steps, to exclude interruptions by
/// other processes.
double share_of_load(const char* metric, Kind kind, bool traced) {
  recording::TestMemory memory(16);
  Recorder rec({"time"}, metric, LoadThreads::max);
  if (traced) rec.record_events(memory.memory);
  const auto outer = rec.registry().region("outer", Kind::compute).id;
  const auto inner = rec.registry().region("inner", kind).id;
  RecordStream stream;
  ThreadSlot& s = rec.slot();
  double least = 1;
  for (int step = 0; step < 40; ++step) {
    const std::uint64_t start = monotonic_ns();
    open_region(s, outer);
    for (int i = 0; i < 2000; ++i) {
      open_region(s, inner);
      close_region(s, inner);
    }
    close_region(s, outer);
    const double took = static_cast<double>(monotonic_ns() - start) * 1e-9;
    rec.end_step(step, step, stream);
    const Frame f = read(stream);
    if (step > 0) least = std::min(least, f.header.load / took);  // its price is known from the first step's end on
  }
  CHECK(rec.stop_events());
  return least;
}

}  // namespace

TEST_CASE("the library's own time is not load, in regions and between them, recording included") {
  for (const char* metric : {"time", "cpu_time"})
    for (const Kind kind : {Kind::compute, Kind::comm})
      for (const bool traced : {false, true}) {
        // The price is measured again in every attempt, because the core may become slower.
        double least = 1;
        for (int attempt = 0; attempt < 5 && least >= 0.3; ++attempt)
          least = std::min(least, share_of_load(metric, kind, traced));
        CAPTURE(metric, static_cast<int>(kind), traced);
        CHECK(least < 0.3);  // it was nearly all, or half
      }
}

TEST_CASE("the time between a step's end and resume is charged to no region") {
  for (const char* metric : {"time", "cpu_time"}) {
    Recorder rec({"time"}, metric, LoadThreads::max);
    const auto solve = rec.registry().region("solve", Kind::compute).id;
    RecordStream stream;
    begin(rec, solve);
    rec.end_step(0, 0, stream);
    const Frame first = read(stream);
    spin(0.005);
    rec.resume();
    end(rec);
    rec.end_step(1, 1, stream);
    CHECK(read(stream).header.load < 0.005);
  }
}

TEST_CASE("CPU time of short intervals is charged to their regions, and sleep to none") {
  Recorder rec({"time"}, "cpu_time", LoadThreads::max);
  const auto solve = rec.registry().region("solve", Kind::compute).id;
  const auto halo = rec.registry().region("halo", Kind::comm).id;
  RecordStream stream;
  ThreadSlot& s = rec.slot();
  rec.end_step(0, 0, stream);
  stream.clear();
  const std::int64_t start = thread_cpu_ns();
  for (int i = 0; i < 200; ++i) {
    open_region(s, solve);
    spin(1e-6);
    open_region(s, halo);
    spin(0.5e-6);
    if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i % 10 == 5) spin(20e-6);
    close_region(s, halo);
    spin(1e-6);
    close_region(s, solve);
  }
  rec.end_step(1, 1, stream);
  const double all = static_cast<double>(thread_cpu_ns() - start) * 1e-9;
  const Frame f = read(stream);
  const double computed = f.at(solve, rec.registry().metric("cpu_time", "s").id),
               waited = f.at(halo, rec.registry().metric("cpu_time", "s").id);
  CHECK(computed == Approx(f.header.load));
  CHECK(computed > 200 * 1e-6);
  CHECK(computed + waited <= all);  // 20 ms were slept
  CHECK(waited > 20 * 15e-6);
}
