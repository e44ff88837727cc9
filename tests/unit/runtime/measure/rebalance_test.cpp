#include "frames.hpp"

#include <ctime>
#include <string>

using namespace effort;
using namespace effort::measure;

TEST_CASE("what a rebalance computes is part of its price and not of the load") {
  for (const char* metric : {"time", "cpu_time"}) {
    const clockid_t id = std::string(metric) == "time" ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const auto clock = [&] {
      timespec t{};
      clock_gettime(id, &t);
      return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    const auto compute = [&](double seconds) {
      const double start = clock();
      while (clock() - start < seconds) {
      }
    };
    Recorder rec({"time"}, metric, LoadThreads::max);
    const auto solve = rec.registry().region("solve", Kind::compute).id;
    const auto partition = rec.registry().region("partition", Kind::compute).id;
    RecordStream stream;
    begin(rec, solve);
    // The set-up for a new thread at the end of the first step counts towards the second one.
    rec.end_step(0, 0, stream);
    rec.end_step(1, 1, stream);
    stream.clear();

    Pricing callback, bracket;
    const double start = clock();
    compute(0.002);
    const double begun = clock();
    rec.begin_price(callback);
    begin(rec, partition);
    rec.begin_price(bracket);  // nested: counted once
    compute(0.02);
    const Price inner = rec.end_price(bracket);
    compute(0.01);
    end(rec);
    const Price outer = rec.end_price(callback);
    const double ended = clock();
    compute(0.003);
    rec.end_step(2, 2, stream);
    const double step = clock() - start;
    const double load = read(stream).header.load;
    CHECK(inner.elapsed >= 0.02 * 0.99);
    CHECK(outer.elapsed >= 0.01 * 0.99);
    CHECK(load >= 0.005 * 0.99);
    CHECK(load <= (step - (ended - begun)) * 1.01 + 1e-4);

    // Between MPI calls, the adapter learns afterwards to which of its regions the time outside all others belongs.
    end(rec);
    const auto between = rec.registry().region("between MPI calls", Kind::compute).id;
    ThreadSlot& slot = rec.slot();
    claim(slot, outside);
    rec.end_step(3, 3, stream);
    stream.clear();
    const double again = clock();
    compute(0.002);
    rec.begin_price(bracket);
    claim(slot, between);
    compute(0.02);
    claim(slot, between);
    compute(0.01);
    const Price third = rec.end_price(bracket);
    compute(0.003);
    claim(slot, between);
    rec.end_step(4, 4, stream);
    const double rest = read(stream).header.load;
    CHECK(third.elapsed >= 0.03 * 0.99);
    CHECK(rest >= 0.005 * 0.99);
    CHECK(rest <= (clock() - again - third.elapsed) * 1.01 + 1e-4);

    // If the host forgets to end a rebalance, later steps keep their load.
    rec.begin_price(bracket);
    rec.end_step(5, 5, stream);
    stream.clear();
    begin(rec, solve);
    compute(0.005);
    end(rec);
    compute(0.005);
    claim(slot, between);
    rec.end_step(6, 6, stream);
    CHECK(read(stream).header.load >= 0.01 * 0.99);
  }
}
