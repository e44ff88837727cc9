#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "record/text.hpp"
#include "tools/output/output.hpp"
#include "tools/trace/info/info.hpp"
#include "tools/view/info_text.hpp"

namespace effort::tools {

namespace {

using Align = Table::Align;
constexpr std::size_t most_windows = 8, most_calls = 20;

/// "1,234,567".
std::string grouped(double value) {
  std::string digits = std::to_string(std::llround(std::abs(value)));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return (value <= -0.5 ? "-" : "") + digits;
}

std::string grouped_count(std::uint64_t count, const std::string& noun) {
  return grouped(static_cast<double>(count)) + " " + noun + (count == 1 ? "" : "s");
}

/// "100", or "90 to 110".
std::string range(std::size_t least, std::size_t most) {
  return least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
}

/// "90.0 %", "99.99 %".
std::string confidence_text(double confidence) {
  if (confidence <= 0.999) return percent_text(confidence);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g %%", 100 * confidence);
  return text.data();
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// Why ranks were kept, counted over windows.
struct Tally {
  std::set<std::int32_t> ranks, partners;
  std::size_t least_sample = ~std::size_t{0}, most_sample = 0, most_strata = 0, sampled_windows = 0;
  std::size_t known = 0, accurate = 0;  ///< windows with a known error, and with at most the requested one
  std::array<std::size_t, record::trace::n_reasons> reasons{};  ///< of ranks that are not in the sample
  double worst_error = -1;

  explicit Tally(const Trace& trace) {
    for (const TraceWindow& window : trace.windows) {
      std::size_t sampled = 0;
      for (const KeptRank& kept : window.ranks) {
        (kept.partner_only() ? partners : ranks).insert(kept.rank);
        sampled += kept.sampled() ? 1 : 0;
        for (int i = 1; i < record::trace::n_reasons && !kept.sampled() && !kept.partner_only(); ++i)
          reasons[static_cast<std::size_t>(i)] += (kept.reasons & 1 << i) != 0 ? 1 : 0;
      }
      if (sampled > 0) {
        ++sampled_windows;
        least_sample = std::min(least_sample, sampled);
        most_sample = std::max(most_sample, sampled);
      }
      most_strata = std::max(most_strata, window.strata.size());
      worst_error = std::max(worst_error, window.error);
      known += window.error >= 0 ? 1 : 0;
      accurate += window.error >= 0 && window.error <= trace.error * (1 + 1e-9) ? 1 : 0;
    }
  }
};

std::string steps_text(const Trace& trace) {
  const std::int64_t first = trace.windows.front().first_step, last = trace.windows.back().last_step;
  return "steps " + std::to_string(first) + " to " + std::to_string(last);
}

/// The recording of another tool, which holds everything.
std::string whole_answer(const Trace& trace) {
  std::string out = "This archive of " + name_text(trace.recorder, 60) + " holds all that " +
                    plural(trace.n_ranks, "rank") + " recorded";
  if (!trace.windows.empty())
    out += ", " + seconds_text(1e-9 * static_cast<double>(trace.windows[0].end_ns - trace.windows[0].start_ns));
  return out + ". Nothing was sampled: the sums below are exact.\n";
}

std::string sampled_answer(const Trace& trace, const Tally& tally) {
  std::string out = "Of " + plural(trace.n_ranks, "rank") + ", " + std::to_string(tally.ranks.size()) +
                    (tally.ranks.size() == 1 ? " was" : " were") + " kept in at least one of " +
                    plural(static_cast<std::int64_t>(trace.windows.size()), "window") + " (" + steps_text(trace) +
                    ").\n";
  const std::size_t n = trace.windows.size();
  if (tally.sampled_windows == 0) {
    out += "None was drawn at random.";
  } else {
    out += (tally.sampled_windows == n ? "In each window, "
                                       : "In " + std::to_string(tally.sampled_windows) + " of the windows, ") +
           range(tally.least_sample, tally.most_sample) + " of them " + (tally.most_sample == 1 ? "was" : "were") +
           " drawn at random" +
           (tally.most_strata > 1 ? " from up to " + std::to_string(tally.most_strata) + " strata" : "") +
           (tally.most_sample == 1 ? " and stands" : " and stand") + " for all ranks.";
  }
  const auto times = [&](int reason) { return plural(static_cast<std::int64_t>(tally.reasons[reason]), "time"); };
  std::vector<std::string> others, saved;
  for (int i = 1; i < record::trace::n_reasons; ++i) {
    if (tally.reasons[static_cast<std::size_t>(i)] == 0) continue;
    const int reason = 1 << i;
    if (reason == record::trace::reason_snapshot)
      saved.push_back(times(i) + " for effort_snapshot");
    else if (reason == record::trace::reason_lost)
      saved.push_back(times(i) + " because a rank of the node was lost");
    else
      others.push_back(std::string(record::trace::reason_text(i)) + " " + times(i));
  }
  if (!others.empty()) out += " Others were kept for other reasons: " + join(others) + ".";
  if (!saved.empty()) out += " Others were saved because they were still in memory: " + join(saved) + ".";
  if (!tally.partners.empty())
    out += " Of " + plural(static_cast<std::int64_t>(tally.partners.size()), "partner") +
           " only the messages with kept ranks were recorded.";
  if (trace.without_end && !trace.without_end->empty())
    out += " The trace has no end" +
           (static_cast<std::int32_t>(trace.without_end->size()) < trace.n_nodes
                ? " on " + std::to_string(trace.without_end->size()) + " of " + plural(trace.n_nodes, "node")
                : std::string()) +
           ".";
  if (trace.damaged_chunks > 0)
    out += " Parts of the files are damaged, so what they held is missing in all that follows.";
  return out + "\n";
}

std::string accuracy_answer(const Trace& trace, const Tally& tally) {
  const std::string guide = trace.guide.empty() ? "load" : name_text(trace.guide);
  if (tally.worst_error < 0) return "";
  std::string out = "From the sample, the mean " + guide + " of all ranks is known within " +
                    percent_text(tally.worst_error) + " in every window" +
                    (tally.sampled_windows < trace.windows.size() ? " with a sample" : "") + ", with a confidence of " +
                    confidence_text(trace.confidence);
  if (trace.error > 0)
    out += tally.accurate == tally.known
               ? ", as asked for (" + percent_text(trace.error) + ")"
               : "; the requested " + percent_text(trace.error) + " are reached in " + std::to_string(tally.accurate) +
                     " of " + plural(static_cast<std::int64_t>(tally.known), "window");
  return out + ".\n";
}

/// "4.1e9 calls"; the largest path.
std::string calls_answer(const TraceFindings& f) {
  sampling::Estimate count, seconds;
  for (const CallEstimate& call : f.calls.calls) count += call.count, seconds += call.seconds;
  if (f.calls.windows == 0) return "No window has a sample, so nothing can be said about all ranks.\n";
  if (f.calls.calls.empty()) return "There are no calls in it.\n";
  const CallEstimate& first = f.calls.calls[0];
  std::string out = std::string("All ranks together made ") + (f.trace.is_otf2 ? "" : "about ") + grouped(count.total) +
                    " calls on " + plural(static_cast<std::int64_t>(f.calls.calls.size()), "call path");
  if (!f.trace.is_otf2 && f.calls.steps > 0) out += " in " + plural(f.calls.steps, "step");
  if (seconds.total > 0)
    out += "; " + percent_text(first.seconds.total / seconds.total) + " of the time in them went to " +
           name_text(first.path, 60);
  return out + ".\n";
}

std::string windows_table(const Trace& trace, bool all) {
  const std::size_t n = trace.windows.size(), first = all ? 0 : n - std::min(n, most_windows);
  Table table(
      {{"steps", Align::left}, {"time"}, {"kept"}, {"sample", Align::left}, {"error"}, {"also kept", Align::left}});
  for (std::size_t i = first; i < n; ++i) {
    const TraceWindow& w = trace.windows[i];
    std::vector<std::string> strata, others;
    const auto n_kept =
        std::count_if(w.ranks.begin(), w.ranks.end(), [](const KeptRank& r) { return !r.partner_only(); });
    for (const auto& stratum : w.strata)
      strata.push_back(std::to_string(stratum.sample) + "/" + std::to_string(stratum.population));
    for (int reason = 1; reason < record::trace::n_reasons; ++reason) {
      std::vector<std::string> ranks;
      for (const KeptRank& kept : w.ranks)
        if ((kept.reasons & 1 << reason) != 0) ranks.push_back(std::to_string(kept.rank));
      const std::size_t count = ranks.size();
      if (count > 4) ranks = {std::to_string(count) + " ranks"};
      if (count > 0) others.push_back(std::string(record::trace::reason_text(reason)) + " " + join(ranks));
    }
    table.add({std::to_string(w.first_step) + ".." + std::to_string(w.last_step),
               seconds_text(1e-9 * static_cast<double>(w.end_ns - w.start_ns)), std::to_string(n_kept), join(strata),
               percent_text(w.error), join(others)});
  }
  std::string title = "\nWindows";
  if (first > 0)
    title += ", the last " + std::to_string(n - first) + " of " + std::to_string(n) + " (--all shows the rest)";
  return title + "\n" + table.text();
}

/// "123 ± 4", in the unit that `text` writes.
/// @param whole  the values are counts: an error below 1 is shown as 1
template <typename Text>
std::string with_error(bool known, const sampling::Estimate& estimate, double confidence, Text&& text,
                       const Terminal& terminal, bool whole) {
  if (!known) return "?";
  double half = estimate.half_width(confidence);
  if (whole && half > 0) half = std::max(half, 1.0);
  const std::string sign = terminal.utf8 || !terminal.interactive ? " ± " : " +- ";
  if (half < 0) return text(estimate.total) + sign + "?";
  return half == 0 ? text(estimate.total) : text(estimate.total) + sign + text(half);
}

std::string calls_table(const TraceFindings& f, bool all, const Terminal& terminal) {
  const auto& calls = f.calls.calls;
  const std::size_t shown = all ? calls.size() : std::min(calls.size(), most_calls);
  if (shown == 0) return "";
  Table table({{"call path", Align::left}, {"calls"}, {"time"}, {"bytes"}, {"in the trace"}});
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < shown; ++i) paths.push_back(calls[i].path);
  paths = name_texts(paths, 60);
  number_equal(paths);
  for (std::size_t i = 0; i < shown; ++i) {
    const CallEstimate& call = calls[i];
    const auto cell = [&](bool known, const sampling::Estimate& estimate, auto&& text, bool whole = false) {
      return with_error(known, estimate, f.trace.confidence, text, terminal, whole);
    };
    table.add({paths[i], cell(call.counted, call.count, grouped, true), cell(call.timed, call.seconds, seconds_text),
               call.bytes.total > 0 ? cell(call.sampled, call.bytes, bytes_text) : "", grouped(call.seen)});
  }
  std::string title =
      f.trace.is_otf2 ? "\nCalls of all ranks"
                      : "\nCalls of all ranks, estimates with " + confidence_text(f.trace.confidence) + " confidence";
  if (shown < calls.size())
    title +=
        ", the longest " + std::to_string(shown) + " of " + std::to_string(calls.size()) + " (--all shows the rest)";
  return title + "\n" + table.text();
}

/// Whether a sample was planned in some window, of which nothing fitted into the budget.  Samples that are chosen in
/// advance begin after the first window.
bool lacked_room(const Trace& trace) {
  bool begun = trace.design == "retrospective";
  for (const TraceWindow& w : trace.windows) {
    if (w.strata.empty()) continue;
    if (std::any_of(w.strata.begin(), w.strata.end(), [](const auto& s) { return s.sample > 0; }))
      begun = true;
    else if (begun)
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> trust_sentences(const TraceFindings& f) {
  const Trace& trace = f.trace;
  const TraceMessages& m = f.messages;
  std::vector<std::string> out;
  const std::uint64_t unmatched = m.unmatched_sends + m.unmatched_receives;
  if (!m.matched.empty() || unmatched > 0)
    out.push_back(grouped_count(m.matched.size(), "message") + " with both ends" +
                  (unmatched > 0 ? "; " + grouped_count(m.unmatched_sends, "send") + " and " +
                                       grouped_count(m.unmatched_receives, "receive") + " lack their other end"
                                 : ""));
  if (m.other_communicator > 0)
    out.push_back(grouped_count(m.other_communicator, "message") +
                  " matched by sender, receiver, tag and size, because the two ends name different communicators");
  if (m.clamped > 0)
    out.push_back(grouped_count(m.clamped, "message") + " arrived before being sent, by up to " +
                  seconds_text(1e-9 * static_cast<double>(m.largest_clamp_ns)) + " according to the clocks" +
                  (trace.rebuilding().spans > 0 ? " and times of similar steps" : "") + ": the transfer counts as 0 s");
  if (trace.dropped_steps > 0)
    out.push_back(grouped_count(static_cast<std::uint64_t>(trace.dropped_steps), "step") +
                  " of individual ranks did not fit into the ring and are missing: EFFORT_TRACE_MEMORY sets its size");
  if (f.calls.scaled > 0)
    out.push_back("sampled ranks with missing steps (" + std::to_string(f.calls.scaled) +
                  " times) are scaled up as if the missing steps had been like the others");
  if (f.calls.without_sample > 0 && !trace.is_otf2)
    out.push_back(plural(static_cast<std::int64_t>(f.calls.without_sample), "window") + " without a sample" +
                  (lacked_room(trace) ? ", for which EFFORT_TRACE_BUDGET left no room" : "") +
                  (f.calls.without_sample == 1 ? ": the estimates leave it out" : ": the estimates leave them out"));
  if (f.calls.measured > 0)
    out.push_back((f.calls.counted == f.calls.measured
                       ? "times of regions and their numbers of calls were measured on all ranks"
                       : "times of regions were measured on all ranks") +
                  (f.calls.measured < f.calls.windows ? " in " + std::to_string(f.calls.measured) + " of " +
                                                            plural(static_cast<std::int64_t>(f.calls.windows), "window")
                                                      : std::string()) +
                  ": what has no interval is known, what has one is estimated");
  if (std::any_of(f.calls.calls.begin(), f.calls.calls.end(),
                  [](const CallEstimate& c) { return c.sampled && c.bytes.total > 0 && c.bytes.variance < 0; }))
    out.push_back(
        "the error of bytes is unknown (?) if all sampled ranks of a window had the same, or if only one was sampled: "
        "other ranks may have more");
  if (f.calls.partly > 0)
    out.push_back("in " + plural(static_cast<std::int64_t>(f.calls.partly), "window") +
                  " some of the ranks have no sample: the others stand for them");
  if (trace.clock_bound_ns >= 0)
    out.push_back("clocks of different nodes agree within " +
                  seconds_text(1e-9 * static_cast<double>(trace.clock_bound_ns)));
  if (!trace.bound.is_exact())
    out.push_back("a time is stored within " + percent_text(trace.bound.relative_ppm * 1e-6) +
                  " of the gap before it or " + seconds_text(1e-9 * trace.bound.absolute_ns) + ", whichever is larger");
  out.insert(out.end(), trace.notes.begin(), trace.notes.end());
  return out;
}

std::string trace_info_text(const TraceFindings& f, bool all, const Terminal& terminal) {
  const Trace& trace = f.trace;
  const Tally tally(trace);
  std::string out;
  if (trace.windows.empty()) {
    out = "Nothing was kept of " + plural(trace.n_ranks, "rank") + ".\n";
  } else {
    out = trace.is_otf2 ? whole_answer(trace) : sampled_answer(trace, tally) + accuracy_answer(trace, tally);
    out += calls_answer(f);
  }
  out += "\n";
  if (!trace.name.empty())
    out += name_text(trace.name) + (trace.job.empty() ? "" : " (job " + name_text(trace.job) + ")") + ", ";
  out += name_text(trace.recorder, 80) + "\n  " + plural(trace.n_ranks, "rank") + " on " +
         plural(trace.n_nodes, "node") + "; " + grouped_count(trace.events(), "event") + " in " +
         bytes_text(static_cast<double>(trace.bytes));
  if (!trace.design.empty()) out += "; design " + name_text(trace.design);
  out += "\n";
  if (!trace.is_otf2 && !trace.windows.empty()) out += windows_table(trace, all);
  out += calls_table(f, all, terminal);
  const std::vector<std::string> sentences = trust_sentences(f);
  if (!sentences.empty()) out += "\nTrust\n";
  constexpr std::size_t most_sentences = 20;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (i >= most_sentences && !all) {
      out += "  " + std::to_string(sentences.size() - i) + " more (--all shows them)\n";
      break;
    }
    out += "  " + record::visible(sentences[i]) + "\n";
  }
  return out;
}

}  // namespace effort::tools
