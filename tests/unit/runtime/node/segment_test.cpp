#include "runtime/node/segment.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/killed.hpp"

using namespace effort::node;

namespace {

/// Segments of this user in /dev/shm that a process has made.
std::size_t names_of(pid_t process) {
  const std::string mine = "effort-" + std::to_string(getuid()) + "-" + std::to_string(process) + "-";
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    n += entry.path().filename().string().starts_with(mine);
  return n;
}

std::size_t open_files() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

}  // namespace

TEST_CASE("a segment is shared between processes") {
  const BoardShape shape{2, 2};
  for (const Access access : {Access::descriptor, Access::name}) {
    std::unique_ptr<Offer> offer;
    const std::size_t open_before = open_files();
    auto segment = Segment::create({2, shape}, access, offer);
    CHECK(names_of(getpid()) == (access == Access::name ? 1 : 0));
    const Address address = offer->address();
    const std::vector<std::byte> sent(3000, std::byte{5});
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto mine = Segment::attach(address, {2, shape});
      mine->ring(1).push(sent);
      mine->header().work.notify();
      _exit(0);
    }
    std::vector<std::byte> received;
    while (received.size() < sent.size()) {
      const auto ticket = segment->header().work.ticket();
      if (segment->ring(1).drain(received) == 0) segment->header().work.wait(ticket, 1'000'000'000);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(received == sent);
    offer.reset();
    CHECK_THROWS(Segment::attach(address, {2, shape}));
    CHECK(names_of(getpid()) == 0);
    CHECK(open_files() == open_before);
  }
}

TEST_CASE("no process can cut the memory of the others") {
  std::unique_ptr<Offer> offer;
  auto segment = Segment::create({2, {2, 2}}, Access::descriptor, offer);
  const int file = open(offer->address().path, O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  CHECK(ftruncate(file, 0) != 0);
  struct stat st {};
  CHECK((fstat(file, &st) == 0 && static_cast<std::size_t>(st.st_size) == segment->bytes()));
  close(file);
}

TEST_CASE("the next process removes the name that a killed process has left, and keeps that of a living one") {
  const BoardShape shape{2, 2};
  int ready[2], done[2];
  REQUIRE((pipe(ready) == 0 && pipe(done) == 0));
  pid_t makers[2];
  for (pid_t& maker : makers) {
    maker = fork();
    REQUIRE(maker >= 0);
    if (maker != 0) continue;
    std::unique_ptr<Offer> offer;
    auto segment = Segment::create({2, shape}, Access::name, offer);
    char byte = 1;
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) _exit(1);
    offer.reset();
    _exit(0);
  }
  char byte = 0;
  for (int i = 0; i < 2; ++i) REQUIRE(read(ready[0], &byte, 1) == 1);
  kill(makers[0], SIGKILL);
  waitpid(makers[0], nullptr, 0);
  REQUIRE(names_of(makers[0]) == 1);
  std::unique_ptr<Offer> offer;
  auto segment = Segment::create({2, shape}, Access::name, offer);
  CHECK(names_of(makers[0]) == 0);
  CHECK(names_of(makers[1]) == 1);
  CHECK(names_of(getpid()) == 1);
  REQUIRE(write(done[1], &byte, 1) == 1);
  int status = 1;
  waitpid(makers[1], &status, 0);
  CHECK(status == 0);
  CHECK(names_of(makers[1]) == 0);
  for (const int end : {ready[0], ready[1], done[0], done[1]}) close(end);
}

TEST_CASE("an address that leads to another file is refused") {
  const BoardShape shape{2, 2};
  std::unique_ptr<Offer> offer, other;
  auto segment = Segment::create({2, shape}, Access::descriptor, offer);
  auto second = Segment::create({2, shape}, Access::descriptor, other);
  Address address = offer->address();
  address.inode = other->address().inode;
  CHECK_THROWS(Segment::attach(address, {2, shape}));
  CHECK_THROWS(Segment::attach(offer->address(), {1, shape}));
  CHECK_NOTHROW(Segment::attach(offer->address(), {2, shape}));
}

TEST_CASE("a process that is killed while it makes a segment leaves nothing") {
  std::size_t left = 0;
  const int killed = effort::test::killed_everywhere(
      [] {
        std::unique_ptr<Offer> offer;
        auto made = Segment::create({2, {2, 2}}, Access::descriptor, offer);
        auto mapped = Segment::attach(offer->address(), {2, {2, 2}});
        offer.reset();
      },
      [&](pid_t process) { left += names_of(process); });
  if (killed == -2) SKIP("processes may not be traced here");
  CHECK(killed > 10);
  CHECK(left == 0);
}
