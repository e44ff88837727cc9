#include "runtime/node/ring.hpp"
#include "runtime/node/segment.hpp"

#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <random>
#include <thread>

using namespace effort::node;

namespace {

struct OwnRing {
  explicit OwnRing(std::size_t capacity)
      : control(std::make_unique<RingControl>()), bytes(capacity), ring(*control, bytes.data(), capacity) {}
  std::unique_ptr<RingControl> control;
  std::vector<std::byte> bytes;
  Ring ring;
};

std::vector<std::byte> pattern(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(n);
  for (auto& b : out) b = static_cast<std::byte>(random());
  return out;
}

}  // namespace

TEST_CASE("pushed bytes are popped in order, whatever the sizes") {
  OwnRing own(256);
  const auto sent = pattern(100000, 1);
  std::vector<std::byte> received;
  std::mt19937 random(2);
  std::size_t at = 0;
  while (at < sent.size()) {
    const std::size_t want = std::min<std::size_t>(random() % 300, sent.size() - at);
    const std::size_t n = own.ring.push(std::span(sent).subspan(at, want));
    CHECK(n <= want);
    at += n;
    CHECK(own.ring.filled() <= 256);
    if (random() % 3 == 0) own.ring.drain(received);
  }
  own.ring.drain(received);
  CHECK(received == sent);
}

TEST_CASE("a full ring accepts as much as fits and returns how much that was") {
  OwnRing own(64);
  const auto sent = pattern(100, 3);
  CHECK(own.ring.push(sent) == 64);
  CHECK(own.ring.push(sent) == 0);
  std::vector<std::byte> out;
  CHECK(own.ring.drain(out) == 64);
  CHECK(own.ring.drain(out) == 0);
  CHECK(own.ring.push(std::span(sent).subspan(64)) == 36);
  own.ring.drain(out);
  CHECK(out == sent);
}

TEST_CASE("producer and consumer on two threads") {
  OwnRing own(1024);
  const auto sent = pattern(2'000'000, 4);
  std::thread producer([&] {
    std::size_t at = 0;
    while (at < sent.size())
      at += own.ring.push(std::span(sent).subspan(at, std::min<std::size_t>(333, sent.size() - at)));
  });
  std::vector<std::byte> received;
  while (received.size() < sent.size()) own.ring.drain(received);
  producer.join();
  CHECK(received == sent);
}

TEST_CASE("a board shows a hint as it was published") {
  const BoardShape shape{3, 2};
  auto segment = Segment::make_private({2, shape});
  Board& board = segment->board();
  CHECK(board.newest() == -1);
  const std::vector<double> load{1, 2, 3}, predicted{4, 5, 6}, by_stratum{1, 2, 3, 4}, region_load{7, 8, 9, 10};
  const std::vector<std::int32_t> stratum{0, 1, 1}, medoid{0, 2};
  const std::vector<std::string> names{"a", "b"};
  for (std::int64_t w = 0; w < 4; ++w) {
    HintContent h;
    h.numbers.look = w;
    h.numbers.n_regions = 2;
    h.numbers.report.strata = 2;
    h.numbers.report.imbalance = 0.5 * static_cast<double>(w);
    h.load = load;
    h.predicted = predicted;
    h.stratum = stratum;
    h.medoid_rank = medoid;
    h.stratum_region_load = by_stratum;
    h.stratum_stride = 2;
    h.region_load = region_load;
    h.region_names = names;
    board.publish(h);
    CHECK(board.newest() == w);
    const HintView v = board.view(w, 1);
    CHECK(v.numbers->report.imbalance == 0.5 * static_cast<double>(w));
    CHECK(v.predicted[2] == 6);
    CHECK(v.stratum[2] == 1);
    CHECK(v.stratum_region_load[3] == 4);
    CHECK(v.region_load[0] == 9);
    CHECK(std::string(board.region_name(1)) == "b");
    if (w > 0) CHECK(board.view(w - 1, 0).numbers->look == w - 1);
  }
}

TEST_CASE("a hint with more regions than the board has room for is flagged as truncated") {
  const BoardShape shape{1, 1};
  auto segment = Segment::make_private({1, shape});
  std::vector<std::string> names;
  for (int i = 0; i < max_hint_regions + 100; ++i) names.push_back("region " + std::to_string(i));
  const std::vector<double> one{1}, loads(names.size(), 2.0);
  const std::vector<std::int32_t> zero{0};
  HintContent h;
  h.numbers.look = 0;
  h.numbers.n_regions = static_cast<std::int32_t>(names.size());
  h.numbers.report.strata = 1;
  h.load = h.predicted = one;
  h.stratum = h.medoid_rank = zero;
  h.stratum_region_load = h.region_load = loads;
  h.stratum_stride = names.size();
  h.region_names = names;
  segment->board().publish(h);
  const HintView v = segment->board().view(0, 0);
  CHECK(v.numbers->n_regions == max_hint_regions);
  CHECK((v.numbers->report.advice & 1024u) != 0);
}
