// effort comm waits|pairs|matrix TRACE|SNAP
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "record/reader.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/commands/named_trace.hpp"
#include "tools/communication/pairs_output.hpp"
#include "tools/communication/record.hpp"
#include "tools/communication/snapshot_traffic.hpp"
#include "tools/communication/snapshot_waits.hpp"
#include "tools/communication/waits_output.hpp"
#include "tools/output/output.hpp"
#include "tools/output/terminal.hpp"
#include "tools/report/report_trace.hpp"
#include "tools/symbols/symbols.hpp"
#include "tools/trace/analysis/messages.hpp"

namespace effort::tools {

namespace {

/// The other remedy if a snapshot has no communication matrix.
constexpr const char* or_a_trace = ", or give a trace (EFFORT_TRACE=on)";

/// The trace itself is freed, because a record of many events needs the memory.
CommunicationTrace read_communication(const CommArguments& a) {
  const Trace trace = read_named_trace(a.input, a.raw_names, a.module_paths);
  return communication_of(trace, match_messages(trace));
}

SnapshotTraffic read_traffic(const CommArguments& a, const std::string& analysis) {
  record::Reader reader{std::filesystem::path(a.input)};
  reader.verify();
  SnapshotTraffic traffic = snapshot_traffic(reader);
  require_flows(traffic, reader, analysis, or_a_trace);
  if (a.raw_names) return traffic;
  Symbols symbols(reader.run().modules, {a.module_paths.begin(), a.module_paths.end()});
  for (std::string& region : traffic.regions) region = symbols.readable(region);
  return traffic;
}

/// "A-B" or "A"; nothing if empty.
std::optional<StepRange> steps_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  StepRange out;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, out.first);
  out.last = out.first;
  if (error == std::errc() && at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, out.last);
    at = second.ptr;
    error = second.ec;
  }
  if (error != std::errc() || at != end || out.first < 0 || out.last < out.first)
    throw UsageError("--steps cannot be '" + text + "': give the first and the last step, such as 20-39");
  return out;
}

/// A rank of the trace.
void check_rank(std::int32_t rank, const communication::Record& record) {
  if (rank >= 0 && rank < record.n_ranks) return;
  throw UsageError("--pair names rank " + std::to_string(rank) + ", but the trace has " +
                   count_text(static_cast<std::uint64_t>(record.n_ranks), "rank") + ": ranks count from 0");
}

}  // namespace

void run_comm_waits(const CommWaitsArguments& a) {
  const std::optional<StepRange> steps = steps_of(a.steps);
  if (!names_trace(a.input)) {
    if (steps) throw UsageError("--steps needs the windows of a trace, and this is a snapshot: give a trace");
    record::Reader reader{std::filesystem::path(a.input)};
    reader.verify();
    const KokkosSession kokkos;
    SnapshotWaits waits = snapshot_waits(reader);
    if (!waits.most) require_flows(waits.traffic, reader, "effort comm waits", or_a_trace);
    if (waits.most && !a.raw_names)
      waits.most_region =
          Symbols(reader.run().modules, {a.module_paths.begin(), a.module_paths.end()}).short_name(waits.most->region);
    a.json ? print_json(snapshot_waits_json(waits)) : print_fitted(snapshot_waits_text(waits, a.all));
    return;
  }
  const WaitFindings findings(read_communication(a), steps);
  a.json ? print_json(waits_json(findings)) : print_fitted(waits_text(findings, a.all));
}

void run_comm_pairs(const CommPairsArguments& a) {
  const auto linkage = a.linkage == "single" ? communication::Linkage::single : communication::Linkage::average;
  if (!names_trace(a.input)) {
    if (!a.pair.empty()) throw UsageError("--pair needs single messages, which a snapshot does not hold: give a trace");
    const PairFindings findings(read_traffic(a, "effort comm pairs"), linkage);
    a.json ? print_json(pairs_json(findings)) : print_fitted(pairs_text(findings, a.all));
    return;
  }
  const CommunicationTrace trace = read_communication(a);
  if (a.pair.empty()) {
    const PairFindings findings(trace.record, linkage);
    a.json ? print_json(pairs_json(findings)) : print_fitted(pairs_text(findings, a.all));
    return;
  }
  for (const std::int32_t rank : a.pair) check_rank(rank, trace.record);
  const PairView view = view_pair(trace, a.pair[0], a.pair[1]);
  a.json ? print_json(pair_json(view)) : print_fitted(pair_text(view, a.all));
}

void run_comm_matrix(const CommArguments& a) {
  std::vector<NamedFlow> flows;
  std::uint64_t unmatched = 0;
  if (names_trace(a.input)) {
    const CommunicationTrace trace = read_communication(a);
    flows = flows_of(trace.record);
    unmatched = trace.record.unmatched_sends + trace.record.unmatched_receives;
  } else {
    flows = flows_of(read_traffic(a, "effort comm matrix"));
  }
  a.json ? print_json(matrix_json(flows, unmatched)) : print_fitted(matrix_text(flows, unmatched, a.all));
}

}  // namespace effort::tools
