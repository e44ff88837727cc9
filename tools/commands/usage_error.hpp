// Mistakes in a command's arguments.
#pragma once

#include <stdexcept>

namespace effort::tools {

/// Arguments that are well-formed but not meaningful: the program ends with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace effort::tools
