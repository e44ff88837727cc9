#include <algorithm>

#include "record/text.hpp"
#include "tools/communication/waits_output.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using communication::Cause;
using Align = Table::Align;

namespace {

constexpr std::size_t name_width = 60;

/// "at barriers", after "waited".
std::string cause_phrase(Cause cause) {
  switch (cause) {
    case Cause::late_sender: return "for messages that were sent late";
    case Cause::late_receiver: return "to send, for receives that were posted late";
    case Cause::barrier: return "at barriers";
    case Cause::nxn: return "at collectives in which all need data of all";
    case Cause::early_reduce: return "as the root of reductions and gathers";
    case Cause::late_broadcast: return "for the root of broadcasts and scatters";
    case Cause::early_scan: return "in prefix reductions";
  }
  return "";
}

double total_of(const WaitFindings& f, std::size_t cause) {
  double out = 0;
  for (const std::int64_t ns : f.totals[cause]) out += static_cast<double>(ns);
  return out;
}

/// "rank 12 made the others wait 3.1 s, 64 % of all waiting, in `solve`; ..."
std::string blame_sentence(const WaitFindings& f) {
  std::string out;
  std::size_t named = 0;
  for (const WaitedFor& w : f.waited_for) {
    constexpr double least_share = 0.1;
    if (named == 3 || w.delay_ns < least_share * f.total_ns || w.most.ns <= 0) break;
    out += named == 0 ? "Rank " : "; rank ";
    out += std::to_string(w.rank) + " made the others wait " + nanoseconds_text(w.delay_ns) + ", " +
           percent_text(w.delay_ns / f.total_ns) + " of all waiting, " +
           (w.most.ns < 0.995 * w.delay_ns ? "most of it " : "") +
           (w.most.before == communication::none
                ? "in `" + name_text(f.short_text(w.most.path), name_width) + "`"
                : "on the way to `" + name_text(f.short_text(w.most.before), name_width) + "`");
    ++named;
  }
  if (named > 0) return out + ".\n";
  return "No rank stands out as the one that the others wait for.\n";
}

/// In how many windows the rank and the region of the previous sentence come first, too.
std::string windows_sentence(const WaitFindings& f) {
  if (f.windows.size() < 2 || f.waited_for.empty() || f.waited_for[0].most.ns <= 0) return "";
  const WaitedFor& first = f.waited_for[0];
  std::size_t waiting = 0, rank = 0, region = 0;
  for (const WindowWaits& w : f.windows) {
    waiting += w.ns > 0 ? 1 : 0;
    if (!w.most || w.most->most.ns <= 0 || w.most->rank != first.rank) continue;
    ++rank;
    if (f.region_text(w.most->most) == f.region_text(first.most)) ++region;
  }
  return "Of the " + count_text(waiting, "window") + " in which ranks waited, it was rank " +
         std::to_string(first.rank) + " most in " + std::to_string(rank) + ", and that region in " +
         std::to_string(region) + ".\n";
}

std::string cause_sentence(const WaitFindings& f) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < communication::n_causes; ++c)
    if (total_of(f, c) > 0) order.push_back(c);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return total_of(f, a) > total_of(f, b); });
  std::string out = "All ranks together waited " + nanoseconds_text(f.total_ns);
  for (std::size_t i = 0; i < order.size(); ++i)
    out += (i == 0 ? ": " : ", ") + nanoseconds_text(total_of(f, order[i])) + " " +
           cause_phrase(static_cast<Cause>(order[i]));
  return out + ".\n";
}

}  // namespace

std::string waits_answer(const WaitFindings& f) {
  const communication::Record& record = f.trace.record;
  if (record.calls.empty()) return "There are no calls in the trace, so nothing is known about waits.\n";
  if (f.total_ns <= 0) {
    if (record.messages.empty() && record.collectives.empty())
      return "There are no messages and collectives in the trace, so it shows no waits.\n";
    return "No rank waited for another one.\n";
  }
  std::string out = blame_sentence(f) + windows_sentence(f) + cause_sentence(f);
  if (f.critical.ns > 0)
    out += "The critical path is " + nanoseconds_text(static_cast<double>(f.critical.ns)) +
           " long; with perfect balance, it "
           "would be " +
           nanoseconds_text(static_cast<double>(f.critical.imbalance_ns)) + " (" +
           percent_text(static_cast<double>(f.critical.imbalance_ns) / static_cast<double>(f.critical.ns)) +
           ") shorter.\n";
  return out;
}

namespace {

std::string ranks_table(const WaitFindings& f, bool all) {
  const std::size_t n = all ? f.waited_for.size() : std::min(rows_shown, f.waited_for.size());
  Table table({{"rank"}, {"delays", Align::right}, {"direct"}, {"mostly in", Align::left}});
  for (std::size_t i = 0; i < n; ++i) {
    const WaitedFor& w = f.waited_for[i];
    table.add({std::to_string(w.rank), nanoseconds_text(w.delay_ns), nanoseconds_text(w.direct_ns),
               w.most.ns > 0 ? name_text(f.short_path_text(w.most), name_width) : ""});
  }
  return "\nRanks that made others wait, by their delays and directly" + rows_left_out(n, f.waited_for.size()) + "\n" +
         table.text();
}

std::string paths_table(const WaitFindings& f, bool all) {
  const std::size_t n = all ? f.by_path.size() : std::min(rows_shown, f.by_path.size());
  Table table({{"call path", Align::left}, {"cause", Align::left}, {"waits"}, {"time"}, {"of all"}});
  for (std::size_t i = 0; i < n; ++i) {
    const communication::PathWaits& p = f.by_path[i];
    table.add({name_text(f.short_path_text(p.path), name_width), std::string(communication::cause_text(p.cause)),
               std::to_string(p.count), nanoseconds_text(static_cast<double>(p.ns)),
               percent_text(static_cast<double>(p.ns) / f.total_ns)});
  }
  return "\nWhere ranks waited" + rows_left_out(n, f.by_path.size()) + "\n" + table.text();
}

std::string windows_table(const WaitFindings& f, bool all) {
  if (f.windows.size() < 2) return "";
  const std::size_t n = all ? f.windows.size() : std::min(rows_shown, f.windows.size());
  Table table({{"steps"}, {"waited"}, {"rank"}, {"delays"}, {"mostly in", Align::left}});
  for (std::size_t i = 0; i < n; ++i) {
    const WindowWaits& w = f.windows[i];
    const bool known = w.most && w.most->most.ns > 0;
    table.add({std::to_string(w.first_step) + ".." + std::to_string(w.last_step), nanoseconds_text(w.ns),
               known ? std::to_string(w.most->rank) : "", known ? nanoseconds_text(w.most->delay_ns) : "",
               known ? name_text(f.short_text(w.most->most), name_width) : ""});
  }
  return "\nThe rank that made others wait most in each window" + rows_left_out(n, f.windows.size()) + "\n" +
         table.text();
}

std::string critical_table(const WaitFindings& f, bool all) {
  const auto& activities = f.critical.activities;
  const std::size_t n = all ? activities.size() : std::min(rows_shown, activities.size());
  Table table({{"rank"}, {"call path", Align::left}, {"time"}, {"of the path"}});
  for (std::size_t i = 0; i < n; ++i) {
    const communication::CriticalActivity& a = activities[i];
    table.add({std::to_string(a.rank), name_text(f.short_path_text(a.path), name_width),
               nanoseconds_text(static_cast<double>(a.ns)),
               percent_text(static_cast<double>(a.ns) / static_cast<double>(f.critical.ns))});
  }
  return "\nCritical path" + rows_left_out(n, activities.size()) + "\n" + table.text();
}

/// Bound on the error of the difference between the times of two ranks; in a reduced trace, of nine out of ten.
double time_error_ns(const communication::Record& record) {
  std::int64_t stamps = 0;
  for (const communication::Span& span : record.spans) stamps = std::max(stamps, span.stamp_error_ns);
  return static_cast<double>(record.clock_error_ns + 2 * stamps);
}

}  // namespace

std::vector<std::string> waits_limits(const WaitFindings& f) {
  const communication::Record& record = f.trace.record;
  std::vector<std::string> out;
  if (record.unmatched_sends + record.unmatched_receives > 0)
    out.push_back(count_text(record.unmatched_sends, "send") + " and " +
                  count_text(record.unmatched_receives, "receive") +
                  " lack their other end: waits for them are not known");
  if (f.waits.lower_bounds > 0)
    out.push_back("ranks are missing in " + count_text(f.waits.lower_bounds, "collective") +
                  ": waits there count only the recorded ranks, and may have been longer");
  if (f.waits.unknown > 0)
    out.push_back("nothing is known about the waits at " + count_text(f.waits.unknown, "collective") +
                  " whose root is missing or whose calls contradict each other");
  if (f.waits.unfinished > 0)
    out.push_back("the trace does not say which call completed a non-blocking collective in " +
                  count_text(f.waits.unfinished, "case") + ": waits there are not known");
  if (f.waits.reversed > 0) {
    const double error = time_error_ns(record);
    out.push_back(count_text(f.waits.reversed, "message") + " arrived before being sent, by up to " +
                  nanoseconds_text(static_cast<double>(f.waits.largest_reversal)) +
                  (error > 0 ? " (clocks and reduction may account for " + nanoseconds_text(error) + ")" : "") +
                  ": waits are cut off at the end of their calls");
  }
  if (f.total_ns > 0 && f.unexplained_ns > 0.001 * f.total_ns)
    out.push_back(nanoseconds_text(f.unexplained_ns) + " of the waiting (" +
                  percent_text(f.unexplained_ns / f.total_ns) +
                  ") cannot be traced to a delay of the rank that was waited for: latency, transfers, clocks");
  out.insert(out.end(), f.trace.notes.begin(), f.trace.notes.end());
  return out;
}

std::string waits_text(const WaitFindings& f, bool all) {
  std::string out = waits_answer(f);
  if (f.total_ns > 0) out += ranks_table(f, all) + windows_table(f, all) + paths_table(f, all);
  if (f.critical.ns > 0) out += critical_table(f, all);
  const std::vector<std::string> sentences = waits_limits(f);
  if (!sentences.empty()) out += "\nTrust\n";
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (i >= 2 * rows_shown && !all) {
      out += "  " + std::to_string(sentences.size() - i) + " more (--all shows them)\n";
      break;
    }
    out += "  " + record::visible(sentences[i]) + "\n";
  }
  return out;
}

}  // namespace effort::tools
