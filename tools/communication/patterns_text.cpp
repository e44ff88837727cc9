#include <algorithm>
#include <map>
#include <numeric>

#include "record/text.hpp"
#include "tools/communication/patterns_output.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using Align = Table::Align;
using communication::Instance;
using communication::Pattern;
using communication::SlowCause;
using communication::SlowInstance;

namespace {

std::string times_text(std::uint64_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

/// After "slow, ... times".
const char* cause_phrase(SlowCause cause) {
  switch (cause) {
    case SlowCause::late_sender: return "because of a late sender";
    case SlowCause::late_receiver: return "because of a late receiver";
    case SlowCause::late_partner: return "because of a rank that entered a collective late";
    case SlowCause::transfer: return "in the transfer, with no rank late";
    case SlowCause::noise: return "because of a rank that was delayed once";
  }
  return "";
}

}  // namespace

std::vector<std::uint32_t> by_time(const PatternFindings& f) {
  std::vector<std::uint32_t> order(f.patterns.patterns.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return f.total_ns[a] > f.total_ns[b]; });
  return order;
}

namespace {

std::string patterns_sentence(const PatternFindings& f) {
  const auto order = by_time(f);
  std::string out = count_text(f.patterns.instances.size(), "instance") + " of " +
                    count_text(f.patterns.patterns.size(), "communication pattern") + ", the most time in: ";
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
    out += (i == 0 ? "" : ", ") + name_text(f.pattern_text(order[i]), 80) + " (" +
           times_text(f.patterns.patterns[order[i]].instances) + ", " + nanoseconds_text(f.total_ns[order[i]]) + ")";
  return out + ".\n";
}

std::string causes_sentence(const PatternFindings& f) {
  if (f.slow.empty()) return "No instance took much longer than others of the same pattern and size.\n";
  std::map<SlowCause, std::uint64_t> causes;
  for (const SlowInstance& s : f.slow) ++causes[s.cause];
  std::string out = count_text(f.slow.size(), "instance") + (f.slow.size() == 1 ? " was" : " were") +
                    " much slower than others of the same pattern and size: ";
  bool first = true;
  for (const auto& [cause, count] : causes) {
    out += (first ? "" : ", ") + std::to_string(count) + " " + cause_phrase(cause);
    first = false;
  }
  return out + ".\n";
}

bool blames_rank(const SlowInstance& s) { return s.cause != SlowCause::transfer; }

std::string late_rank_sentence(const PatternFindings& f) {
  std::map<std::int32_t, std::uint64_t> ranks;
  std::uint64_t all = 0;
  for (const SlowInstance& s : f.slow)
    if (blames_rank(s)) ++ranks[s.last_rank], ++all;
  if (all == 0) return "";
  const auto most =
      std::max_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return "Rank " + std::to_string(most->first) + " was to blame in " + std::to_string(most->second) + " of " +
         std::to_string(all) + ".\n";
}

}  // namespace

std::vector<std::size_t> by_promise(const PatternFindings& f) {
  std::vector<std::size_t> order(f.slow.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto lost = [&](std::size_t s) {
    return static_cast<double>(f.patterns.instances[f.slow[s].instance].duration_ns()) - f.slow[s].median_ns;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(f.priorities[a].affinity, lost(a)) > std::pair(f.priorities[b].affinity, lost(b));
  });
  return order;
}

namespace {

std::string first_sentence(const PatternFindings& f) {
  if (f.slow.empty()) return "";
  const SlowInstance& s = f.slow[by_promise(f).front()];
  const Instance& instance = f.patterns.instances[s.instance];
  return "Look at instance " + std::to_string(s.instance) +
         " first: " + name_text(f.pattern_text(instance.pattern), 60) + ", " +
         nanoseconds_text(static_cast<double>(instance.duration_ns())) + " instead of " +
         nanoseconds_text(s.median_ns) + ", " + cause_phrase(s.cause) +
         (blames_rank(s) ? " (rank " + std::to_string(s.last_rank) + ")" : "") + ".\n";
}

std::string patterns_table(const PatternFindings& f, bool all) {
  const auto order = by_time(f);
  const std::size_t n = all ? order.size() : std::min(rows_shown, order.size());
  Table table({{"id"}, {"pattern", Align::left}, {"events"}, {"instances"}, {"slow"}, {"time"}, {"mean"}});
  for (std::size_t i = 0; i < n; ++i) {
    const Pattern& p = f.patterns.patterns[order[i]];
    table.add({std::to_string(order[i]), name_text(f.pattern_text(order[i]), 80), std::to_string(p.events),
               std::to_string(p.instances), std::to_string(f.slow_of_pattern[order[i]]),
               nanoseconds_text(f.total_ns[order[i]]),
               nanoseconds_text(f.total_ns[order[i]] / static_cast<double>(p.instances))});
  }
  return "\nPatterns" + rows_left_out(n, order.size()) + "\n" + table.text();
}

std::string slow_table(const PatternFindings& f, bool all) {
  if (f.slow.empty()) return "";
  const auto order = by_promise(f);
  const std::size_t n = all ? order.size() : std::min(rows_shown, order.size());
  Table table({{"instance"},
               {"pattern", Align::left},
               {"phase"},
               {"bytes"},
               {"took"},
               {"median"},
               {"z"},
               {"cause", Align::left},
               {"rank"},
               {"affinity", Align::left}});
  for (std::size_t i = 0; i < n; ++i) {
    const SlowInstance& s = f.slow[order[i]];
    const Instance& instance = f.patterns.instances[s.instance];
    table.add({std::to_string(s.instance), name_text(f.pattern_text(instance.pattern), 40),
               std::to_string(f.slow_phases[order[i]]), bytes_text(static_cast<double>(instance.bytes)),
               nanoseconds_text(static_cast<double>(instance.duration_ns())), nanoseconds_text(s.median_ns),
               amount_text(s.z, ""), communication::slow_cause_name(s.cause),
               blames_rank(s) ? std::to_string(s.last_rank) : "",
               communication::affinity_name(f.priorities[order[i]].affinity)});
  }
  return "\nSlow instances, the most promising first" + rows_left_out(n, order.size()) + "\n" + table.text();
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name_text(name, 30);
  return out;
}

std::string phases_table(const PatternFindings& f, const communication::Phases& phases, bool all) {
  const std::size_t n = all ? phases.leaves.size() : std::min(2 * rows_shown, phases.leaves.size());
  Table table({{"phase"},
               {"first"},
               {"instances"},
               {"starts at"},
               {"lasts"},
               {"slow"},
               {"patterns", Align::left},
               {"functions", Align::left}});
  const std::int64_t origin = f.patterns.instances.front().start_ns;
  for (std::size_t p = 0; p < n; ++p) {
    const communication::Phase& phase = phases.leaves[p];
    const std::int64_t start = f.patterns.instances[phase.first].start_ns;
    table.add({std::to_string(p), std::to_string(phase.first), std::to_string(phase.end - phase.first),
               nanoseconds_text(static_cast<double>(start - origin)),
               nanoseconds_text(static_cast<double>(f.duration_ns(phase))), std::to_string(f.slow_in(phase)),
               f.contents_of(phase), joined(f.functions_of(phase, 3))});
  }
  return "\nPhases" + rows_left_out(n, phases.leaves.size()) + "\n" + table.text();
}

std::string phases_sentence(const PatternFindings& f, const communication::Phases& phases) {
  if (f.phases.tree.empty())
    return "The communication does not change over the run: " + count_text(f.patterns.instances.size(), "instance") +
           " of " + count_text(f.patterns.patterns.size(), "pattern") + ", not worth cutting anywhere.\n";
  const communication::Split& first = f.phases.tree.front();
  std::string out = "The communication has " + count_text(phases.leaves.size(), "phase");
  if (phases.leaves.size() < f.phases.leaves.size())
    out += " in the first " + std::to_string(shown_depth) + " levels of the tree, and " +
           std::to_string(f.phases.leaves.size()) + " in all (--depth shows more)";
  return out + ".\nThe clearest change comes before instance " + std::to_string(first.split) + ", at " +
         nanoseconds_text(
             static_cast<double>(f.patterns.instances[first.split].start_ns - f.patterns.instances.front().start_ns)) +
         ": divergence " + amount_text(first.divergence, "") + ", strength " + amount_text(first.strength, "") + ".\n";
}

}  // namespace

std::string trust_text(const PatternFindings& f, const std::vector<std::string>& notes, bool all) {
  std::vector<std::string> sentences;
  if (f.record.unmatched_sends + f.record.unmatched_receives > 0)
    sentences.push_back(count_text(f.record.unmatched_sends, "send") + " and " +
                        count_text(f.record.unmatched_receives, "receive") +
                        " lack their other end: they are part of no pattern");
  if (f.patterns.left_out > 0)
    sentences.push_back(count_text(f.patterns.left_out, "end") +
                        " of messages and collectives are at ranks or calls missing from the trace");
  sentences.insert(sentences.end(), notes.begin(), notes.end());
  std::string out = sentences.empty() ? "" : "\nTrust\n";
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (i >= 2 * rows_shown && !all)
      return out + "  " + std::to_string(sentences.size() - i) + " more (--all shows them)\n";
    out += "  " + record::visible(sentences[i]) + "\n";
  }
  return out;
}

std::string patterns_answer(const PatternFindings& f) {
  if (f.patterns.instances.empty())
    return "There are no messages and collectives of known ranks in the trace, so there are no patterns.\n";
  return patterns_sentence(f) + causes_sentence(f) + late_rank_sentence(f) + first_sentence(f);
}

std::string patterns_text(const PatternFindings& f, const std::vector<std::string>& notes, bool all) {
  if (f.patterns.instances.empty()) return patterns_answer(f) + trust_text(f, notes, all);
  return patterns_answer(f) + patterns_table(f, all) + slow_table(f, all) + trust_text(f, notes, all);
}

std::string phases_text(const PatternFindings& f, const std::vector<std::string>& notes, bool all, bool depth_given) {
  if (f.patterns.instances.empty())
    return "There are no messages and collectives of known ranks in the trace, so there are no phases.\n" +
           trust_text(f, notes, all);
  const communication::Phases& phases = depth_given ? f.phases : f.shown;
  return phases_sentence(f, phases) + phases_table(f, phases, all) + trust_text(f, notes, all);
}

}  // namespace effort::tools
