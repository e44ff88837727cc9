// Finds the operation of a persistent collective, which is named in the call that prepares it, not in the one that
// starts it.
#pragma once

#include <set>

#include "tools/trace/model/trace.hpp"

namespace effort::tools {

class PersistentCollectives {
 public:
  /// Takes the operations that the program has prepared from the names of its regions.
  explicit PersistentCollectives(const Trace& trace);

  /// The OTF2_CollectiveOp of a started one; -1: ambiguous.
  int operation(const TraceEvent& event) const;

 private:
  std::set<int> prepared_;
};

}  // namespace effort::tools
