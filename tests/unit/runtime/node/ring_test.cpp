#include "runtime/node/ring.hpp"

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
