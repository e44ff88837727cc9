// The messages of pairs as the report page shows them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analytics/codec/bytes.hpp"
#include "tools/report/report_communication.hpp"
#include "tools/report/report_data.hpp"

namespace effort::tools {

using communication::Pair;
using communication::PairMessage;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_pair_pages = 100;
constexpr std::size_t most_messages = 3000;                       // of a pair
constexpr std::size_t most_outliers = most_messages / 3;          // of these
constexpr std::size_t most_message_looks = std::size_t{1} << 28;  // at messages, for all pairs together
constexpr std::size_t intervals = 120;

/// The messages with a known start that are shown, by time: outliers first, the longest of them if they are too many,
/// and every n-th of the others.
std::vector<PairMessage> chosen(const PairView& view) {
  std::vector<PairMessage> outliers, others;
  for (const PairMessage& m : view.details.messages)
    if (start_of(view, m) >= 0) (m.outlier ? outliers : others).push_back(m);
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const PairMessage& a, const PairMessage& b) { return a.ns > b.ns; });
  outliers.resize(std::min(outliers.size(), most_outliers));
  const std::size_t room = most_messages - outliers.size();
  std::vector<PairMessage> out = std::move(outliers);
  const std::size_t stride = std::max<std::size_t>(1, (others.size() + room - 1) / room);
  for (std::size_t i = 0; i < others.size(); i += stride) out.push_back(others[i]);
  std::stable_sort(out.begin(), out.end(),
                   [&](const PairMessage& a, const PairMessage& b) { return start_of(view, a) < start_of(view, b); });
  return out;
}

ordered_json details(const PairView& view, std::int64_t origin_ns) {
  ordered_json out = pair_json(view);
  const std::vector<PairMessage> messages = chosen(view);
  std::vector<std::byte> bytes;
  std::int64_t last = origin_ns;
  for (const PairMessage& m : messages) {
    const std::int64_t start = std::max(start_of(view, m), last);
    codec::put_varint(bytes, static_cast<std::uint64_t>(start - last));
    codec::put_varint(bytes, m.ns < 0 ? 0 : static_cast<std::uint64_t>(m.ns) + 1);
    codec::put_varint(bytes, view.trace.record.messages[m.message].bytes);
    codec::put_varint(bytes, (m.outlier ? 2u : 0u) + (m.from_a ? 1u : 0u));
    last = start;
  }
  out["messages"] = base64(bytes);
  out["messages_count"] = messages.size();
  out["left_out"] = view.details.messages.size() - messages.size();
  out["outliers"] = std::count_if(view.details.messages.begin(), view.details.messages.end(),
                                  [](const PairMessage& m) { return m.outlier; });
  const PairCourse course = course_of(view, intervals);
  ordered_json shares = ordered_json::array();
  for (const PairInterval& i : course.intervals)
    shares.push_back(course.width_ns > 0 ? std::min(1e3, i.ns / course.width_ns) : 0.0);
  out["course"] = {{"first", course.first_ns - origin_ns}, {"width", course.width_ns}, {"share", std::move(shares)}};
  return out;
}

}  // namespace

ordered_json pair_details_json(const CommunicationTrace& trace,
                               const std::shared_ptr<const communication::CallTree>& tree,
                               const std::vector<communication::Flow>& flows, const PairFindings& pairs,
                               std::int64_t origin_ns, std::size_t most_bytes) {
  std::vector<const Pair*> order;
  for (const Pair& pair : pairs.pairs.pairs) order.push_back(&pair);
  std::stable_sort(order.begin(), order.end(), [](const Pair* a, const Pair* b) { return a->time_ns > b->time_ns; });
  const std::size_t looks = most_message_looks / (trace.record.messages.size() + flows.size() + 1);
  order.resize(std::min({order.size(), most_pair_pages, std::max<std::size_t>(looks, 1)}));
  ordered_json out = ordered_json::array();
  for (const Pair* pair : order) {
    ordered_json one = details(view_pair(trace, tree, flows, pair->a, pair->b), origin_ns);
    const std::size_t bytes = one["messages"].get_ref<const std::string&>().size();
    if (bytes > most_bytes) break;
    most_bytes -= bytes;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace effort::tools
