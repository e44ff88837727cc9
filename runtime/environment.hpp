// Variables of the environment.
#pragma once

#include <cstdlib>

namespace effort {

/// The value of a variable, or null.  In a process with more rights than its user (set-user-ID, file capabilities) no
/// variable is seen, because settings name files to read and write.
inline const char* environment(const char* name) noexcept { return secure_getenv(name); }

}  // namespace effort
