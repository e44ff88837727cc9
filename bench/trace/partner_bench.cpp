// The time that the background thread spends on the records of a rank that is not kept, to find its messages with kept
// ranks, compared with reading all of them:
//   bench_partners [rounds]
// The records are those of a halo exchange with six neighbours: 3 calls and 4 messages for each, and one sum.  None,
// one or all of the neighbours are kept.  Prints medians in nanoseconds per record.
#include "runtime/measure/clock.hpp"
#include "runtime/recording/stream.hpp"
#include "runtime/trace/trace_events.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace effort;
using recording::RecordKind;

namespace {

constexpr int neighbours = 6, steps = 2000;
constexpr std::size_t blocks = 1024;

std::uint64_t now = 1000;

void call(recording::Stream& s, std::uint32_t region, RecordKind what, int peer, std::uint64_t request) {
  s.boundary(RecordKind::enter, region, now += 100);
  s.message(recording::message(what, 1, peer), 8, 3 | request << 32);
  s.boundary(RecordKind::leave, region, now += 100);
}

std::size_t step(recording::Stream& s, recording::Memory& m, std::int64_t number) {
  for (std::uint64_t i = 0; i < neighbours; ++i) call(s, 1, RecordKind::receive_start, static_cast<int>(i), i);
  for (std::uint64_t i = 0; i < neighbours; ++i)
    call(s, 2, RecordKind::send_start, static_cast<int>(i), neighbours + i);
  s.boundary(RecordKind::enter, 3, now += 100);
  s.boundary(RecordKind::leave, 3, now += 100);
  for (std::uint64_t i = 0; i < neighbours; ++i)
    s.message(recording::message(RecordKind::receive_done, 1, static_cast<int>(i)), 8, 3 | i << 32);
  for (std::uint64_t i = 0; i < neighbours; ++i)
    s.message(recording::message(RecordKind::send_done, 0, -1), 0, (neighbours + i) << 32);
  call(s, 4, RecordKind::collective, -1, 0);
  s.step(number + 1, now += 100);
  m.end_step(number, now);
  return 2 * neighbours * 3 + 2 + 2 * neighbours + 3 + 1;
}

template <typename Read>
double median_ns(int rounds, std::size_t records, const Read& read) {
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) {
    const std::int64_t start = measure::thread_cpu_ns();
    read();
    times.push_back(static_cast<double>(measure::thread_cpu_ns() - start) / static_cast<double>(records));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = std::max(1, argc > 1 ? std::atoi(argv[1]) : 51);
  const std::size_t size = (recording::Memory::bytes(blocks) + 63) / 64 * 64;
  void* const bytes = std::aligned_alloc(64, size);
  if (!bytes) return 1;
  std::fill_n(static_cast<char*>(bytes), size, 0);
  recording::Memory memory(static_cast<std::byte*>(bytes), blocks);
  recording::Stream stream;
  stream.offer(&memory);
  stream.adopt(0);
  std::size_t records = 0;
  for (int s = 0; s < steps; ++s) records += step(stream, memory, s);
  const engine::TraceEvents reader(memory, 0, [](trace::Kind, std::uint32_t id) { return std::int64_t{id}; });
  const std::vector<bool> none(neighbours, false), all(neighbours, true);
  std::vector<bool> one(neighbours, false);
  one[0] = true;
  const auto messages = [&](const std::vector<bool>& kept) {
    return median_ns(rounds, records, [&] { (void)reader.read_messages(0, steps - 1, kept); });
  };
  const double whole = median_ns(rounds, records, [&] { (void)reader.read(0, steps - 1); });
  std::printf(
      "%zu records; ns each: all %.1f; messages with none of %d neighbours %.1f, with one %.1f, with all %.1f\n",
      records, whole, neighbours, messages(none), messages(one), messages(all));
  std::free(bytes);
}
