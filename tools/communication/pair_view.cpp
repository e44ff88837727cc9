// Two ranks of a trace.
#include <algorithm>
#include <map>
#include <memory>

#include "tools/communication/pairs_output.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using communication::none;
using communication::PairMessage;
using nlohmann::ordered_json;
using Align = Table::Align;

namespace {

constexpr std::size_t pair_rows = 20;

std::uint64_t bytes_of(const PairView& v, const PairMessage& m) { return v.trace.record.messages[m.message].bytes; }

std::string path_of(const PairView& v, std::uint32_t path) {
  return path == none ? "" : communication::path_text(v.trace.record, *v.tree, path);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? -1 : values[values.size() / 2];
}

std::string answer(const PairView& v) {
  const std::string both = "Ranks " + std::to_string(v.a) + " and " + std::to_string(v.b);
  if (v.details.messages.empty()) return both + " exchanged no message with both ends in the trace.\n";
  double bytes = 0, gain = 0;
  std::size_t outliers = 0;
  for (const PairMessage& m : v.details.messages) {
    bytes += static_cast<double>(bytes_of(v, m));
    outliers += m.outlier ? 1 : 0;
  }
  for (const communication::Pack& p : v.details.packs) gain += p.gain_ns;
  std::string out =
      both + " exchanged " + count_text(v.details.messages.size(), "message") + " with " + bytes_text(bytes) + ".\n";
  const communication::TransferFit& fit = v.details.fit;
  if (fit.known) {
    out += "A message takes " + nanoseconds_text(fit.latency_ns) + " and " + nanoseconds_text(1e6 * fit.ns_per_byte) +
           " for each MB (10^6 bytes), within " + nanoseconds_text(fit.spread_ns) + " for half of them; " +
           count_text(outliers, "message") + " took much longer.\n";
  } else {
    out += "A message takes " + nanoseconds_text(fit.latency_ns) + ", within " + nanoseconds_text(fit.spread_ns) +
           " for half of them; the cost per byte cannot be told from these sizes.\n";
  }
  if (gain > 0) out += "Combining small messages of a step would save up to " + nanoseconds_text(gain) + ".\n";
  return out;
}

std::string sizes_table(const PairView& v) {
  std::map<std::uint64_t, std::vector<double>> sizes;
  for (const PairMessage& m : v.details.messages)
    if (m.ns >= 0) sizes[bytes_of(v, m)].push_back(static_cast<double>(m.ns));
  std::vector<std::pair<std::uint64_t, std::vector<double>>> rows(sizes.begin(), sizes.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  rows.resize(std::min(rows.size(), pair_rows));
  std::sort(rows.begin(), rows.end());
  Table table({{"size"}, {"messages"}, {"shortest"}, {"median"}, {"longest"}});
  for (const auto& [size, times] : rows) {
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    table.add({bytes_text(static_cast<double>(size)), std::to_string(times.size()), nanoseconds_text(*least),
               nanoseconds_text(median_of(times)), nanoseconds_text(*most)});
  }
  return "\nTime by size" +
         (rows.size() < sizes.size() ? ", the most frequent " + std::to_string(rows.size()) + " sizes" : "") + "\n" +
         table.text();
}

/// Sizes, and communication, over the time of the run.
std::string course_table(const PairView& v) {
  const PairCourse course = course_of(v, 10);
  const std::vector<PairInterval>& rows = course.intervals;
  const double width = course.width_ns;
  Table table({{"from"}, {"to"}, {"messages"}, {"bytes"}, {"smallest"}, {"largest"}, {"communicating"}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PairInterval& row = rows[i];
    if (row.messages == 0 && row.ns <= 0) continue;
    const std::string smallest = row.messages == 0 ? "" : bytes_text(static_cast<double>(row.least));
    table.add({nanoseconds_text(width * static_cast<double>(i)), nanoseconds_text(width * static_cast<double>(i + 1)),
               std::to_string(row.messages), bytes_text(row.bytes), smallest,
               row.messages == 0 ? "" : bytes_text(static_cast<double>(row.most)), percent_text(row.ns / width)});
  }
  return "\nSizes, and time of messages as a share of the run's, from the pair's first message on\n" + table.text();
}

std::string paths_table(const PairView& v) {
  Table table({{"from"}, {"to"}, {"call path", Align::left}, {"messages"}, {"bytes"}, {"time"}});
  for (const communication::Flow& f : v.flows)
    table.add({std::to_string(f.a), std::to_string(f.b), name_text(path_of(v, f.path), 60), std::to_string(f.messages),
               bytes_text(static_cast<double>(f.bytes)), nanoseconds_text(f.ns)});
  return "\nCall paths of both ends\n" + table.text();
}

std::string packs_table(const PairView& v) {
  if (v.details.packs.empty()) return "";
  Table table({{"sent by"}, {"first sent in", Align::left}, {"messages"}, {"into"}, {"bytes"}, {"saves"}});
  for (const communication::Pack& p : v.details.packs)
    table.add({std::to_string(p.from_a ? v.a : v.b), name_text(path_of(v, p.path), 60), std::to_string(p.messages),
               std::to_string(p.packs), bytes_text(static_cast<double>(p.bytes)), nanoseconds_text(p.gain_ns)});
  return "\nMessages below " + bytes_text(v.details.fit.knee_bytes()) + " that could be combined\n" + table.text();
}

std::string outliers_table(const PairView& v, bool all) {
  std::vector<const PairMessage*> list;
  for (const PairMessage& m : v.details.messages)
    if (m.outlier) list.push_back(&m);
  if (list.empty()) return "";
  std::stable_sort(list.begin(), list.end(), [](const PairMessage* a, const PairMessage* b) { return a->ns > b->ns; });
  const std::size_t n = all ? list.size() : std::min(pair_rows / 2, list.size());
  Table table({{"sent by"}, {"at"}, {"size"}, {"took"}, {"call path", Align::left}});
  for (std::size_t i = 0; i < n; ++i) {
    const communication::Message& message = v.trace.record.messages[list[i]->message];
    table.add({std::to_string(message.sender), nanoseconds_text(static_cast<double>(start_of(v, *list[i]))),
               bytes_text(static_cast<double>(message.bytes)), nanoseconds_text(static_cast<double>(list[i]->ns)),
               name_text(path_of(v, v.tree->of_call[message.send_start]), 60)});
  }
  return "\nMessages that took much longer than others of their size" +
         (n < list.size() ? ", " + std::to_string(n) + " of " + std::to_string(list.size()) + " (--all shows the rest)"
                          : "") +
         "\n" + table.text();
}

}  // namespace

PairView view_pair(const CommunicationTrace& trace, std::int32_t a, std::int32_t b) {
  const auto tree = std::make_shared<const communication::CallTree>(communication::call_tree(trace.record));
  return view_pair(trace, tree, communication::message_matrix(trace.record, tree->of_call), a, b);
}

PairView view_pair(const CommunicationTrace& trace, const std::shared_ptr<const communication::CallTree>& tree,
                   const std::vector<communication::Flow>& flows, std::int32_t a, std::int32_t b) {
  PairView out{trace, a, b, tree, communication::pair_details(trace.record, a, b, tree->of_call), {}};
  for (const communication::Flow& f : flows)
    if ((f.a == a && f.b == b) || (f.a == b && f.b == a)) out.flows.push_back(f);
  return out;
}

std::int64_t start_of(const PairView& v, const PairMessage& m) {
  const communication::Message& message = v.trace.record.messages[m.message];
  return message.send_start == none ? -1 : v.trace.record.calls[message.send_start].begin_ns;
}

PairCourse course_of(const PairView& v, std::size_t intervals) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const PairMessage& m : v.details.messages)
    if (m.ns >= 0) first = std::min(first, start_of(v, m)), last = std::max(last, start_of(v, m) + m.ns);
  if (first >= last) return {};
  const double width = static_cast<double>(last - first) / static_cast<double>(intervals);
  PairCourse out{first, width, std::vector<PairInterval>(intervals)};
  for (const PairMessage& m : v.details.messages) {
    if (m.ns < 0) continue;
    const double begin = static_cast<double>(start_of(v, m) - first), end = begin + static_cast<double>(m.ns);
    const std::size_t at = std::min(static_cast<std::size_t>(begin / width), intervals - 1);
    PairInterval& in = out.intervals[at];
    ++in.messages;
    in.bytes += static_cast<double>(bytes_of(v, m));
    in.least = std::min(in.least, bytes_of(v, m));
    in.most = std::max(in.most, bytes_of(v, m));
    for (std::size_t i = at; i < intervals && width * static_cast<double>(i) < end; ++i) {
      const double from = width * static_cast<double>(i);
      out.intervals[i].ns += std::max(0.0, std::min(end, from + width) - std::max(begin, from));
    }
  }
  return out;
}

ordered_json pair_json(const PairView& v) {
  ordered_json out;
  out["a"] = v.a;
  out["b"] = v.b;
  const communication::TransferFit& fit = v.details.fit;
  const bool any = !v.details.messages.empty();
  out["fit"] = {{"latency_ns", any ? ordered_json(fit.latency_ns) : ordered_json()},
                {"ns_per_byte", fit.known ? ordered_json(fit.ns_per_byte) : ordered_json()},
                {"knee_bytes", fit.known ? ordered_json(fit.knee_bytes()) : ordered_json()},
                {"spread_ns", any ? ordered_json(fit.spread_ns) : ordered_json()}};
  ordered_json& messages = out["messages"] = ordered_json::array();
  for (const PairMessage& m : v.details.messages)
    messages.push_back({{"sender", m.from_a ? v.a : v.b},
                        {"start_ns", start_of(v, m) < 0 ? ordered_json() : ordered_json(start_of(v, m))},
                        {"bytes", bytes_of(v, m)},
                        {"ns", m.ns < 0 ? ordered_json() : ordered_json(m.ns)},
                        {"outlier", m.outlier}});
  ordered_json& paths = out["paths"] = ordered_json::array();
  for (const communication::Flow& f : v.flows)
    paths.push_back({{"sender", f.a},
                     {"path", path_of(v, f.path)},
                     {"messages", f.messages},
                     {"bytes", f.bytes},
                     {"seconds", 1e-9 * f.ns}});
  ordered_json& packs = out["packs"] = ordered_json::array();
  for (const communication::Pack& p : v.details.packs)
    packs.push_back({{"sender", p.from_a ? v.a : v.b},
                     {"path", path_of(v, p.path)},
                     {"messages", p.messages},
                     {"into", p.packs},
                     {"bytes", p.bytes},
                     {"gain_seconds", 1e-9 * p.gain_ns}});
  return out;
}

std::string pair_text(const PairView& v, bool all) {
  std::string out = answer(v);
  if (v.details.messages.empty()) return out;
  return out + sizes_table(v) + course_table(v) + paths_table(v) + packs_table(v) + outliers_table(v, all);
}

}  // namespace effort::tools
