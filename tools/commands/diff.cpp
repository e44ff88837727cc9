// effort diff A B
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "record/reader.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/output.hpp"
#include "tools/symbols/call_path.hpp"
#include "tools/view/compare.hpp"
#include "tools/view/info_text.hpp"

namespace effort::tools {

namespace {

using Align = Table::Align;

constexpr std::size_t most_lines = 15;

/// "+12.3 %"; empty if one of them is not known.
std::string change_text(double a, double b) {
  if (!(a > 0) || !(b >= 0)) return "";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.1f %%", 100 * (b / a - 1));
  return text.data();
}

std::string run_line(const char* letter, const RunSide& r) {
  return std::string(letter) + "  " + name_text(r.file, 60) + ":\n   " + name_text(r.name) +
         (r.job.empty() ? "" : " (job " + name_text(r.job) + ")") + ", " + plural(r.ranks, "rank") + " on " +
         plural(r.nodes, "node") + ", " + plural(r.steps, "step") +
         (r.wall_seconds > 0 ? " in " + seconds_text(r.wall_seconds) : "") + "\n";
}

std::string overview(const Comparison& c) {
  Table table({{"", Align::left}, {"A"}, {"B"}, {"change"}});
  const auto amount = [&](const char* what, double a, double b, const std::string& unit) {
    table.add({what, a < 0 ? "-" : amount_text(a, unit), b < 0 ? "-" : amount_text(b, unit), change_text(a, b)});
  };
  const auto share = [&](const char* what, double a, double b) {
    if (a >= 0 || b >= 0) table.add({what, percent_text(a), percent_text(b), ""});
  };
  if (c.a.ranks != c.b.ranks)
    table.add({"ranks", std::to_string(c.a.ranks), std::to_string(c.b.ranks),
               change_text(static_cast<double>(c.a.ranks), static_cast<double>(c.b.ranks))});
  amount("wall time per step", c.a.seconds_per_step, c.b.seconds_per_step, "s");
  amount("compute per rank and step", c.a.compute, c.b.compute, c.unit);
  amount("the rest per rank and step", c.a.other, c.b.other, c.unit);
  if (c.a.ranks != c.b.ranks)
    amount("compute per step, all ranks", c.a.compute * static_cast<double>(c.a.ranks),
           c.b.compute * static_cast<double>(c.b.ranks), c.unit);
  share("imbalance, mean of windows", c.a.imbalance, c.b.imbalance);
  share("load balance", c.a.load_balance, c.b.load_balance);
  share("parallel efficiency", c.a.parallel_efficiency, c.b.parallel_efficiency);
  share("ideal balance would save", c.a.ideal_saving, c.b.ideal_saving);
  table.add({"rebalances", std::to_string(c.a.rebalances), std::to_string(c.b.rebalances), ""});
  share("effort's own share of computing", c.a.own_cpu_share, c.b.own_cpu_share);
  if (c.a.ranks != c.b.ranks && c.a.seconds_per_step > 0 && c.b.seconds_per_step > 0) {
    const double gain = c.a.seconds_per_step / c.b.seconds_per_step;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f x", gain);
    table.add({"speed-up of a step", "", text.data(), ""});
    table.add({"scaling efficiency", "",
               percent_text(gain * static_cast<double>(c.a.ranks) / static_cast<double>(c.b.ranks)), ""});
  }
  return table.text();
}

std::string side_text(const std::optional<RegionSide>& side, double RegionSide::*value, const std::string& unit) {
  return side ? amount_text((*side).*value, unit) : "-";
}

std::string regions_table(const Comparison& c, const char* title, std::initializer_list<Verdict> verdicts,
                          const DiffArguments& arguments, const Terminal& terminal) {
  std::vector<const RegionChange*> chosen;
  for (const RegionChange& r : c.regions) {
    if (std::find(verdicts.begin(), verdicts.end(), r.verdict) != verdicts.end()) chosen.push_back(&r);
  }
  if (chosen.empty()) return "";
  const std::size_t all = chosen.size();
  if (!arguments.all) chosen.resize(std::min(all, most_lines));
  std::string out = std::string("\n") + title;
  if (chosen.size() < all)
    out += ", the largest " + std::to_string(chosen.size()) + " of " + std::to_string(all) + " (--all shows the rest)";
  // The largest rank comes first, because the others wait for it; the means only if there is room.
  const bool narrow = terminal.interactive && terminal.width < 118;
  const std::size_t width = !terminal.interactive ? 48
                            : narrow              ? std::clamp<std::size_t>(terminal.width, 88, 118) - 74
                                                  : std::min<std::size_t>(terminal.width, 160) - 100;
  std::vector<Table::Heading> headings = {
      {"region", Align::left}, {"kind", Align::left}, {"largest A"}, {"B"}, {"change"}};
  if (!narrow)
    for (const char* mean : {"mean A", "B", "change"}) headings.push_back({mean});
  for (const char* imbalance : {"imbalance A", "B"}) headings.push_back({imbalance});
  Table table(headings);
  for (const RegionChange* r : chosen) {
    const std::string name = r->phase.empty() ? r->name : r->name + " (" + r->phase + ")";
    std::vector<std::string> row = {name_text(name.size() > width ? without_modules(name) : name, width),
                                    record::kind_name(r->kind)};
    for (const auto amount : {&RegionSide::largest, &RegionSide::mean}) {
      if (narrow && amount == &RegionSide::mean) continue;
      row.insert(row.end(), {side_text(r->a, amount, c.unit), side_text(r->b, amount, c.unit),
                             r->a && r->b ? change_text((*r->a).*amount, (*r->b).*amount) : ""});
    }
    row.insert(row.end(), {r->a ? percent_text(r->a->imbalance) : "-", r->b ? percent_text(r->b->imbalance) : "-"});
    table.add(row);
  }
  return out + "\n" + table.text();
}

std::string diff_text(const Comparison& c, const DiffArguments& arguments, const Terminal& terminal) {
  std::string out = run_line("A", c.a) + run_line("B", c.b) + "\n" + overview(c);
  std::string regions;
  regions += regions_table(c, "Worse", {Verdict::worse}, arguments, terminal);
  regions += regions_table(c, "Better", {Verdict::better}, arguments, terminal);
  regions += regions_table(c, "Only in A", {Verdict::only_a}, arguments, terminal);
  regions += regions_table(c, "Only in B", {Verdict::only_b}, arguments, terminal);
  if (arguments.all) regions += regions_table(c, "The same", {Verdict::same}, arguments, terminal);
  const auto same = std::count_if(c.regions.begin(), c.regions.end(),
                                  [](const RegionChange& r) { return r.verdict == Verdict::same; });
  if (!regions.empty())
    out += "\nRegions, " + name_text(c.metric, 20) + " per step: of the rank with most, and per rank\n" +
           regions.substr(1);
  if (!arguments.all)
    out += "\n" + plural(same, "region") + " within " + percent_text(c.threshold) +
           (same > 0 ? " (--all shows them)" : "") + "\n";
  if (!c.notes.empty()) out += "\nNotes\n";
  for (const std::string& note : c.notes) out += "  " + name_text(note, 200) + "\n";
  return fitted(out, terminal);
}

}  // namespace

void run_diff(const DiffArguments& arguments) {
  record::Reader a{std::filesystem::path(arguments.a)}, b{std::filesystem::path(arguments.b)};
  a.verify();
  b.verify();
  const std::vector<std::filesystem::path> search(arguments.module_paths.begin(), arguments.module_paths.end());
  Symbols symbols_a(a.run().modules, search), symbols_b(b.run().modules, search);
  Comparison c = compare(a.run(), b.run(), symbols_a, symbols_b, {arguments.metric, arguments.threshold});
  c.a.file = arguments.a;
  c.b.file = arguments.b;
  if (arguments.json) {
    print_json(compare_json(c));
    return;
  }
  const std::string text = diff_text(c, arguments, terminal_of(STDOUT_FILENO));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace effort::tools
