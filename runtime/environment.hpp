// Environment variables.
#pragma once

#include <cstdlib>

namespace effort {

/// The value of a variable; null if it is not set.  Always null in a process that has more rights than the user who
/// started it (set-user-ID, file capabilities), because settings name files to read and write.
inline const char* environment(const char* name) noexcept { return secure_getenv(name); }

}  // namespace effort
