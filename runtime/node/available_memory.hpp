// How much memory the machine, or the control group of this process, has left.
#pragma once

#include <cstdint>
#include <string>

namespace effort::node {

/// Bytes that this process could still use: the kernel's estimate, or less if a control group (version 1 or 2) above
/// the process is limited.  Files that a group could drop from the page cache count as free.  Reads a few files of
/// /proc and /sys; UINT64_MAX if they do not say.
/// @param root  before /proc and /sys; other than empty in tests
std::uint64_t available_memory(const std::string& root = {});

/// The largest trace memory of a rank: all ranks of a machine together take at most a quarter of what is available.
std::uint64_t trace_memory_limit(std::uint64_t available, int ranks_on_machine);

}  // namespace effort::node
