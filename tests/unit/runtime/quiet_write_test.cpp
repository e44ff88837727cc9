#include "runtime/quiet_write.hpp"

#include <catch2/catch_test_macros.hpp>

#include <unistd.h>

using effort::WriteSignalsHeld;

namespace {

volatile sig_atomic_t caught = 0;

void note(int) { caught = caught + 1; }

int write_to_closed_pipe() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const int error = write(ends[1], "x", 1) < 0 ? errno : 0;
  close(ends[1]);
  return error;
}

}  // namespace

TEST_CASE("the signal of a failed write is withheld from the host, and no other one") {
  struct sigaction action {
  }, before;
  action.sa_handler = note;
  sigaction(SIGPIPE, &action, &before);
  caught = 0;
  {
    WriteSignalsHeld held;
    held.failed(write_to_closed_pipe());
    held.failed(write_to_closed_pipe());
  }
  CHECK(caught == 0);
  {
    WriteSignalsHeld held;
    kill(getpid(), SIGPIPE);  // of the host, while the library writes
    held.failed(0);
  }
  CHECK(caught == 1);
  {
    WriteSignalsHeld held;
    kill(getpid(), SIGPIPE);
    held.failed(write_to_closed_pipe());
  }
  CHECK(caught == 2);
  sigaction(SIGPIPE, &before, nullptr);
}
