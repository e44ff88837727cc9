// Variables of the environment.
#pragma once

#include <cstdlib>

namespace effort {

/// The value of a variable, null without one.  Where the process has more rights than who started it (set-user-ID, file
/// capabilities) there is none: settings name files to write and to read.
inline const char* environment(const char* name) noexcept { return secure_getenv(name); }

}  // namespace effort
