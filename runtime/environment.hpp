// Environment variables.
#pragma once

#include <cstdlib>

#include <sys/auxv.h>

namespace effort {

/// The value of a variable; null if it is not set.  Always null in a process that has more rights than the user who
/// started it (set-user-ID, file capabilities), because settings name files to read and write.
inline const char* environment(const char* name) noexcept { return secure_getenv(name); }

/// Whether this process has more rights than the user who started it.  Libraries that take files or code from the
/// user's environment must not be called then.
inline bool privileged() noexcept { return getauxval(AT_SECURE) != 0; }

}  // namespace effort
