// Records come back whole and in order, and overwritten ones are known to be lost.
#include "runtime/recording/stream.hpp"

#include "test_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace effort::recording;

namespace {

void start(Stream& stream, Memory& memory, std::uint32_t thread) {
  stream.offer(&memory);
  stream.adopt(thread);
}

/// Whether the words are enters with the times first, first + 1, ... up to the last one written.
bool consecutive(const std::vector<Word>& words, std::uint64_t& first, std::uint64_t& last) {
  if (words.empty() || words.size() % 2 != 0) return false;
  first = words[1];
  for (std::size_t i = 0; i < words.size(); i += 2)
    if (words[i] != first_word(RecordKind::enter, static_cast<std::uint32_t>(first + i / 2)) ||
        words[i + 1] != first + i / 2)
      return false;
  last = words[words.size() - 1];
  return true;
}

}  // namespace

TEST_CASE("every kind of record keeps its contents") {
  TestMemory test(4);
  Stream stream;
  start(stream, test.memory, 3);
  stream.boundary(RecordKind::enter, 0xffffffff, 10);
  stream.message(message(RecordKind::send, 0xffffff, -1), ~Word{0}, 7 | Word{9} << 32);
  stream.work(5, 2.5);
  stream.step(-1, 11);
  const auto all = read(test.memory, 0, 100);
  REQUIRE(all.size() == 1);
  CHECK(all[0].thread == 3);
  const auto& w = all[0].words;
  REQUIRE(w.size() == 2 + 3 + 2 + 3);
  CHECK(record_kind_of(w[0]) == RecordKind::enter);
  CHECK(id_of(w[0]) == 0xffffffff);
  CHECK(record_kind_of(w[2]) == RecordKind::send);
  CHECK(communicator_of(w[2]) == 0xffffff);
  CHECK(peer_of(w[2]) == -1);
  CHECK(w[3] == ~Word{0});
  CHECK(id_of(w[5]) == 5);
  double amount = 0;
  std::memcpy(&amount, &w[6], sizeof amount);
  CHECK(amount == 2.5);
  CHECK(record_kind_of(w[7]) == RecordKind::step);
  CHECK(static_cast<std::int64_t>(w[9]) == -1);
}

TEST_CASE("the newest records are kept, and lost_until names the lost ones") {
  TestMemory test(4);
  Stream stream;
  start(stream, test.memory, 0);
  const std::uint64_t per_block = Memory::block_words / 2;
  for (std::uint64_t t = 1; t <= 10 * per_block + 5; ++t) {
    stream.boundary(RecordKind::enter, static_cast<std::uint32_t>(t), t);
    if (t % 97 != 0) continue;
    const auto all = read(test.memory, 0, t);
    const std::uint64_t lost = test.memory.lost_until();
    REQUIRE(all.size() == 1);
    std::uint64_t first = 0, last = 0;
    REQUIRE(consecutive(all[0].words, first, last));
    REQUIRE(first == lost + 1);
    REQUIRE(last == t);
  }
  CHECK(test.memory.lost_until() >= 6 * per_block);
  // A reader that wants only the end need not read the rest.
  const auto end = read(test.memory, 10 * per_block + 1, 11 * per_block);
  REQUIRE(end.size() == 1);
  CHECK(end[0].words.size() <= 2 * (per_block + 5));
}

TEST_CASE("threads share the blocks, and a thread that pauses keeps its records") {
  TestMemory test(4);
  Stream busy, idle;
  start(busy, test.memory, 0);
  start(idle, test.memory, 1);
  idle.boundary(RecordKind::enter, 1, 1);
  for (std::uint64_t t = 2; t < 20 * Memory::block_words; ++t)
    busy.boundary(RecordKind::enter, static_cast<std::uint32_t>(t), t);
  auto all = read(test.memory, 0, ~std::uint64_t{0});
  REQUIRE(all.size() == 2);
  CHECK(all[1].thread == 1);
  CHECK(all[1].words == std::vector<Word>{first_word(RecordKind::enter, 1), 1});
  // Once it has ended, its block may be overwritten.
  idle.close();
  for (std::uint64_t t = 20 * Memory::block_words; t < 30 * Memory::block_words; ++t)
    busy.boundary(RecordKind::enter, static_cast<std::uint32_t>(t), t);
  all = read(test.memory, 0, ~std::uint64_t{0});
  CHECK(all.size() == 1);
}

TEST_CASE("threads without a block record nothing, and are counted") {
  TestMemory test(4);
  std::vector<Stream> streams(6);
  for (std::uint32_t i = 0; i < streams.size(); ++i) {
    start(streams[i], test.memory, i);
    streams[i].boundary(RecordKind::enter, i, i + 1);
  }
  CHECK(read(test.memory, 0, 100).size() == 4);
  CHECK(test.memory.unrecorded() == 2);
  streams[0].close();
  streams[5].boundary(RecordKind::enter, 5, 50);
  CHECK(read(test.memory, 0, 100).back().thread == 5);
}

TEST_CASE("the ends of the last steps are known") {
  TestMemory test(4);
  for (std::int64_t s = 0; s < 3000; ++s) test.memory.end_step(s, static_cast<std::uint64_t>(s) * 10);
  std::uint64_t ticks = 0;
  REQUIRE(test.memory.step_end(2999, ticks));
  CHECK(ticks == 29990);
  CHECK(test.memory.step_end(3000 - static_cast<std::int64_t>(kept_step_ends), ticks));
  CHECK_FALSE(test.memory.step_end(2999 - static_cast<std::int64_t>(kept_step_ends), ticks));
  CHECK_FALSE(test.memory.step_end(3000, ticks));
}

TEST_CASE("a reader beside writers sees whole records of each thread, in order") {
  TestMemory test(8);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (std::uint32_t i = 0; i < 2; ++i)
    writers.emplace_back([&, i] {
      Stream stream;
      start(stream, test.memory, i);
      for (std::uint64_t t = 1; !stop.load(std::memory_order_relaxed); ++t)
        stream.boundary(RecordKind::enter, static_cast<std::uint32_t>(t), t);
      stream.close();
    });
  int wrong = 0, seen = 0;
  for (int round = 0; round < 300 || seen == 0; ++round)
    for (const Extract& extract : read(test.memory, 0, ~std::uint64_t{0})) {
      // Blocks that were overwritten during the reading leave gaps, but never torn records.
      std::uint64_t before = 0;
      for (std::size_t w = 0; w + 1 < extract.words.size(); w += 2) {
        const std::uint64_t t = extract.words[w + 1];
        wrong += extract.words[w] != first_word(RecordKind::enter, static_cast<std::uint32_t>(t)) || t <= before;
        before = t;
        ++seen;
      }
    }
  stop = true;
  for (std::thread& t : writers) t.join();
  CHECK(wrong == 0);
  CHECK(seen > 0);
}

TEST_CASE("too little memory counts as none") {
  CHECK(Memory::blocks_in(0) == 0);
  CHECK(Memory::blocks_in(sizeof(Control) + 3 * Memory::block_bytes) == 0);
  CHECK(Memory::blocks_in(Memory::bytes(4)) == 4);
  CHECK(Memory::blocks_in(std::size_t{8} << 20) > 500);
  CHECK(Memory::fewer_blocks(8) == 4);
  CHECK(Memory::fewer_blocks(4) == 0);
}
