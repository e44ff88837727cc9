// effort check SNAP [--max-imbalance X] [--max-region NAME:SHARE%] [--baseline OLD]
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/reader.hpp"
#include "record/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/output/output.hpp"
#include "tools/view/compare.hpp"

namespace effort::tools {

namespace {

/// A limit to check, and the run's value.
struct Finding {
  std::string what;  ///< "imbalance", or a region's name
  double value = 0, limit = 0;
  bool of_baseline = false;

  bool holds() const { return value <= limit; }
};

/// "solve:5%" as a name and 0.05.
std::pair<std::string, double> limit_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  double percent = 0;
  if (colon != std::string::npos && colon > 0 && text.ends_with('%')) {
    const char *const first = text.data() + colon + 1, *const last = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(first, last, percent);
    if (error == std::errc{} && end == last && percent >= 0 && std::isfinite(percent))
      return {text.substr(0, colon), percent / 100};
  }
  throw UsageError("--max-region '" + record::visible(text) +
                   "' is not a region with a share: write NAME:SHARE%, such as solve:5%");
}

/// The time of a region on its slowest rank beyond its mean over ranks, as a share of a mean step.
double cost_of(const RegionSide& region, const RunSide& run) {
  const double all = run.compute + run.other;
  return all > 0 ? (region.largest - region.mean) / all : 0;
}

void check_imbalance(double limit, double value, bool of_baseline, std::vector<Finding>& out) {
  if (value < 0)
    throw std::runtime_error(
        "the imbalance of the run is not known: it ended before its first window, or had one rank");
  out.push_back({"imbalance", value, limit, of_baseline});
}

std::string finding_text(const Finding& f) {
  const std::string is =
      f.what == "imbalance" ? "imbalance is " : "the imbalance of '" + name_text(f.what) + "' costs ";
  return (f.holds() ? "holds: " : "does not hold: ") + is + percent_text(f.value) + ", at most " +
         percent_text(f.limit) + " is allowed" + (f.of_baseline ? " by the baseline\n" : "\n");
}

}  // namespace

void run_check(const CheckArguments& a) {
  if (!a.max_imbalance && a.max_regions.empty() && a.baseline.empty())
    throw UsageError("there is nothing to check: give --max-imbalance, --max-region or --baseline");
  std::vector<std::pair<std::string, double>> limits;
  for (const std::string& text : a.max_regions) limits.push_back(limit_of(text));
  record::Reader snapshot{std::filesystem::path(a.snapshot)};
  record::Reader baseline{std::filesystem::path(a.baseline.empty() ? a.snapshot : a.baseline)};
  snapshot.verify();
  baseline.verify();
  const std::vector<std::filesystem::path> search(a.module_paths.begin(), a.module_paths.end());
  Symbols old_symbols(baseline.run().modules, search), symbols(snapshot.run().modules, search);
  const Comparison c = compare(baseline.run(), snapshot.run(), old_symbols, symbols);

  std::vector<Finding> findings;
  const double imbalance = c.b.imbalance;
  if (a.max_imbalance) check_imbalance(*a.max_imbalance, imbalance, false, findings);
  for (const auto& [name, limit] : limits) {
    bool found = false;
    for (const RegionChange& r : c.regions) {
      if (!r.b || (r.name != name && r.b->name != name)) continue;
      findings.push_back({r.phase.empty() ? name : name + " (" + r.phase + ")", cost_of(*r.b, c.b), limit});
      found = true;
    }
    if (!found)
      throw std::runtime_error("'" + record::visible(a.snapshot) + "' has no region called '" + record::visible(name) +
                               "': effort info lists its regions");
  }
  if (!a.baseline.empty()) {
    check_imbalance(c.a.imbalance + a.tolerance, imbalance, true, findings);
    for (const RegionChange& r : c.regions)
      if (r.b) findings.push_back({r.name, cost_of(*r.b, c.b), (r.a ? cost_of(*r.a, c.a) : 0) + a.tolerance, true});
  }

  bool all = true;
  for (const Finding& f : findings) all = all && f.holds();
  if (a.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& f : findings)
      list.push_back({{"what", f.what},
                      {"value", f.value},
                      {"limit", f.limit},
                      {"of_baseline", f.of_baseline},
                      {"holds", f.holds()}});
    print_json({{"holds", all}, {"checks", std::move(list)}});
  } else {
    for (const Finding& f : findings)
      if (!f.holds() || !f.of_baseline || f.what == "imbalance") std::fputs(finding_text(f).c_str(), stdout);
  }
  if (!all) throw CheckFailed();
}

}  // namespace effort::tools
