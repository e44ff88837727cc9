// Tries a library on a file in a child process, because a damaged file may make it crash or loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace effort::tools {

enum class Trial { returned, crashed, looped };

/// Runs `use` in a child process without output.  Errors that it throws are left to the caller, which meets the same
/// ones afterwards.
/// @param path     for the message of an error
/// @param seconds  of CPU time, after which it counts as looping
/// @throws std::system_error if no process can be started
Trial try_in_child(const std::string& path, std::uint64_t seconds, const std::function<void()>& use);

}  // namespace effort::tools
