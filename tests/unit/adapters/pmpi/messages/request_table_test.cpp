// Numbers and handles of requests.
#include "adapters/pmpi/messages/request_table.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

using effort::pmpi::RequestTable;
using effort::pmpi::Word;

namespace {

/// A send of that thread.
std::uint32_t add(RequestTable& table, std::uint32_t thread) {
  const std::uint32_t number = table.add();
  if (number == RequestTable::none) return number;
  table[number].sends = true;
  table[number].thread = thread;
  return number;
}

std::uint32_t start(RequestTable& table, Word handle, std::uint32_t thread = 0) {
  const std::uint32_t number = add(table, thread);
  table.bind(number, handle);
  return number;
}

}  // namespace

TEST_CASE("A request has the lowest free number") {
  RequestTable table;
  for (std::uint32_t i = 0; i < 200; ++i) REQUIRE(start(table, 1000 + i) == i);
  for (const std::uint32_t i : {150u, 3u, 70u}) {
    REQUIRE(table.claim(1000 + i, 0) == i);
    table.release(i);
  }
  CHECK(start(table, 5000) == 3);
  CHECK(start(table, 5001) == 70);
  CHECK(start(table, 5002) == 150);
  CHECK(start(table, 5003) == 200);
}

TEST_CASE("A claimed request is not found by its handle until it is put back") {
  RequestTable table;
  const std::uint32_t old = start(table, 42);
  REQUIRE(table.claim(42, 0) == old);
  CHECK(table.find(42) == RequestTable::none);
  const std::uint32_t fresh = start(table, 42);  // MPI has given the handle to another request meanwhile
  CHECK(fresh != old);
  CHECK(table.claim(42, 0) == fresh);
  table.put_back(fresh);
  CHECK(table.find(42) == fresh);
}

TEST_CASE("Among several requests with one handle, the thread's newest is found") {
  RequestTable table;
  const std::uint32_t a = start(table, 7, 1), b = start(table, 7, 2), c = start(table, 7, 2);
  CHECK(table.claim(7, 1) == a);
  CHECK(table.claim(7, 1) == c);  // none of its own is left
  CHECK(table.claim(7, 2) == b);
  CHECK(table.claim(7, 2) == RequestTable::none);
}

TEST_CASE("A host that never completes its requests does not fill memory") {
  RequestTable table;
  std::uint32_t refused = 0;
  for (std::uint32_t i = 0; i < RequestTable::most_alike + 10; ++i) {
    const std::uint32_t number = add(table, 0);
    if (table.bind(number, 7)) continue;
    table.release(number);
    ++refused;
  }
  CHECK(refused == 10);
  for (Word handle = 100; table.size() < RequestTable::most; ++handle) start(table, handle);
  CHECK(add(table, 0) == RequestTable::none);
  table.release(table.claim(100, 0));
  CHECK(add(table, 0) != RequestTable::none);
}

TEST_CASE("The table agrees with a simple model") {
  RequestTable table;
  std::multimap<Word, std::uint32_t> model;
  std::set<std::uint32_t> claimed;
  std::mt19937 random(17);
  for (int i = 0; i < 200000; ++i) {
    const Word handle = 64 * (random() % 300);
    switch (random() % 3) {
      case 0: model.emplace(handle, start(table, handle, random() % 3)); break;
      case 1: {
        const std::uint32_t number = table.claim(handle, random() % 3);
        const auto [first, last] = model.equal_range(handle);
        const auto known = std::find_if(first, last, [&](const auto& m) { return m.second == number; });
        REQUIRE((number == RequestTable::none) == (first == last));
        if (number == RequestTable::none) break;
        REQUIRE(known != last);
        model.erase(known);
        if (random() % 2) {
          table.put_back(number);
          model.emplace(handle, number);
        } else {
          table.release(number);
        }
        break;
      }
      default: REQUIRE((table.find(handle) == RequestTable::none) == (model.count(handle) == 0));
    }
    REQUIRE(table.size() == model.size());
  }
}

TEST_CASE("A handle that others have is not bound alone") {
  RequestTable table;
  const std::uint32_t one = table.add(), other = table.add();
  CHECK(table.bind_alone(one, 7));
  CHECK(!table.bind_alone(other, 7));
  CHECK(table.find(7) == one);
  CHECK(table.bind(other, 7));
  CHECK(table.claim(7, 0) == other);
  CHECK(table.claim(7, 0) == one);
}
