// The operation of a persistent collective, which was given where it was prepared, not where it is started.
#pragma once

#include <set>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

class PersistentCollectives {
 public:
  /// Takes the operations that the program has prepared from the names of its regions.
  explicit PersistentCollectives(const Trace& trace);

  /// The OTF2_CollectiveOp of a started one; -1: several could be meant.
  int operation(const TraceEvent& event) const;

 private:
  std::set<int> prepared_;
};

}  // namespace effort::tools
