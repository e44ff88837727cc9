#include "runtime/engine/rank_watch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <csignal>
#include <semaphore>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using effort::engine::RankWatch;

namespace {

/// A process that sleeps until it is killed.
struct Child {
  pid_t process = fork();
  Child() {
    if (process == 0) {
      pause();
      _exit(0);
    }
  }
  ~Child() { end(); }
  void end() {
    if (process <= 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    process = 0;
  }
};

}  // namespace

TEST_CASE("the end of a process is noticed, and that of no other") {
  Child first, second;
  std::counting_semaphore<> news(0);
  RankWatch watch({0, getpid(), first.process, second.process}, [&] { news.release(); });
  CHECK_FALSE(watch.ended(2));
  second.end();
  REQUIRE(news.try_acquire_for(std::chrono::seconds(60)));
  CHECK(watch.ended(3));
  for (const std::size_t alive : {0, 1, 2}) CHECK_FALSE(watch.ended(alive));
  first.end();
  REQUIRE(news.try_acquire_for(std::chrono::seconds(60)));
  CHECK(watch.ended(2));
}

TEST_CASE("processes that end before or without a watch") {
  Child child;
  const pid_t gone = child.process;
  child.end();
  const RankWatch watch({gone, 0}, [] {});  // ends, although no process is watched
  CHECK_FALSE(watch.ended(0));
}

TEST_CASE("a watch ends although the host has closed its descriptors, and leaves the host's alone") {
  Child child;
  std::vector<int> of_host;
  {
    const RankWatch watch({child.process, child.process}, [] {});
    for (int d = 3; d < 64; ++d) close(d);
    for (int i = 0; i < 8; ++i) of_host.push_back(open("/dev/zero", O_RDONLY));  // readable at once
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));                // longer than one poll
    CHECK_FALSE(watch.ended(0));
  }
  for (const int d : of_host) {
    CHECK(fcntl(d, F_GETFD) >= 0);
    close(d);
  }
}
