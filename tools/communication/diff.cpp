#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tools/communication/diff_output.hpp"

namespace effort::tools {

using nlohmann::ordered_json;

namespace {

/// Numbers for the names of both runs' patterns.
class Names {
 public:
  void add(const communication::Patterns& patterns) {
    for (const communication::Pattern& pattern : patterns.patterns) numbers_.emplace(pattern.name, numbers_.size());
  }
  std::size_t operator()(const std::string& name) const { return numbers_.at(name); }
  std::size_t count() const { return numbers_.size(); }

 private:
  std::map<std::string, std::size_t> numbers_;
};

std::vector<communication::Shares> shares_of(const PatternFindings& f, const Names& names) {
  std::vector<communication::Shares> out;
  for (const communication::Phase& phase : f.phases.leaves) {
    communication::Shares shares(names.count());
    for (std::size_t i = phase.first; i < phase.end; ++i)
      ++shares[names(f.patterns.patterns[f.patterns.instances[i].pattern].name)];
    for (double& share : shares) share /= static_cast<double>(phase.end - phase.first);
    out.push_back(std::move(shares));
  }
  return out;
}

std::vector<NamedChange> sorted(const std::map<std::pair<std::string, std::string>, NamedChange>& changes) {
  std::vector<NamedChange> out;
  for (const auto& [key, change] : changes) {
    out.push_back(change);
    out.back().name = key.first, out.back().cause = key.second;
  }
  std::stable_sort(out.begin(), out.end(), [](const NamedChange& x, const NamedChange& y) {
    return std::abs(x.change_ns()) > std::abs(y.change_ns());
  });
  return out;
}

std::vector<NamedChange> pattern_changes(const PatternFindings& a, const PatternFindings& b) {
  std::map<std::pair<std::string, std::string>, NamedChange> changes;
  for (const PatternFindings* f : {&a, &b}) {
    for (std::size_t p = 0; p < f->patterns.patterns.size(); ++p) {
      NamedChange& change = changes[{f->patterns.patterns[p].name, ""}];
      (f == &a ? change.count_a : change.count_b) += f->patterns.patterns[p].instances;
      (f == &a ? change.a_ns : change.b_ns) += f->total_ns[p];
    }
  }
  return sorted(changes);
}

std::vector<NamedChange> wait_changes(const WaitFindings& a, const WaitFindings& b) {
  std::map<std::pair<std::string, std::string>, NamedChange> changes;
  for (const WaitFindings* f : {&a, &b}) {
    for (const communication::PathWaits& path : f->by_path) {
      NamedChange& change = changes[{f->path_text(path.path), std::string(communication::cause_text(path.cause))}];
      (f == &a ? change.count_a : change.count_b) += path.count;
      (f == &a ? change.a_ns : change.b_ns) += static_cast<double>(path.ns);
    }
  }
  return sorted(changes);
}

ordered_json phase_json(const PatternFindings& f, std::size_t phase) {
  if (phase == communication::AlignedPhases::nothing) return nullptr;
  return {f.phases.leaves[phase].first, f.phases.leaves[phase].end};
}

ordered_json seconds_json(const PatternFindings& f, std::size_t phase) {
  if (phase == communication::AlignedPhases::nothing) return nullptr;
  return 1e-9 * static_cast<double>(f.duration_ns(f.phases.leaves[phase]));
}

}  // namespace

CommunicationDiff::CommunicationDiff(const CommunicationSide& of_a, const CommunicationSide& of_b)
    : a(of_a),
      b(of_b),
      patterns(pattern_changes(of_a.patterns, of_b.patterns)),
      waits(wait_changes(of_a.waits, of_b.waits)) {
  Names names;
  names.add(a.patterns.patterns);
  names.add(b.patterns.patterns);
  phases = communication::align_phases(shares_of(a.patterns, names), shares_of(b.patterns, names));
}

ordered_json diff_json(const CommunicationDiff& d) {
  ordered_json out;
  ordered_json& phases = out["phases"] = ordered_json::array();
  for (const communication::AlignedPhases& pair : d.phases)
    phases.push_back({{"a", phase_json(d.a.patterns, pair.a)},
                      {"b", phase_json(d.b.patterns, pair.b)},
                      {"similarity", pair.similarity},
                      {"a_seconds", seconds_json(d.a.patterns, pair.a)},
                      {"b_seconds", seconds_json(d.b.patterns, pair.b)}});
  ordered_json& patterns = out["patterns"] = ordered_json::array();
  for (const NamedChange& p : d.patterns)
    patterns.push_back({{"name", p.name},
                        {"a_instances", p.count_a},
                        {"b_instances", p.count_b},
                        {"a_seconds", 1e-9 * p.a_ns},
                        {"b_seconds", 1e-9 * p.b_ns}});
  ordered_json& waits = out["waits"] = ordered_json::array();
  for (const NamedChange& w : d.waits)
    waits.push_back({{"path", w.name},
                     {"cause", w.cause},
                     {"a_count", w.count_a},
                     {"b_count", w.count_b},
                     {"a_ns", w.a_ns},
                     {"b_ns", w.b_ns}});
  out["a_waited_ns"] = d.a.waits.total_ns;
  out["b_waited_ns"] = d.b.waits.total_ns;
  out["notes"] = {{"a", d.a.waits.trace.notes}, {"b", d.b.waits.trace.notes}};
  return out;
}

}  // namespace effort::tools
