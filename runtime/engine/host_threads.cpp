#include "runtime/engine/host_threads.hpp"

#include "record/descriptor.hpp"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace effort::engine {

bool host_threads_have_ended(int own) noexcept {
  char text[1024];
  const record::Descriptor file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.is_open() ? ::read(file.number(), text, sizeof text - 1) : -1;
  if (n <= 0) return false;
  text[n] = '\0';
  // proc(5): the state follows the name, which may contain anything; the number of threads is 17 fields later.
  const char* const after_name = std::strrchr(text, ')');
  char state = 0;
  long threads = 0;
  if (!after_name ||
      std::sscanf(after_name + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
                  &threads) != 2)
    return false;
  return state == 'Z' && threads <= own + 1;  // a main thread that has ended counts as one
}

}  // namespace effort::engine
