#include "runtime/config/settings.hpp"

#include "analytics/number_text.hpp"
#include "record/text.hpp"
#include "runtime/config/settings_file.hpp"
#include "runtime/config/trace_rules.hpp"
#include "runtime/config/trace_settings.hpp"
#include "runtime/config/values.hpp"
#include "runtime/environment.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace effort::config {
namespace {

void set_metrics(Settings& s, const std::string& key, const std::string& text) {
  s.metrics = names(text);
  if (s.metrics.empty()) refuse(key, text, "a comma-separated list of metrics, such as time,cpu_time");
  //     // Events are tried later.  The run continues without those that cannot be counted.
  for (const std::string& m : s.metrics)
    if (m.size() > 1023) refuse(key, text, "names of at most 1023 bytes");
}

void set_pin(Settings& s, const std::string& key, const std::string& text) {
  const bool list = !text.empty() && text.find_first_not_of("0123456789,-") == std::string::npos;
  if (text != "auto" && text != "off" && !list) refuse(key, text, "auto, off, or processing units such as 0-3,8");
  s.pin = text;
}

bool is_mpi_call(const std::string& name) {
  return name.size() > 4 && name.starts_with("MPI_") &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

void set_split(Settings& s, const std::string& key, const std::string& text) {
  s.split = names(text);
  for (const std::string& call : s.split)
    if (!is_mpi_call(call))
      refuse(key, text,
             "a comma-separated list of MPI calls, such as MPI_Allreduce,MPI_Waitall; empty for all that can block");
}

void set_step(Settings& s, const std::string& key, const std::string& text) {
  const char* allowed =
      "auto, off, or CALL[:N][@WHERE]: every N-th MPI call of that name, from a call path or on a communicator whose "
      "name contains WHERE";
  if (text != "auto" && text != "off") {
    const std::size_t at = text.find('@');
    const std::string call = text.substr(0, at);
    const std::size_t colon = call.find(':');
    if (!is_mpi_call(call.substr(0, colon)) || (at != std::string::npos && at + 1 == text.size()))
      refuse(key, text, allowed);
    if (colon != std::string::npos) number(key, call.substr(colon + 1), 1, 1000000000, allowed);
  }
  s.step = text;
}

using Set = std::function<void(Settings&, const std::string& key, const std::string& value)>;
struct Key {
  const char* name;
  bool shared;  ///< rank 0's value applies to all ranks
  Set set;
  std::function<std::string(const Settings&)> get;  ///< for shared keys
};

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ",") + w;
  return out;
}

/// Never destroyed: a session may begin or end while the host's static objects are.
const std::vector<Key>& keys() {
  static const auto& all = *new std::vector<Key>{
      {"WINDOW", true,
       [](Settings& s, auto& k, auto& v) {
         s.window = v == "auto" ? 0 : number(k, v, 1, 100000, "auto, or 1 to 100000 steps");
       },
       [](const Settings& s) { return s.window == 0 ? std::string("auto") : std::to_string(s.window); }},
      {"HINT_LAG", true,
       [](Settings& s, auto& k, auto& v) {
         s.hint_lag = v == "auto" ? -1 : number(k, v, 0, 100000, "auto, or 0 to WINDOW steps");
       },
       [](const Settings& s) { return s.hint_lag < 0 ? std::string("auto") : std::to_string(s.hint_lag); }},
      {"REBALANCE_THRESHOLD", true,
       [](Settings& s, auto& k, auto& v) {
         s.rebalance_threshold = number(k, v, 0.0, 1e6, "0 or more (max / mean - 1)");
         s.threshold_given = true;
       },
       [](const Settings& s) { return s.threshold_given ? number_text(s.rebalance_threshold) : std::string(); }},
      {"REBALANCE_PRICE", true,
       [](Settings& s, auto& k, auto& v) {
         s.rebalance_price = v == "unknown" ? -1 : number(k, v, 0.0, 1e9, "unknown, or seconds");
       },
       [](const Settings& s) {
         return s.rebalance_price < 0 ? std::string("unknown") : number_text(s.rebalance_price);
       }},
      {"REBALANCE_GAIN", true,
       [](Settings& s, auto& k, auto& v) { s.rebalance_gain = number(k, v, 0.0, 1.0, "0 to 1 (a share of the time)"); },
       [](const Settings& s) { return number_text(s.rebalance_gain); }},
      {"REBALANCE_PATIENCE", true,
       [](Settings& s, auto& k, auto& v) { s.rebalance_patience = number(k, v, 0.1, 1e9, "0.1 or more (in prices)"); },
       [](const Settings& s) { return number_text(s.rebalance_patience); }},
      {"METRICS", true, set_metrics, [](const Settings& s) { return join(s.metrics); }},
      {"LOAD_METRIC", true,
       [](Settings& s, auto& k, auto& v) {
         if (v.empty() || v.size() > 1023)
           refuse(k, v, "time, cpu_time, a counter, an event or the name of an application metric");
         if (v == "rss" || v.ends_with("@value")) refuse(k, v, "a metric that is counted; '" + v + "' is a state");
         if (v == "calls" || v == "thread_sum" || v == "thread_max" || v == "thread_imbalance")
           refuse(k, v, "time, cpu_time, a counter, an event or the name of an application metric");
         s.load_metric = v;
       },
       [](const Settings& s) { return s.load_metric; }},
      {"LOAD_THREADS", true,
       [](Settings& s, auto& k, auto& v) {
         if (v != "max" && v != "sum") refuse(k, v, "max or sum");
         s.load_threads_sum = v == "sum";
       },
       [](const Settings& s) { return std::string(s.load_threads_sum ? "sum" : "max"); }},
      {"STRATA", true,
       [](Settings& s, auto& k, auto& v) { s.strata = v == "auto" ? 0 : number(k, v, 1, 64, "auto or 1 to 64"); },
       [](const Settings& s) { return s.strata == 0 ? std::string("auto") : std::to_string(s.strata); }},
      {"STRATA_LEVEL", true, [](Settings& s, auto& k, auto& v) { s.strata_level = number(k, v, 0, 20, "0 to 20"); },
       [](const Settings& s) { return std::to_string(s.strata_level); }},
      {"SNAPSHOT_EVERY", true,
       [](Settings& s, auto& k, auto& v) {
         s.snapshot_every = number<std::int64_t>(k, v, 0, INT64_MAX, "0 (only at the end) or a number of steps");
       },
       [](const Settings& s) { return std::to_string(s.snapshot_every); }},
      {"SNAPSHOT_DIR", true,
       [](Settings& s, auto& k, auto& v) {
         if (v.empty()) refuse(k, v, "a directory");
         s.snapshot_dir = v;
       },
       [](const Settings& s) { return s.snapshot_dir; }},
      {"PASSES", true,
       [](Settings& s, auto& k, auto& v) {
         s.precision = {Precision::Kind::passes, double(number(k, v, 1, 60, "1 to 60 bit-plane passes"))};
       },
       [](const Settings& s) {
         return s.precision.kind == Precision::Kind::passes ? number_text(s.precision.value) : "";
       }},
      {"NRMSE", true,
       [](Settings& s, auto& k, auto& v) {
         s.precision = {Precision::Kind::nrmse, number(k, v, 1e-15, 1.0, "1e-15 to 1")};
       },
       [](const Settings& s) {
         return s.precision.kind == Precision::Kind::nrmse ? number_text(s.precision.value) : "";
       }},
      {"MAX_BYTES", true,
       [](Settings& s, auto& k, auto& v) {
         const auto bytes =
             number<std::int64_t>(k, v, 96, INT64_MAX, "96 bytes or more, for each region and metric on a node");
         constexpr std::int64_t most = std::int64_t{1} << 53;  // a double holds every number up to it
         s.precision = {Precision::Kind::max_bytes, double(std::min(bytes, most))};
       },
       [](const Settings& s) {
         return s.precision.kind == Precision::Kind::max_bytes ? std::to_string(std::int64_t(s.precision.value)) : "";
       }},
      {"EXACT", true, [](Settings& s, auto& k, auto& v) { s.exact = flag(k, v); },
       [](const Settings& s) { return std::string(s.exact ? "1" : "0"); }},
      {"RANKS_PER_NODE", true,
       [](Settings& s, auto& k, auto& v) {
         s.ranks_per_node = number(k, v, 0, 1000000, "0 (all that share memory) or a number of ranks");
       },
       [](const Settings& s) { return std::to_string(s.ranks_per_node); }},
      {"PIN", false, set_pin, {}},
      {"REPORT", true,
       [](Settings& s, auto& k, auto& v) {
         if (v.empty()) refuse(k, v, "off, summary, or a file's path");
         s.report = v;
       },
       [](const Settings& s) { return s.report; }},
      {"STRICT", true, [](Settings& s, auto& k, auto& v) { s.strict = flag(k, v); },
       [](const Settings& s) { return std::string(s.strict ? "1" : "0"); }},
      {"HINT_TIMEOUT", true,
       [](Settings& s, auto& k, auto& v) { s.hint_timeout = number(k, v, 0.0, 1e9, "0 (off) or seconds"); },
       [](const Settings& s) { return number_text(s.hint_timeout); }},
      {"VERBOSE", false, [](Settings& s, auto& k, auto& v) { s.verbose = flag(k, v); }, {}},
      {"DISABLE", true, [](Settings& s, auto& k, auto& v) { s.disable = flag(k, v); },
       [](const Settings& s) { return std::string(s.disable ? "1" : "0"); }},
      {"READ_METRICS", true,
       [](Settings& s, auto& k, auto& v) {
         if (v != "step" && v != "region") refuse(k, v, "step or region");
         s.metrics_per_region = v == "region";
       },
       [](const Settings& s) { return std::string(s.metrics_per_region ? "region" : "step"); }},
      {"MULTIPLEX", true, [](Settings& s, auto& k, auto& v) { s.multiplex = flag(k, v); },
       [](const Settings& s) { return std::string(s.multiplex ? "1" : "0"); }},
      {"MAX_OVERHEAD", true,
       [](Settings& s, auto& k, auto& v) {
         s.max_overhead = number(k, v, 0.0, 1.0, "0 (guard off) to 1 (a share of the time)");
       },
       [](const Settings& s) { return number_text(s.max_overhead); }},
      {"PCONTROL", true, [](Settings& s, auto& k, auto& v) { s.pcontrol = flag(k, v); },
       [](const Settings& s) { return std::string(s.pcontrol ? "1" : "0"); }},
      {"SPLIT", true, set_split, [](const Settings& s) { return join(s.split); }},
      {"STEP", true, set_step, [](const Settings& s) { return s.step; }},
      {"PATH_DEPTH", true, [](Settings& s, auto& k, auto& v) { s.path_depth = number(k, v, 0, 16, "0 to 16 frames"); },
       [](const Settings& s) { return std::to_string(s.path_depth); }},
      {"TRACE", true, [](Settings& s, auto& k, auto& v) { s.trace.on = flag(k, v); },
       [](const Settings& s) { return std::string(s.trace.on ? "1" : "0"); }},
      {"TRACE_MEMORY", true, set_trace_memory, [](const Settings& s) { return std::to_string(s.trace.memory); }},
      {"TRACE_TIME", true, set_trace_time, trace_time},
      {"TRACE_CONFIDENCE", true, set_trace_confidence,
       [](const Settings& s) { return number_text(s.trace.confidence); }},
      {"TRACE_ERROR", true, set_trace_error, [](const Settings& s) { return number_text(s.trace.error); }},
      {"TRACE_BUDGET", true, set_trace_budget, [](const Settings& s) { return std::to_string(s.trace.budget); }},
      {"TRACE_PIN", true, set_trace_pin, trace_pin},
      {"TRACE_DESIGN", true, set_trace_design, [](const Settings& s) { return trace_design(s.trace.design); }},
      {"TRACE_UPDATE", true, set_trace_update, [](const Settings& s) { return std::to_string(s.trace.update); }},
      {"TRACE_GUIDE", true, set_trace_guide, [](const Settings& s) { return s.trace.guide; }},
      {"TRACE_NAMES", true, set_trace_names,
       [](const Settings& s) { return std::string(s.trace.hash_names ? "hash" : "plain"); }},
      {"TRACE_REDUCE", true, set_trace_reduce, trace_reduce},
      {trace_group_key, true, set_trace_groups, trace_groups},
      {trace_policy_key, true, set_trace_policies, trace_policies},
      {"COMM_MATRIX", true, [](Settings& s, auto& k, auto& v) { s.comm_matrix = flag(k, v); },
       [](const Settings& s) { return std::string(s.comm_matrix ? "1" : "0"); }},
      {"COMM_WAITS", true, [](Settings& s, auto& k, auto& v) { s.comm_waits = flag(k, v); },
       [](const Settings& s) { return std::string(s.comm_waits ? "1" : "0"); }},
  };
  return all;
}

void apply(Settings& s, const std::string& key, const std::string& value) {
  for (const Key& k : keys())
    if (key == k.name) return k.set(s, key, value);
  std::string known;
  for (const Key& k : keys()) known += (known.empty() ? "" : ", ") + std::string(k.name);
  throw Error(Status::config, "there is no setting '" + record::visible(key) + "' (value '" + record::visible(value) +
                                  "'): the keys are " + known);
}

// Applies the settings of one source after another.  A source may give only one of several mutually exclusive settings,
// which replaces the one of an earlier source.
class Source {
 public:
  explicit Source(Settings& settings) : settings_(settings) {}

  void apply(const std::string& key, const std::string& value) {
    // Hosts and other ranks read values as C strings, which end at a NUL.
    if (value.find('\0') != std::string::npos) refuse(key, value, "text without the character NUL (\\x00)");
    if (key == "PASSES" || key == "NRMSE" || key == "MAX_BYTES") {
      if (!precision_.empty() && precision_ != key)
        throw Error(Status::config, "settings " + precision_ + " and " + key +
                                        " exclude each other (each alone determines the precision of the history, " +
                                        key + " is '" + record::visible(value) +
                                        "'): give one of PASSES, NRMSE, MAX_BYTES");
      precision_ = key;
    }
    config::apply(settings_, key, value);
  }

  /// A line of a table.  A source's tables of one kind replace those of an earlier source.
  void apply_line(const FileSetting& line) {
    std::string& text = tables_[line.key];
    if (line.place == FileSetting::Place::first_in_table) text += '\n';
    text += line.value + '\n';
    config::apply(settings_, line.key, text);
    if (line.place == FileSetting::Place::last_in_table) check_trace_rules(settings_);
  }

 private:
  Settings& settings_;
  std::map<std::string, std::string> tables_;
  std::string precision_;
};

void apply_file(Settings& s, const std::string& path) {
  Source source(s);
  for (const FileSetting& setting : read_settings_file(path)) {
    try {
      if (setting.place == FileSetting::Place::top)
        source.apply(setting.key, setting.value);
      else
        source.apply_line(setting);
    } catch (const Error& e) {
      throw Error(e.status(), "configuration file '" + record::visible(path) + "', line " +
                                  std::to_string(setting.line) + ": " + e.what());
    }
  }
}

void apply_environment(Settings& s) {
  Source source(s);
  for (const Key& k : keys())
    if (const char* value = environment((std::string("EFFORT_") + k.name).c_str())) {
      if (k.name == std::string_view("TRACE") && value == std::string_view("functions"))
        continue;  // libeffort_functions
      try {
        source.apply(k.name, value);
      } catch (const Error& e) {
        throw Error(e.status(), std::string("environment variable EFFORT_") + k.name + ": " + e.what());
      }
    }
}

void check_together(Settings& s) {
  check_trace_rules(s);
  if (s.window > 0 && s.hint_lag < 0) s.hint_lag = std::min(2, s.window);
  if (s.window > 0 && s.hint_lag > s.window)
    throw Error(Status::config, "setting HINT_LAG cannot be '" + std::to_string(s.hint_lag) +
                                    "': allowed is 0 to WINDOW (" + std::to_string(s.window) + " steps)");
}

/// Resolves relative file names now, because the host may change its working directory later.
void make_absolute(std::string& path) {
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  if (!none) path = whole.lexically_normal().string();
}

/// The settings of libeffort_functions, which reads the environment itself.
constexpr std::string_view functions_keys[] = {"FUNCTIONS", "FUNCTIONS_DEPTH", "FUNCTIONS_FILTER", "FUNCTIONS_MODULES",
                                               "FUNCTIONS_OVERHEAD"};

/// Finds variables that look like settings but are not.  They are not errors, since other programs may use the prefix.
std::vector<std::string> unknown_variables() {
  std::vector<std::string> out;
  for (char** entry = environ; entry && *entry && out.size() < 16; ++entry) {
    const std::string text = *entry, variable = text.substr(0, text.find('='));
    if (!variable.starts_with("EFFORT_") || variable == "EFFORT_CONFIG" || variable.size() > 64 ||
        !environment(variable.c_str()))
      continue;
    const std::string key = variable.substr(7);
    if (std::find(std::begin(functions_keys), std::end(functions_keys), key) != std::end(functions_keys)) continue;
    const auto nearer = [&](const Key& a, const Key& b) {
      return record::distance(key, a.name) < record::distance(key, b.name);
    };
    const std::string nearest = std::min_element(keys().begin(), keys().end(), nearer)->name;
    constexpr std::size_t most_typos = 2;  // a more distant key was hardly intended
    const std::string meant =
        record::distance(key, nearest) <= most_typos ? "; did you mean EFFORT_" + nearest + "?" : "";
    if (nearest != key)
      out.push_back("environment variable " + record::visible(variable) + " is not a setting and was ignored" + meant);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void check(const std::string& key, const std::string& value) {
  Settings scratch;
  apply(scratch, upper_case(key), value);
}

Settings resolve(const std::vector<Pair>& given) {
  Settings s;
  Source source(s);
  for (const auto& [key, value] : given) source.apply(upper_case(key), value);
  const char* const path = environment("EFFORT_CONFIG");
  if (path && *path) apply_file(s, path);
  apply_environment(s);
  check_together(s);
  make_absolute(s.snapshot_dir);
  if (s.report != "off" && s.report != "summary") make_absolute(s.report);
  if (path && *path) refuse_as_report(path, s.report);
  s.notes = unknown_variables();
  return s;
}

std::string to_text(const Settings& settings) {
  std::string out;
  for (const Key& k : keys())
    if (k.shared)
      if (const std::string value = k.get(settings); !value.empty()) out += std::string(k.name) + '\0' + value + '\0';
  return out;
}

void apply_text(Settings& settings, const std::string& text) {
  // The text contains the threshold only if it was set, because a set threshold has another meaning than the default.
  settings.rebalance_threshold = Settings{}.rebalance_threshold;
  settings.threshold_given = false;
  std::size_t at = 0;
  auto word = [&] {
    const std::size_t end = text.find('\0', at);
    std::string w = text.substr(at, end - at);
    at = end + 1;
    return w;
  };
  while (at < text.size()) {
    const std::string key = word();
    apply(settings, key, word());
  }
}

}  // namespace effort::config
