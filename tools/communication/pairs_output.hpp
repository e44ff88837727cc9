// Pairs of ranks that communicate, for people and for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analytics/communication/call_tree.hpp"
#include "analytics/communication/matrix.hpp"
#include "analytics/communication/pair_details.hpp"
#include "analytics/communication/pairs.hpp"
#include "analytics/communication/sparse_linkage.hpp"
#include "tools/communication/record.hpp"
#include "tools/communication/snapshot_traffic.hpp"

namespace effort::tools {

/// The pairs of a trace or snapshot, and their dendrogram.
/// Errors: std::runtime_error if there are more than 2^22 ranks.
struct PairFindings {
  PairFindings(const communication::Record& record, communication::Linkage linkage);
  /// The time of a pair is what both ranks spent in calls for it: a snapshot does not know when messages arrived.
  PairFindings(const SnapshotTraffic& traffic, communication::Linkage linkage);

  std::int32_t n_ranks = 0;
  std::vector<std::int32_t> node_of;
  communication::Linkage method;
  bool of_snapshot = false;
  communication::Pairs pairs;
  std::vector<communication::Merge> linkage;

 private:
  void link();
};

nlohmann::ordered_json pairs_json(const PairFindings& findings);
/// @param all  every pair instead of one screen
std::string pairs_text(const PairFindings& findings, bool all);

/// Two ranks of a trace.
struct PairView {
  const CommunicationTrace& trace;
  std::int32_t a = 0, b = 0;
  communication::CallTree tree;
  communication::PairDetails details;
  std::vector<communication::Flow> flows;  ///< between the two
};
PairView view_pair(const CommunicationTrace& trace, std::int32_t a, std::int32_t b);
nlohmann::ordered_json pair_json(const PairView& view);
std::string pair_text(const PairView& view, bool all);

/// A flow with its path as text.
struct NamedFlow {
  std::int32_t a = 0, b = 0;
  std::string path;
  double messages = 0, bytes = 0, seconds = 0;
};
std::vector<NamedFlow> flows_of(const communication::Record& record);
std::vector<NamedFlow> flows_of(const SnapshotTraffic& traffic);
nlohmann::ordered_json matrix_json(const std::vector<NamedFlow>& flows);
std::string matrix_text(const std::vector<NamedFlow>& flows, bool all);

}  // namespace effort::tools
