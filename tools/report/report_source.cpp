#include "tools/report/report_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

#include "tools/files/inputs.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;  ///< of all text in the page
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 20;
constexpr int context_lines = 30;  ///< searched from a begin to its end, at most this times 20

struct Text {
  std::string path;
  std::string whole;
  std::vector<std::string> lines;
};

bool is_source(const fs::path& path) {
  static const std::set<std::string> known = {".c",   ".h",  ".cc", ".cpp", ".cxx", ".hh",  ".hpp", ".hxx",
                                              ".inc", ".cu", ".f",  ".for", ".f90", ".f95", ".f03", ".f08"};
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return known.contains(extension);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<Text> read_all(const fs::path& directory) {
  std::vector<Text> out;
  for (auto at = fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied);
       at != fs::recursive_directory_iterator(); ++at) {
    if (at->is_symlink() || at->path().filename().string().front() == '.') {
      at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file() || !is_source(at->path()) || at->file_size() > largest_file) continue;
    count_as_input(at->path());
    std::ifstream file(at->path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::string> lines = lines_of(text);
    out.push_back({fs::relative(at->path(), directory).generic_string(), std::move(text), std::move(lines)});
  }
  std::sort(out.begin(), out.end(), [](const Text& a, const Text& b) { return a.path < b.path; });
  return out;
}

/// A quoted word in a line.
struct Quoted {
  std::string word;
  std::size_t end;  ///< after the closing quote
};
std::vector<Quoted> quoted_in(const std::string& line) {
  std::vector<Quoted> out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char quote = line[at];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t close = line.find(quote, at + 1);
    if (close == std::string::npos) continue;
    out.push_back({line.substr(at + 1, close - at - 1), close + 1});
    at = close;
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The last argument of a call, without blanks and '&': "m->region[SECTION_FORCE]".
std::string last_argument(const std::string& line, std::size_t from) {
  const std::size_t comma = line.find_last_of(','), close = line.rfind(')');
  if (comma == std::string::npos || close == std::string::npos || comma < from || close < comma) return {};
  std::string out;
  for (std::size_t i = comma + 1; i < close; ++i)
    if (!std::isspace(static_cast<unsigned char>(line[i])) && line[i] != '&') out += line[i];
  return out;
}

std::string without_blanks(const std::string& line) {
  std::string out;
  std::copy_if(line.begin(), line.end(), std::back_inserter(out), [](unsigned char c) { return !std::isspace(c); });
  return out;
}

class Finder {
 public:
  Finder(std::vector<Text> texts, const std::vector<std::string>& regions) : texts_(std::move(texts)) {
    for (std::size_t r = 0; r < regions.size(); ++r) region_.emplace(regions[r], r);
  }

  void find_names() {
    std::vector<std::pair<std::string, std::size_t>> variables;
    for (std::size_t f = 0; f < texts_.size(); ++f)
      for (std::size_t l = 0; l < texts_[f].lines.size(); ++l) look_at(f, l, variables);
    for (const auto& [variable, region] : variables) find_stretches("(" + lower(variable) + ")", region);
  }

  void add_known(const std::vector<KnownPlace>& known) {
    for (const KnownPlace& place : known) {
      const std::optional<std::size_t> file = best_file(place.file);
      if (!file || place.line < 1 || place.line > static_cast<int>(texts_[*file].lines.size())) continue;
      add({place.region, *file, place.line, place.line, place.what});
    }
  }

  SourceMap finish() {
    std::sort(places_.begin(), places_.end(), [](const SourcePlace& a, const SourcePlace& b) {
      return std::tie(a.region, a.file, a.first) < std::tie(b.region, b.file, b.first);
    });
    SourceMap out;
    std::map<std::size_t, std::size_t> number;
    std::size_t bytes = 0, left_out = 0;
    for (SourcePlace& place : places_) {
      const auto [at, fresh] = number.try_emplace(place.file, out.files.size());
      if (fresh) {
        Text& text = texts_[place.file];
        const bool fits = bytes + text.whole.size() <= most_bytes;
        left_out += !fits;
        if (fits) bytes += text.whole.size();
        out.files.push_back({text.path, fits ? std::move(text.whole) : std::string()});
      }
      place.file = at->second;
    }
    out.places = std::move(places_);
    if (left_out > 0)
      out.notes.push_back("the text of " + std::to_string(left_out) +
                          " source files is omitted: the page holds at most 4 MiB of source");
    return out;
  }

 private:
  void look_at(std::size_t f, std::size_t l, std::vector<std::pair<std::string, std::size_t>>& variables) {
    const std::string& line = texts_[f].lines[l];
    for (const Quoted& quoted : quoted_in(line)) {
      const auto region = region_.find(quoted.word);
      if (region == region_.end()) continue;
      const std::string flat = lower(without_blanks(line));
      if (flat.find("end(") < flat.find(lower(without_blanks(quoted.word)))) continue;
      const auto number = static_cast<int>(l + 1);
      if (flat.find("begin(") != std::string::npos || flat.find("effort::region") != std::string::npos) {
        const int last = end_of(f, l, "'" + lower(quoted.word) + "'", "\"" + lower(quoted.word) + "\"");
        add({region->second, f, number, std::max(last, number), last > number ? "begin to end" : "begins here"});
      } else {
        add({region->second, f, number, number, "named here"});
        if (flat.find("effort_region(") == std::string::npos) continue;
        const std::string variable = last_argument(line, quoted.end);
        if (!variable.empty()) variables.emplace_back(variable, region->second);
      }
    }
  }

  /// The line of the end call that names either text, within a few hundred lines; 0: none.
  int end_of(std::size_t f, std::size_t l, const std::string& one, const std::string& other) const {
    const std::vector<std::string>& lines = texts_[f].lines;
    for (std::size_t k = l; k < std::min(lines.size(), l + 20 * context_lines); ++k) {
      const std::string flat = lower(without_blanks(lines[k]));
      const std::size_t end = flat.find("end(");
      if (end == std::string::npos) continue;
      if (flat.find(lower(without_blanks(one)), end) != std::string::npos ||
          flat.find(lower(without_blanks(other)), end) != std::string::npos)
        return static_cast<int>(k + 1);
    }
    return 0;
  }

  void find_stretches(const std::string& argument, std::size_t region) {
    for (std::size_t f = 0; f < texts_.size(); ++f) {
      for (std::size_t l = 0; l < texts_[f].lines.size(); ++l) {
        const std::string flat = lower(without_blanks(texts_[f].lines[l]));
        if (flat.find("begin" + argument) == std::string::npos) continue;
        const int number = static_cast<int>(l + 1), last = end_of(f, l, argument, argument);
        add({region, f, number, std::max(last, number), last > number ? "begin to end" : "begins here"});
      }
    }
  }

  /// The file whose path has the longest common suffix with `path`; at least the base name must agree.
  std::optional<std::size_t> best_file(const std::string& path) const {
    std::optional<std::size_t> best;
    std::size_t longest = 0;
    const std::string wanted = "/" + path;
    for (std::size_t f = 0; f < texts_.size(); ++f) {
      const std::string here = "/" + texts_[f].path;
      std::size_t n = 0;
      while (n < here.size() && n < wanted.size() && here[here.size() - 1 - n] == wanted[wanted.size() - 1 - n]) ++n;
      if (n < here.size() - here.find_last_of('/') || n <= longest) continue;
      longest = n;
      best = f;
    }
    return best;
  }

  void add(SourcePlace place) {
    for (const SourcePlace& other : places_)
      if (other.region == place.region && other.file == place.file && other.first == place.first) return;
    places_.push_back(std::move(place));
  }

  std::vector<Text> texts_;
  std::map<std::string, std::size_t> region_;
  std::vector<SourcePlace> places_;
};

}  // namespace

SourceMap find_source(const fs::path& directory, const std::vector<std::string>& regions,
                      const std::vector<KnownPlace>& known) {
  if (!fs::is_directory(directory))
    throw std::system_error(ENOTDIR, std::generic_category(), "the source directory '" + directory.string() + "'");
  Finder finder(read_all(directory), regions);
  finder.find_names();
  finder.add_known(known);
  SourceMap out = finder.finish();
  if (out.places.empty())
    out.notes.push_back(
        "no region's name and no call path's file was found below the source directory: check --source");
  return out;
}

}  // namespace effort::tools
