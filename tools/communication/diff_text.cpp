#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "tools/communication/diff_output.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

using Align = Table::Align;
using communication::AlignedPhases;

namespace {

/// "+12.3 %"; empty if there was nothing before.
std::string change_text(double a, double b) {
  if (!(a > 0)) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.1f %%", 100 * (b / a - 1));
  return text.data();
}

/// "more", "less".
std::string signed_text(double ns) { return nanoseconds_text(std::abs(ns)) + (ns < 0 ? " less" : " more"); }

std::string waits_sentence(const CommunicationDiff& d) {
  const double a = d.a.waits.total_ns, b = d.b.waits.total_ns;
  if (a == 0 && b == 0) return "Ranks waited for each other in neither run.\n";
  std::string out = "All ranks together waited " + nanoseconds_text(a) + " in A and " + nanoseconds_text(b) + " in B";
  if (a > 0) out += ", " + change_text(a, b);
  if (!d.waits.empty() && d.waits.front().change_ns() != 0) {
    const NamedChange& most = d.waits.front();
    out += "; the largest change is " + signed_text(most.change_ns()) + " of " + most.cause + " in `" +
           name_text(most.name, 60) + "`";
  }
  return out + ".\n";
}

std::string phases_sentence(const CommunicationDiff& d) {
  const auto both = std::count_if(d.phases.begin(), d.phases.end(), [](const AlignedPhases& p) {
    return p.a != AlignedPhases::nothing && p.b != AlignedPhases::nothing;
  });
  const auto matched = static_cast<std::size_t>(both);
  std::string out = count_text(matched, "phase") + (matched == 1 ? " is" : " are") + " in both runs";
  const std::size_t only_a = d.a.patterns.phases.leaves.size() - matched;
  const std::size_t only_b = d.b.patterns.phases.leaves.size() - matched;
  if (only_a > 0) out += ", " + std::to_string(only_a) + " only in A";
  if (only_b > 0) out += ", " + std::to_string(only_b) + " only in B";
  return out + ".\n";
}

std::string patterns_sentence(const CommunicationDiff& d) {
  std::string a, b;
  for (const NamedChange& p : d.patterns) {
    std::string* const only = p.count_b == 0 ? &a : p.count_a == 0 ? &b : nullptr;
    if (only != nullptr) *only += (only->empty() ? "" : ", ") + name_text(p.name, 40);
  }
  std::string out;
  if (!a.empty()) out += "Only A has these patterns: " + a + ".\n";
  if (!b.empty()) out += "Only B has these patterns: " + b + ".\n";
  return out;
}

std::string range_text(const PatternFindings& f, std::size_t phase) {
  if (phase == AlignedPhases::nothing) return "-";
  const communication::Phase& p = f.phases.leaves[phase];
  return std::to_string(p.first) + " to " + std::to_string(p.end - 1);
}

double duration_of(const PatternFindings& f, std::size_t phase) {
  return phase == AlignedPhases::nothing ? -1e9 : static_cast<double>(f.duration_ns(f.phases.leaves[phase]));
}

std::string phases_table(const CommunicationDiff& d, bool all) {
  if (d.phases.empty()) return "";
  const std::size_t n = all ? d.phases.size() : std::min(2 * rows_shown, d.phases.size());
  Table table(
      {{"instances of A"}, {"of B"}, {"alike"}, {"lasts in A"}, {"in B"}, {"change"}, {"patterns", Align::left}});
  for (std::size_t i = 0; i < n; ++i) {
    const AlignedPhases& p = d.phases[i];
    const double a = duration_of(d.a.patterns, p.a), b = duration_of(d.b.patterns, p.b);
    const PatternFindings& shown = p.a != AlignedPhases::nothing ? d.a.patterns : d.b.patterns;
    table.add({range_text(d.a.patterns, p.a), range_text(d.b.patterns, p.b),
               p.similarity > 0 ? percent_text(p.similarity) : "", nanoseconds_text(a), nanoseconds_text(b),
               a >= 0 && b >= 0 ? change_text(a, b) : "",
               shown.contents_of(shown.phases.leaves[p.a != AlignedPhases::nothing ? p.a : p.b])});
  }
  return "\nPhases" + rows_left_out(n, d.phases.size()) + "\n" + table.text();
}

std::string changes_table(const std::vector<NamedChange>& changes, const std::string& title, const std::string& what,
                          bool causes, bool all) {
  if (changes.empty()) return "";
  const std::size_t n = all ? changes.size() : std::min(rows_shown, changes.size());
  std::vector<Table::Heading> headings = {{what, Align::left}};
  if (causes) headings.push_back({"cause", Align::left});
  for (const char* heading : {"times in A", "in B", "time in A", "in B", "change"}) headings.push_back({heading});
  Table table(headings);
  for (std::size_t i = 0; i < n; ++i) {
    const NamedChange& c = changes[i];
    std::vector<std::string> row = {name_text(c.name, 60)};
    if (causes) row.push_back(c.cause);
    row.insert(row.end(), {std::to_string(c.count_a), std::to_string(c.count_b), nanoseconds_text(c.a_ns),
                           nanoseconds_text(c.b_ns), change_text(c.a_ns, c.b_ns)});
    table.add(row);
  }
  return "\n" + title + rows_left_out(n, changes.size()) + "\n" + table.text();
}

}  // namespace

std::string diff_text(const CommunicationDiff& d, bool all) {
  std::string out = waits_sentence(d) + phases_sentence(d) + patterns_sentence(d);
  out += changes_table(d.waits, "Waits, the largest change first", "call path", true, all);
  out += phases_table(d, all);
  out += changes_table(d.patterns, "Patterns, the largest change first", "pattern", false, all);
  for (const CommunicationSide* side : {&d.a, &d.b}) {
    const std::string trust = trust_text(side->patterns, side->waits.trace.notes, all);
    if (!trust.empty()) out += trust.substr(0, 6) + (side == &d.a ? " in A" : " in B") + trust.substr(6);
  }
  return out;
}

}  // namespace effort::tools
