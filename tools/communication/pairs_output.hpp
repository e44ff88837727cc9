// Pairs of ranks that communicate, for people and for programs.
#pragma once

#include <cstdint>
#include <memory>
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

struct PairTraffic;

/// The pairs of a trace or snapshot, and their dendrogram.
/// Errors: std::runtime_error if there are more than 2^22 ranks.
struct PairFindings {
  PairFindings(const communication::Record& record, communication::Linkage linkage);
  /// The time of a pair is the time that both ranks spent in calls for it, because a snapshot has no arrival times of
  /// messages.
  PairFindings(const SnapshotTraffic& traffic, communication::Linkage linkage);
  PairFindings(const record::Run& run, const std::vector<PairTraffic>& cells, communication::Linkage linkage);

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
/// The ranks that spent the most time on each other, in sentences of a line each.
std::string pairs_answer(const PairFindings& findings);
/// @param all  every pair instead of one screen
std::string pairs_text(const PairFindings& findings, bool all);

/// Two ranks of a trace.
struct PairView {
  const CommunicationTrace& trace;
  std::int32_t a = 0, b = 0;
  std::shared_ptr<const communication::CallTree> tree;
  communication::PairDetails details;
  std::vector<communication::Flow> flows;  ///< between the two
};
PairView view_pair(const CommunicationTrace& trace, std::int32_t a, std::int32_t b);
/// The same for one of many pairs, without a search for call paths each time.
/// @param flows  message_matrix of the trace
PairView view_pair(const CommunicationTrace& trace, const std::shared_ptr<const communication::CallTree>& tree,
                   const std::vector<communication::Flow>& flows, std::int32_t a, std::int32_t b);

/// An interval of a pair's time.
struct PairInterval {
  std::size_t messages = 0;
  double bytes = 0;
  double ns = 0;  ///< of messages under way; may exceed the interval where several are
  std::uint64_t least = ~std::uint64_t{0}, most = 0;  ///< sizes
};
/// The pair's time from its first message to the end of its last one, in equal intervals.
struct PairCourse {
  std::int64_t first_ns = 0;
  double width_ns = 0;
  std::vector<PairInterval> intervals;  ///< empty if the times of messages are not known
};
PairCourse course_of(const PairView& view, std::size_t intervals);
/// When a message of the pair was sent; -1: not known.
std::int64_t start_of(const PairView& view, const communication::PairMessage& message);
nlohmann::ordered_json pair_json(const PairView& view);
std::string pair_text(const PairView& view, bool all);

/// A flow with its path as text.
struct NamedFlow {
  std::int32_t a = 0, b = 0;
  std::string path;
  double messages = 0, bytes = 0, seconds = 0;
  std::vector<communication::SizeCount> sizes;
};
std::vector<NamedFlow> flows_of(const communication::Record& record);
std::vector<NamedFlow> flows_of(const SnapshotTraffic& traffic);
/// @param unmatched  messages of which the trace has only one end; they are not in the matrix
nlohmann::ordered_json matrix_json(const std::vector<NamedFlow>& flows, std::uint64_t unmatched);
std::string matrix_text(const std::vector<NamedFlow>& flows, std::uint64_t unmatched, bool all);

}  // namespace effort::tools
