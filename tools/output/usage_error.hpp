// Mistakes in a command's arguments, and checks that do not hold.
#pragma once

#include <exception>
#include <stdexcept>

namespace effort::tools {

/// Arguments that are well-formed but not meaningful: the program ends with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A check has found, and printed, that something does not hold: the program ends with 3.
class CheckFailed : public std::exception {};

}  // namespace effort::tools
