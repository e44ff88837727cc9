#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>

#include "analytics/calls/stamps.hpp"
#include "record/calls/recording_file.hpp"
#include "record/reader.hpp"
#include "recordings.hpp"
#include "streams.hpp"

namespace {

using namespace effort::record::calls;
using effort::calls::test::any_events;
using effort::calls::test::program;
using Events = effort::calls::test::Stream;

Events read(const RecordingFile& file, std::size_t stream) {
  Events out;
  file.read(stream,
            [&](std::span<const std::uint32_t> events) { out.insert(out.end(), events.begin(), events.end()); });
  return out;
}

std::string recording_refusal(std::vector<std::byte> bytes) {
  try {
    const RecordingFile file(std::move(bytes), "x.rec");
    for (std::size_t i = 0; i < file.names().streams.size(); ++i) file.read_timed(i, [](auto, auto, auto) {});
  } catch (const effort::record::FormatError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("recorded calls come back, in one chunk or many") {
  effort::record::calls::test::RecordingMaker maker(65534);
  const Events streams[] = {program(1, 300), any_events(2, 60'000, 65534, 0.5), {}, {1}, {0, 0, 0}};
  for (std::uint32_t i = 0; i < 5; ++i) maker.thread(i, streams[i]);
  const RecordingFile file(maker.bytes(), "x.rec");
  REQUIRE(file.names().streams.size() == 5);
  CHECK(file.names().streams[0].rank == 3);
  CHECK(file.names().streams[0].process == 4711);
  CHECK(file.names().functions.size() == 65534);
  CHECK(file.names().functions[1].offset == 0x1010);
  CHECK(file.names().modules.at(0).name == "app");
  CHECK(file.names().modules.at(0).build_id == "01ff");
  for (std::uint32_t i = 0; i < 5; ++i) CHECK(std::ranges::equal(read(file, i), streams[i]));
}

TEST_CASE("a loop costs nothing while it repeats") {
  effort::record::calls::test::RecordingMaker maker(10);
  Events loop;
  for (int i = 0; i < 1'000'000; ++i) loop.insert(loop.end(), {1, 2, 0, 0});
  maker.thread(0, loop);
  CHECK(maker.bytes().size() == recording::header_bytes + 3 * recording::chunk_bytes);
  CHECK(std::ranges::equal(read(RecordingFile(maker.bytes(), "x.rec"), 0), loop));
}

TEST_CASE("branches that repeat in each step cost little, although one of them differs each time") {
  effort::record::calls::test::RecordingMaker maker(10);
  std::mt19937 random(1);
  std::vector<bool> takes(200);
  for (std::size_t i = 0; i < takes.size(); ++i) takes[i] = random() % 10 < 3;
  constexpr std::size_t steps = 3000;
  Events events;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t differs = random() % takes.size();
    events.push_back(1);
    for (std::size_t i = 0; i < takes.size(); ++i) {
      events.push_back(2);
      if (takes[i] != (i == differs)) events.insert(events.end(), {3, 0});
      events.push_back(0);
    }
    events.push_back(0);
  }
  maker.thread(0, events);
  CHECK(maker.bytes().size() < 30 * steps);  // 55 if turns are not expected to recur
  CHECK(std::ranges::equal(read(RecordingFile(maker.bytes(), "x.rec"), 0), events));
}

TEST_CASE("a copy of a recording that grew while it was copied has what came first") {
  namespace calls = effort::record::calls;
  const Events events = any_events(7, 60'000, 60, 0.5);
  calls::test::RecordingMaker then(60), full(60), soon(60), now(60);
  const std::size_t n = events.size() / 2;
  std::size_t few = n;  // events more that still fit into the chunk that is being filled
  then.thread(0, std::span(events).first(n));
  const std::size_t then_size = then.bytes().size();
  for (bool fits = true; fits; ++few) {
    calls::test::RecordingMaker maker(60);
    maker.thread(0, std::span(events).first(few + 1));
    fits = maker.bytes().size() == then_size;
  }
  --few;
  full.thread(0, std::span(events).first(few));
  soon.thread(0, std::span(events).first(few + 1));
  now.thread(0, events);
  REQUIRE(few > n + 10);
  REQUIRE(now.bytes().size() > soon.bytes().size() + 3 * recording::chunk_bytes);
  const auto read_settled = [&](const std::vector<std::byte>& first, const std::vector<std::byte>& second) {
    const RecordingFile file(calls::settled(first, second), "x.rec");
    CHECK(file.missing_chunks() == 0);
    return read(file, 0);
  };
  const auto begins_as = [&](const Events& found) {
    return found.size() <= events.size() && std::ranges::equal(found, std::span(events).first(found.size()));
  };
  // The chunk that is being filled has grown in between, or its records but not their number were copied.
  CHECK(std::ranges::equal(read_settled(then.bytes(), full.bytes()), std::span(events).first(n)));
  const std::size_t filling = recording::header_bytes + 2 * recording::chunk_bytes;
  std::vector<std::byte> partly = full.bytes();
  std::copy_n(&then.bytes()[filling], sizeof(recording::ChunkHeader), &partly[filling]);
  CHECK(std::ranges::equal(read_settled(partly, full.bytes()), std::span(events).first(n)));
  // It is full, and has been filled again since: its calls are lost unless the first copy has the full chunk.
  Events found = read_settled(then.bytes(), now.bytes());
  CHECK(begins_as(found));
  CHECK(found.size() > n - recording::room);
  CHECK(found.size() <= n);
  // It was filled again several times while the file was copied for the first time: a mixture.
  std::vector<std::byte> mixture = now.bytes();
  std::copy_n(&then.bytes()[filling], recording::chunk_bytes / 2, &mixture[filling]);
  const std::string message = recording_refusal(mixture);
  if (message.empty()) CHECK_FALSE(std::ranges::equal(read(RecordingFile(mixture, "x.rec"), 0), events));
  found = read_settled(mixture, now.bytes());
  CHECK(begins_as(found));
  CHECK(found.size() > n);
  mixture.resize(then_size);
  CHECK(begins_as(read_settled(mixture, now.bytes())));
  // A full chunk had not arrived when its place was copied, but a later one had; or it had arrived in part.
  for (const std::size_t arrived : {std::size_t{0}, sizeof(recording::ChunkHeader), recording::chunk_bytes / 2}) {
    std::vector<std::byte> gap = now.bytes();
    std::fill(gap.end() - 2 * recording::chunk_bytes + static_cast<std::ptrdiff_t>(arrived),
              gap.end() - recording::chunk_bytes, std::byte{0});
    found = read_settled(gap, now.bytes());
    CHECK(begins_as(found));
    CHECK(found.size() + recording::room > events.size());
  }
  // The size of the file had been asked for before the chunk was filled again.
  std::vector<std::byte> cut = now.bytes();
  cut.resize(then_size);
  CHECK(std::ranges::equal(read_settled(cut, now.bytes()), events));
  // Nothing has changed.
  CHECK(calls::settled(now.bytes(), now.bytes()) == now.bytes());
}

TEST_CASE("a process that was killed while it copied a full chunk lost nothing") {
  const Events events = any_events(8, 20'000, 60, 0.5);
  effort::record::calls::test::RecordingMaker maker(60);
  maker.thread(0, events);
  const std::size_t filling = recording::header_bytes + 2 * recording::chunk_bytes;
  const std::size_t copy = maker.append(filling);
  CHECK(std::ranges::equal(read(RecordingFile(maker.bytes(), "x.rec"), 0), events));
  // The chunk is not valid while it is the next one.
  std::vector<std::byte> bytes = maker.bytes();
  std::fill_n(&bytes[filling], sizeof(std::uint32_t), std::byte{0});
  CHECK(std::ranges::equal(read(RecordingFile(bytes, "x.rec"), 0), events));
  // The copy did not arrive.
  bytes = maker.bytes();
  std::fill_n(&bytes[copy], recording::chunk_bytes, std::byte{0});
  CHECK(std::ranges::equal(read(RecordingFile(bytes, "x.rec"), 0), events));
  // No process leaves three.
  maker.append(filling);
  CHECK(recording_refusal(maker.bytes()).find("a chunk occurs twice") != std::string::npos);
}

TEST_CASE("an id that was never defined is refused with the place of its record") {
  effort::record::calls::test::RecordingMaker maker(4);
  maker.thread(0, Events{1, 0, 9, 0});
  const std::string message = recording_refusal(maker.bytes());
  CHECK(message.find("the id 9, which was never defined") != std::string::npos);
  CHECK(message.find("(file 'x.rec', byte ") != std::string::npos);
}

TEST_CASE("damaged recordings are refused or read, and cut ones too") {
  effort::record::calls::test::RecordingMaker maker(60);
  maker.thread(0, any_events(5, 30'000, 60, 0.5));
  const std::vector<std::byte>& good = maker.bytes();
  REQUIRE(recording_refusal(good) == "");
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<std::byte> bad = good;
    // The fields that say how long things are, and records.  (The run of a thread's last chunk may be any number.)
    const std::size_t chunk =
        recording::header_bytes +
        random() % ((bad.size() - recording::header_bytes) / recording::chunk_bytes) * recording::chunk_bytes;
    const std::size_t at = i % 4 == 0   ? random() % 64
                           : i % 4 == 1 ? chunk + random() % 16
                                        : chunk + 64 + random() % (recording::room / 8);
    bad[at] ^= static_cast<std::byte>(1 + random() % 255);
    const std::string message = recording_refusal(std::move(bad));
    if (message.empty()) continue;
    ++refused;
    CHECK(message.find("(file 'x.rec', byte ") != std::string::npos);
  }
  CHECK(refused > 100);
  for (std::size_t n = 0; n < good.size(); n += 4099) {
    const std::string message = recording_refusal({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)});
    if (!message.empty()) CHECK(message.find("(file 'x.rec', byte ") != std::string::npos);
  }
}

TEST_CASE("time stamps come with the events that have them") {
  const Events events = program(1, 300);
  std::vector<std::uint64_t> gaps;
  std::mt19937_64 random(3);
  effort::calls::StampFinder finder(5);
  for (const std::uint32_t event : events)
    if (finder.next(event)) gaps.push_back(random() >> random() % 64);
  effort::record::calls::test::RecordingMaker maker(10, 5);
  maker.thread(0, events);
  maker.stamps(0, gaps);
  maker.thread(1, events);
  const RecordingFile file(maker.bytes(), "x.rec");
  CHECK(file.names().streams[0].stamp_every == 5);
  CHECK(file.names().streams[1].stamp_every == 0);
  Events found;
  std::vector<std::uint64_t> times;
  file.read_timed(0, [&](std::uint64_t stream, auto e, auto g) {
    CHECK(stream == 0);
    found.insert(found.end(), e.begin(), e.end());
    times.insert(times.end(), g.begin(), g.end());
  });
  CHECK(std::ranges::equal(found, events));
  CHECK(times == gaps);
  file.read_timed(1, [&](auto, auto, auto g) { CHECK(g.empty()); });

  // A process that was killed, and more stamps than events.
  for (const std::size_t n : {gaps.size() / 2, std::size_t{0}, gaps.size() + 100}) {
    effort::record::calls::test::RecordingMaker other(10, 5);
    other.thread(0, events);
    std::vector<std::uint64_t> some = gaps;
    some.resize(n, 1);
    other.stamps(0, some);
    std::size_t count = 0;
    RecordingFile(other.bytes(), "x.rec").read_timed(0, [&](auto, auto, auto g) { count += g.size(); });
    CHECK(count == std::min(n, gaps.size()));
  }
}

TEST_CASE("damaged time stamps are refused") {
  effort::record::calls::test::RecordingMaker maker(10, 1);
  const Events events{1, 2, 0, 0};
  maker.thread(0, events);
  maker.stamps(0, std::vector<std::uint64_t>{1, 2, 3, 300});
  REQUIRE(recording_refusal(maker.bytes()) == "");
  const std::size_t chunk = maker.bytes().size() - recording::chunk_bytes;
  std::vector<std::byte> bad = maker.bytes();
  bad[offsetof(recording::Header, stamp_every)] = std::byte{0};
  CHECK(recording_refusal(bad).find("there are time stamps, but no record of which calls they belong to") !=
        std::string::npos);
  bad = maker.bytes();
  bad[chunk + offsetof(recording::ChunkHeader, state) + 5] = std::byte{4};  // the last one lacks a byte
  CHECK(recording_refusal(bad).find("a time stamp is damaged") != std::string::npos);
  bad[chunk + offsetof(recording::ChunkHeader, state) + 6] = std::byte{255};
  CHECK(recording_refusal(bad).find("a chunk has more time stamps than room") != std::string::npos);
}
