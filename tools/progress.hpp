// How far a long command is.
#pragma once

#include <string>

#include "tools/output.hpp"
#include "tools/terminal.hpp"

namespace effort::tools {

/// A line on standard error while work takes longer than a second, gone at its end.  Only where standard error is a
/// terminal that can take a line back; else nothing is ever written.
class Progress {
 public:
  /// @param what   "exporting"
  /// @param total  amount of work, > 0, in any unit
  Progress(std::string what, double total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So much of the work is done now.
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
