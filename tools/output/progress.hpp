// The progress of a long command.
#pragma once

#include <string>

#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"

namespace effort::tools {

/// A line on standard error that appears when work takes longer than a second and is erased at its end.  Nothing is
/// written if standard error is not a terminal that can erase a line.
class Progress {
 public:
  /// @param what   "exporting"
  /// @param total  amount of work, > 0, in any unit
  Progress(const std::string& what, double total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports the amount of work done so far.
  void advance(double amount);

 private:
  void show(double seconds);

  std::string what_;
  double total_, done_ = 0;
  double shown_at_ = 0;  ///< seconds since the start; 0: not yet
  Terminal terminal_;
  Stopwatch watch_;
};

}  // namespace effort::tools
