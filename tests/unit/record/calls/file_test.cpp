#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

#include "analytics/calls/stamps.hpp"
#include "record/calls/file.hpp"
#include "record/reader.hpp"

namespace {

using namespace effort::record::calls;
using Events = std::vector<std::uint32_t>;

const Events first{1, 2, 0, 2, 0, 0}, second{1, 2, 0, 3};

std::vector<std::byte> sample() {
  FileMaker maker;
  maker.append(0, std::span(first).first(3));
  maker.append(0, std::span(first).subspan(3));
  maker.append(1, second, 1, std::vector<std::uint64_t>{10, 20, 3, 4});
  maker.append(2, {});
  Names names;
  names.width = 4;
  names.modules = {{"app", "/opt/app", "0011ff"}, {"libx.so", "/lib/libx.so", ""}};
  names.functions = {{0, 0x1139}, {1, 0x40}, {0, 0xffff'ffff'ffff'0000}};
  names.streams = {{0, 77, 1, 0, 0, "a", 0}, {1, 78, 0, 0, 12, "", 0}, {-1, 0, 0, 0, 0, "empty", 0}};
  return maker.finish(std::move(names));
}

std::string refusal(std::vector<std::byte> bytes) {
  try {
    const CallsFile file(std::move(bytes), "x.calls");
    file.read_timed([](auto, auto, auto) {});
  } catch (const effort::record::FormatError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("streams and names come back") {
  const CallsFile file(sample(), "x.calls");
  const Names& n = file.names();
  CHECK(n.width == 4);
  REQUIRE(n.modules.size() == 2);
  CHECK(n.modules[0].name == "app");
  CHECK(n.modules[0].path == "/opt/app");
  CHECK(n.modules[0].build_id == "0011ff");
  REQUIRE(n.functions.size() == 3);
  CHECK(n.functions[1].module == 1);
  CHECK(n.functions[1].offset == 0x40);
  CHECK(n.functions[2].offset == 0xffff'ffff'ffff'0000);
  REQUIRE(n.streams.size() == 3);
  CHECK(n.streams[0].process == 77);
  CHECK(n.streams[0].events == 6);
  CHECK(n.streams[1].events == 4);
  CHECK(n.streams[1].left_out == 12);
  CHECK(n.streams[2].rank == -1);
  CHECK(n.streams[2].events == 0);
  CHECK(n.streams[2].label == "empty");
  std::vector<Events> found(3);
  file.read([&](std::uint64_t stream, std::span<const std::uint32_t> events) {
    found.at(stream).insert(found.at(stream).end(), events.begin(), events.end());
  });
  CHECK(found[0] == first);
  CHECK(found[1] == second);
  CHECK(found[2].empty());
}

TEST_CASE("a stream that is too long for a block goes on in the next") {
  FileMaker maker;
  Events events;
  for (std::uint32_t i = 0; i < 3'000'000; ++i) events.push_back(1 + (i * 2'654'435'761u >> 7));
  maker.append(0, events);
  Names names;
  names.streams.resize(1);
  const CallsFile file(maker.finish(std::move(names)), "long.calls");
  Events found;
  file.read([&](std::uint64_t, std::span<const std::uint32_t> e) { found.insert(found.end(), e.begin(), e.end()); });
  CHECK(std::ranges::equal(found, events));
}

TEST_CASE("streams must come one after the other") {
  FileMaker maker;
  maker.append(0, first);
  CHECK_THROWS_AS(maker.append(2, first), std::invalid_argument);
  maker.append(1, first);
  CHECK_THROWS_AS(maker.append(0, first), std::invalid_argument);
}

TEST_CASE("every damaged byte and every cut is noticed, with a message that names file and offset") {
  const std::vector<std::byte> good = sample();
  REQUIRE(refusal(good) == "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0x10};
    const std::string message = refusal(bad);
    // The minor version and unknown types of parts are not an error of their own, but each has a checksum.
    CHECK(message.find("(file 'x.calls', byte ") != std::string::npos);
    CHECK(refusal({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)}).find("(file 'x.calls', byte ") !=
          std::string::npos);
  }
}

TEST_CASE("time stamps come with the events that have them, in parts if there are many") {
  FileMaker maker;
  std::vector<Events> streams(4);
  std::vector<std::vector<std::uint64_t>> gaps(4);
  const std::uint32_t every[] = {1, 0, 3, 1};
  for (std::uint32_t s = 0; s < 4; ++s) {
    effort::calls::StampFinder finder(every[s]);
    for (std::uint32_t i = 0; i < (s == 3 ? 1'500'000u : 1000u); ++i) {
      streams[s].push_back(i % 2 == 0 ? 1 + i % 4 : 0);
      if (finder.next(streams[s].back())) gaps[s].push_back(100 * (1 + i % 4) + s);
    }
    std::size_t at = 0, stamp = 0;
    finder = effort::calls::StampFinder(every[s]);
    for (const std::size_t n : {std::size_t{1}, std::size_t{500}, streams[s].size() - 501}) {
      const auto piece = std::span(streams[s]).subspan(at, n);
      std::size_t stamps = 0;
      for (const std::uint32_t event : piece) stamps += finder.next(event);
      maker.append(s, piece, every[s], std::span(gaps[s]).subspan(stamp, stamps));
      at += n;
      stamp += stamps;
    }
  }
  Names names;
  names.streams.resize(4);
  const CallsFile file(maker.finish(std::move(names)), "x.calls");
  std::vector<Events> found(4);
  std::vector<std::vector<std::uint64_t>> times(4);
  file.read_timed([&](std::uint64_t s, auto e, auto g) {
    found.at(s).insert(found.at(s).end(), e.begin(), e.end());
    times.at(s).insert(times.at(s).end(), g.begin(), g.end());
  });
  for (std::uint32_t s = 0; s < 4; ++s) {
    CHECK(file.names().streams[s].stamp_every == every[s]);
    CHECK(std::ranges::equal(found[s], streams[s]));
    CHECK(times[s] == gaps[s]);
  }
}
