// The ranks that a trace of a replayed run would keep (effort replay --trace).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analytics/sampling/sample_size.hpp"
#include "analytics/window/window.hpp"

namespace effort::tools {

/// Chooses ranks in each described window, as the runtime does with TRACE=on.
class ReplayedTrace {
 public:
  ReplayedTrace(int nodes, sampling::Accuracy accuracy);

  /// A node's window.  Calls of different nodes may run concurrently.
  void add(int node, const window::Input& input, const window::Result& result);

  nlohmann::ordered_json json() const;
  /// Empty if the recording had no described window.
  std::string text() const;

 private:
  struct Choice {
    std::int64_t kept = 0, drawn = 0;  ///< ranks of the run
    std::int64_t on_node = 0;          ///< kept ones of this node
    double reached = -1;               ///< relative error at the requested confidence
    double seconds = 0;                ///< of CPU time
  };
  struct Node {
    std::vector<double> load, predicted;  ///< of the last window
    std::vector<Choice> windows;
  };
  /// Of all nodes.
  Choice slowest(std::size_t window) const;
  double mean_seconds() const;

  sampling::Accuracy accuracy_;
  std::vector<Node> nodes_;
};

}  // namespace effort::tools
