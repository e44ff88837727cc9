// Streams of calls for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace effort::calls::test {

using Stream = std::vector<std::uint32_t>;

/// Steps of a program whose loops have varying lengths.
inline Stream program(std::uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  Stream out{1};
  const auto leaf = [&](std::uint32_t id, std::uint64_t times) {
    for (; times > 0; --times) out.insert(out.end(), {id, 0});
  };
  for (int step = 0; step < steps; ++step) {
    out.push_back(2);
    for (int block = 0; block < 20; ++block) {
      out.push_back(3);
      leaf(4, 3 + random() % 3);
      leaf(5, 1);
      out.push_back(0);
    }
    out.push_back(0);
    if (random() % 4 == 0) leaf(6, 7);
  }
  out.push_back(0);
  return out;
}

/// Ids and returns in any order, with many returns that have no call, or many calls that never return.
inline Stream any_events(std::uint64_t seed, std::size_t n, std::uint32_t most_id, double returns) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution leave(returns);
  std::uniform_int_distribution<std::uint32_t> id(1, most_id);
  Stream out(n);
  for (std::uint32_t& event : out) event = leave(random) ? 0 : id(random);
  return out;
}

}  // namespace effort::calls::test
