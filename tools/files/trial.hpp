// Tries a library on a file in a child process, because a damaged file may make it crash or loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace effort::tools {

enum class Trial { returned, crashed, looped };

/// Runs `use` in a child process without output.
/// @param path     for the message of an error
/// @param seconds  of CPU time, after which it counts as looping
/// @throws std::runtime_error the error that `use` throws: the caller must not use the file then, because the library
///         may have damaged the child's memory before it reported the error
/// @throws std::system_error if no process can be started
Trial try_in_child(const std::string& path, std::uint64_t seconds, const std::function<void()>& use);

}  // namespace effort::tools
