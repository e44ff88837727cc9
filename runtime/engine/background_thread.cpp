#include "runtime/engine/background_thread.hpp"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace effort::engine {
namespace {

// Analysis and coding need less than a tenth of this.
constexpr std::size_t least_stack = std::size_t{4} << 20;

using Body = std::function<void()>;

extern "C" void* run_background(void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  std::fesetenv(FE_DFL_ENV);
  (*body)();
  return nullptr;
}

int create(pthread_t& thread, Body* body) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) return error;
  // Use at least the default, which has room for the host's thread-local variables.
  std::size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_setstacksize(&attributes, std::max(stack, least_stack));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, &attributes, run_background, body);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

void BackgroundThread::start(Body body) {
  join();
  auto owned = std::make_unique<Body>(std::move(body));
  if (const int error = create(thread_, owned.get())) throw std::system_error(error, std::generic_category());
  static_cast<void>(owned.release());  // the thread deletes it
  started_ = true;
}

void BackgroundThread::join() {
  if (std::exchange(started_, false)) pthread_join(thread_, nullptr);
}

void BackgroundThread::detach() {
  if (std::exchange(started_, false)) pthread_detach(thread_);
}

}  // namespace effort::engine
