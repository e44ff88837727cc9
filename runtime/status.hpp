// The errors of the library, with the codes that the C API returns.
#pragma once

#include <stdexcept>
#include <string>

namespace effort {

/// Same values as effort_status in the C header (checked there at compile time).
enum class Status : int {
  ok = 0,
  invalid_argument = -1,
  not_initialized = -2,
  already_initialized = -3,
  unknown_id = -4,
  nesting = -5,
  limit = -6,
  conflict = -7,
  config = -8,
  mpi = -9,
  memory = -10,
  io = -11,
  unsupported = -12,
  callback = -13,
  internal = -14,
  switched_off = -15,
  state = -16,
  no_hint = -17,
};

/// An error with its code; what() states the problem, the reason and the remedy.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace effort
