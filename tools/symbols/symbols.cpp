#include "tools/symbols/symbols.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>

#include "tools/files/inputs.hpp"

namespace effort::tools {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string raw_text(const Frame& frame) { return frame.module + "+" + hexadecimal(frame.address); }

std::string place_text(const Location& at) {
  if (at.file.empty()) return "";
  return fs::path(at.file).filename().string() + (at.line > 0 ? ":" + std::to_string(at.line) : "");
}

std::string text_of(const Location& at) {
  std::string place = place_text(at);
  if (at.function.empty()) return place;
  return place.empty() ? at.function : at.function + " (" + place + ")";
}

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

Symbols::Symbols(std::vector<record::Module> modules, std::vector<fs::path> search)
    : recorded_(std::move(modules)), search_(std::move(search)) {
  for (const fs::path& path : search_) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      throw std::runtime_error("there is no '" + path.string() +
                               "': give --module-path a directory or a file that exists");
  }
  for (const record::Module& module : recorded_)
    for (const fs::path& program : candidates(module.name)) count_as_input(program);
}

Symbols::~Symbols() = default;

std::vector<fs::path> Symbols::candidates(const std::string& name) const {
  std::vector<fs::path> out;
  // A name with a path in it would lead out of the directories.
  const bool plain = !name.empty() && name.find('/') == std::string::npos;
  for (const fs::path& place : search_) {
    if (place.filename() == name && is_regular(place)) out.push_back(place);
    if (plain && is_regular(place / name)) out.push_back(place / name);
  }
  for (const record::Module& module : recorded_) {
    if (module.name == name && is_regular(module.path)) out.emplace_back(module.path);
  }
  return out;
}

Symbols::Module Symbols::open(const std::string& name) const {
  if (!DebugInfo::available())
    return {nullptr,
            "call paths are not resolved: effort was built without libdw; install libdw-dev and build it again"};
  std::string wanted, problem;
  for (const record::Module& module : recorded_) {
    if (module.name == name) wanted = module.build_id;
  }
  for (const fs::path& path : candidates(name)) {
    try {
      auto info = std::make_unique<DebugInfo>(path);
      if (!wanted.empty() && info->build_id() != wanted) {
        problem = name + ": '" + path.string() + "' is of another build than the run's; give build " + wanted +
                  " with --module-path";
        continue;
      }
      const bool lines = info->has_lines();
      return {std::move(info), lines ? ""
                                     : name + ": '" + path.string() +
                                           "' has no debug information; compile with -g to see files and lines"};
    } catch (const std::runtime_error& e) {
      problem = name + ": '" + path.string() + "' cannot be read (" + e.what() + "); give another with --module-path";
    }
  }
  if (problem.empty()) problem = name + " was not found: give the directory that holds it with --module-path";
  return {nullptr, problem};
}

Symbols::Module& Symbols::module(const std::string& name) {
  const auto at = modules_.find(name);
  if (at != modules_.end()) return at->second;
  return modules_.emplace(name, open(name)).first->second;
}

const std::vector<Location>& Symbols::resolve(const Frame& frame) {
  const auto at = known_.find(frame);
  if (at != known_.end()) return at->second;
  const Module& from = module(frame.module);
  // The address is the return address; the call before it may be the last instruction of its line, or of its function.
  std::vector<Location> found =
      from.info && frame.address > 0 ? from.info->look_up(frame.address - 1) : std::vector<Location>{};
  return known_.emplace(frame, std::move(found)).first->second;
}

std::string Symbols::text_of(const Frame& frame) {
  const std::vector<Location>& locations = resolve(frame);
  return locations.empty() ? raw_text(frame) : tools::text_of(locations.front());
}

std::string Symbols::text_of(const CallPath& path, std::size_t depth) {
  std::string out;
  const std::size_t count = depth == 0 ? path.frames.size() : std::min(depth, path.frames.size());
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : " < ") + text_of(path.frames[i]);
  return out;
}

/// Calls from one place share their path.
std::string Symbols::work_text(const CallPath& from, const CallPath& to, std::size_t depth) {
  const auto text = [&](const CallPath& path) { return path.frames.empty() ? path.call : text_of(path, depth); };
  if (from.frames.empty() || to.frames.empty()) return text(from) + " -> " + text(to);
  const std::vector<Location> a = resolve(from.frames[0]), b = resolve(to.frames[0]);
  const bool same = !a.empty() && !b.empty() && a[0].function == b[0].function && a[0].file == b[0].file &&
                    a[0].line > 0 && b[0].line > 0 &&
                    std::equal(from.frames.begin() + 1, from.frames.end(), to.frames.begin() + 1, to.frames.end());
  if (!same) return text(from) + " -> " + text(to);
  std::string out = a[0].function + (a[0].function.empty() ? "" : " (") + place_text(a[0]);
  if (b[0].line != a[0].line) out += "-" + std::to_string(b[0].line);
  if (!a[0].function.empty()) out += ")";
  const std::string whole = text_of(from, depth), first = text_of(from, 1);
  return out + whole.substr(first.size());
}

std::string Symbols::readable(const std::string& region, std::size_t depth) {
  const std::vector<CallPath> paths = call_paths(region);
  if (paths.empty()) return region;
  if (paths.size() == 2) return work_text(paths[0], paths[1], depth);
  return paths[0].call + ": " + text_of(paths[0], depth);
}

std::string Symbols::innermost_text(const CallPath& path) {
  if (path.frames.empty()) return path.call;
  for (const Frame& frame : path.frames) {
    const std::vector<Location>& locations = resolve(frame);
    if (!locations.empty() && !locations.front().function.empty()) return tools::text_of(locations.front());
  }
  return raw_text(path.frames.front());
}

std::string Symbols::short_name(const std::string& region) {
  std::vector<CallPath> paths = call_paths(region);
  if (paths.empty()) return region;
  if (paths.size() == 1) return paths[0].call + ": " + innermost_text(paths[0]);
  const auto alone = [](CallPath& path) { path.frames.resize(std::min<std::size_t>(path.frames.size(), 1)); };
  std::string from = innermost_text(paths[0]), to = innermost_text(paths[1]);
  if (from == to) return from;
  alone(paths[0]);
  alone(paths[1]);
  // In one function, "norm (solver.cpp:88-95)".
  const std::string work = work_text(paths[0], paths[1], 1);
  return work.find(" -> ") == std::string::npos ? work : from + " -> " + to;
}

std::string Symbols::sentence(const std::string& text) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
    const std::size_t close = text.find(']', open);
    if (close == std::string::npos) break;
    const std::vector<CallPath> paths = call_paths("call " + text.substr(open, close + 1 - open));
    if (paths.size() != 1) continue;
    out += text.substr(done, open + 1 - done) + text_of(paths[0], 0);
    done = close;
  }
  return out + text.substr(done);
}

std::vector<std::string> Symbols::short_names(const std::vector<std::string>& regions) {
  std::vector<std::string> out;
  std::vector<std::string> whole;
  for (const std::string& region : regions) {
    out.push_back(readable(region, 1));
    whole.push_back(readable(region));
  }
  constexpr std::size_t deepest = 16;
  for (std::size_t depth = 2; depth <= deepest; ++depth) {
    std::map<std::string, std::set<std::string>> meanings;
    for (std::size_t i = 0; i < out.size(); ++i) meanings[out[i]].insert(whole[i]);
    bool all = true;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (meanings[out[i]].size() < 2) continue;
      out[i] = depth == deepest ? whole[i] : readable(regions[i], depth);
      all = false;
    }
    if (all) break;
  }
  return out;
}

ordered_json Symbols::json(const std::string& region) {
  const std::vector<CallPath> paths = call_paths(region);
  if (paths.empty()) return nullptr;
  ordered_json out;
  out["name"] = readable(region);
  out["call_paths"] = ordered_json::array();
  for (const CallPath& path : paths) {
    ordered_json frames = ordered_json::array();
    for (const Frame& frame : path.frames) {
      ordered_json locations = ordered_json::array();
      for (const Location& at : resolve(frame)) {
        locations.push_back({{"function", at.function.empty() ? ordered_json(nullptr) : ordered_json(at.function)},
                             {"file", at.file.empty() ? ordered_json(nullptr) : ordered_json(at.file)},
                             {"line", at.line > 0 ? ordered_json(at.line) : ordered_json(nullptr)}});
      }
      frames.push_back(
          {{"module", frame.module}, {"address", hexadecimal(frame.address)}, {"locations", std::move(locations)}});
    }
    out["call_paths"].push_back({{"call", path.call}, {"frames", std::move(frames)}});
  }
  return out;
}

std::vector<std::string> Symbols::notes() const {
  std::vector<std::string> out;
  for (const auto& [name, module] : modules_) {
    if (!module.note.empty() && std::find(out.begin(), out.end(), module.note) == out.end()) out.push_back(module.note);
  }
  return out;
}

bool has_call_paths(const record::Run& run) {
  return std::any_of(run.series.begin(), run.series.end(),
                     [](const record::Series& s) { return !call_paths(s.region).empty(); });
}

}  // namespace effort::tools
