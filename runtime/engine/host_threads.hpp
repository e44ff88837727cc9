// Whether a process still has threads of its host.
#pragma once

namespace effort::engine {

/// True if the host's main thread has left by pthread_exit() and no other thread of the host runs: the process would
/// then live on for the library alone.  Reads /proc/self/stat, some 10 microseconds.
/// @param own  the library's threads
bool host_threads_have_ended(int own) noexcept;

}  // namespace effort::engine
