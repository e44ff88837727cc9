// effort report SNAP... -o out.html
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "tools/commands.hpp"
#include "tools/kokkos_session.hpp"
#include "tools/output.hpp"
#include "tools/raw_file.hpp"
#include "tools/report_data.hpp"
#include "tools/report_page.hpp"
#include "tools/symbols.hpp"

namespace effort::tools {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> snapshots;
  std::string out, source, title;
  std::vector<std::string> orders, module_path;
  bool json = false;
};

/// On a terminal, a line that says how far it is; only where it takes longer than a second.
class Progress {
 public:
  void show(const std::string& what, double share) {
    if (!terminal_ || watch_.seconds() < 1) return;
    std::fprintf(stderr, "\r%s: %3.0f %%", what.c_str(), 100 * share);
    shown_ = true;
  }
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  Stopwatch watch_;
};

/// Text that may stand inside a script element.
std::string script_text(const ordered_json& object) {
  const std::string text = object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

std::string escaped(const std::string& text) {
  static const std::map<char, std::string> entities = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
  std::string out;
  for (const char c : text) {
    const auto at = entities.find(c);
    at == entities.end() ? out += c : out += at->second;
  }
  return out;
}

/// "NAME=FILE" or "FILE", which holds every rank once, in the order wanted.
RankOrder read_order(const std::string& argument) {
  const std::size_t equal = argument.find('=');
  const std::string path = equal == std::string::npos ? argument : argument.substr(equal + 1);
  RankOrder order{equal == std::string::npos ? fs::path(path).stem().string() : argument.substr(0, equal), {}};
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the order of ranks '" + path + "': give a file that names every rank once");
  for (std::int32_t rank = 0; file >> rank;) order.ranks.push_back(rank);
  std::vector<std::int32_t> sorted = order.ranks;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (!file.eof() || sorted[i] != static_cast<std::int32_t>(i))
      throw std::runtime_error("the order of ranks '" + path + "' does not hold every rank from 0 to " + std::to_string(sorted.size() - 1) + " exactly once: write each on a line of its own");
  return order;
}

/// One snapshot, described; its histories follow it into the page later.
struct Described {
  ordered_json json;
  std::vector<SeriesBytes> series;
  std::vector<std::string> regions;
  std::vector<snapshot::Module> modules;
};

Described describe(const std::string& path, std::span<const RankOrder> orders, Progress& progress) {
  snapshot::Reader reader{fs::path(path)};
  reader.verify();
  const snapshot::SeriesReader series(reader);
  const RunSummary summary = summarise(reader.run(), series, [&](double share) { progress.show("reading " + path, share); });
  Described out{report_json(reader, series, summary, orders), report_bytes(reader), {}, reader.run().modules};
  for (const ordered_json& region : out.json["info"]["regions"]) out.regions.push_back(region["name"]);
  return out;
}

/// The names of all runs' regions, each once.
std::vector<std::string> all_regions(const std::vector<Described>& runs) {
  std::vector<std::string> out;
  for (const Described& run : runs)
    for (const std::string& name : run.regions)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  return out;
}

/// Functions, files and lines of all frames in the regions' names, and where the regions' calls stand.
struct ResolvedFrames {
  ordered_json frames = ordered_json::object();
  std::vector<std::string> notes;
  std::vector<KnownPlace> places;
};

ResolvedFrames resolve_frames(const std::vector<std::string>& regions, const std::vector<Described>& runs, const std::vector<std::string>& module_path) {
  std::vector<snapshot::Module> modules;
  for (const Described& run : runs) modules.insert(modules.end(), run.modules.begin(), run.modules.end());
  Symbols symbols(modules, {module_path.begin(), module_path.end()});
  ResolvedFrames out;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    for (const CallPath& path : call_paths(regions[r])) {
      for (const Frame& frame : path.frames) {
        std::array<char, 32> address{};
        std::snprintf(address.data(), address.size(), "+0x%llx", static_cast<unsigned long long>(frame.address));
        ordered_json& places = out.frames[frame.module + address.data()];
        const std::vector<Location>& locations = symbols.resolve(frame);
        if (places.is_null()) {
          places = ordered_json::array();
          for (const Location& l : locations) places.push_back({{"function", l.function}, {"file", l.file}, {"line", l.line}});
        }
        for (const Location& l : locations)
          if (!l.file.empty()) out.places.push_back({r, l.file, l.line, (&frame == path.frames.data() ? "call of " : "on the way to ") + path.call});
      }
    }
  }
  out.notes = symbols.notes();
  return out;
}

void write_element(OutputFile& file, const std::string& id, const std::string& type, const std::string& text) {
  file.write("<script type=\"" + type + "\" id=\"" + id + "\">");
  file.write(text);
  file.write(std::string("</script>\n"));
}

void write_page(const fs::path& path, const ordered_json& head, std::vector<Described>& runs) {
  const PageTemplate page = page_template();
  OutputFile file(path);
  std::string before(page.before);
  const std::string place = "<title>effort</title>";
  if (const std::size_t at = before.find(place); at != std::string::npos) before.replace(at, place.size(), "<title>" + escaped(head["title"]) + "</title>");
  file.write(before);
  write_element(file, "effort-head", "application/json", script_text(head));
  for (std::size_t r = 0; r < runs.size(); ++r) write_element(file, "effort-run-" + std::to_string(r), "application/json", script_text(runs[r].json));
  // The page shows its first view here, while the histories are still being read.
  file.write(std::string("<script>effortReport.start()</script>\n"));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t s = 0; s < runs[r].series.size(); ++s)
      write_element(file, "effort-data-" + std::to_string(r) + "-" + std::to_string(s), "text/plain", base64(runs[r].series[s]));
  }
  write_element(file, "effort-end", "text/plain", "complete");
  file.write(std::string(page.behind));
  file.commit();
}

std::string title_of(const Arguments& a, const std::vector<Described>& runs) {
  if (!a.title.empty()) return a.title;
  std::string title;
  for (const Described& run : runs) title += (title.empty() ? "" : ", ") + run.json["info"]["name"].get<std::string>();
  return title;
}

void run_report(const Arguments& a) {
  if (page_template().before.empty())
    throw std::runtime_error("this effort has no report page, because Node.js was missing when it was built: install nodejs and npm, configure and build it again");
  std::vector<RankOrder> orders;
  for (const std::string& order : a.orders) orders.push_back(read_order(order));
  const Stopwatch watch;
  std::vector<Described> runs;
  {
    const KokkosSession kokkos;
    Progress progress;
    for (const std::string& path : a.snapshots) runs.push_back(describe(path, orders, progress));
  }
  ordered_json head;
  head["title"] = title_of(a, runs);
  head["effort"] = EFFORT_VERSION_TEXT;
  head["runs"] = runs.size();
  head["regions"] = all_regions(runs);
  const ResolvedFrames resolved = resolve_frames(head["regions"], runs, a.module_path);
  if (!resolved.frames.empty()) {
    head["frames"] = resolved.frames;
    head["frame_notes"] = resolved.notes;
  }
  if (!a.source.empty()) head["source"] = source_json(find_source(a.source, head["regions"], resolved.places));
  write_page(a.out, head, runs);
  const auto bytes = fs::file_size(a.out);
  if (a.json) {
    print_json({{"file", a.out}, {"bytes", bytes}, {"page_bytes", page_template().before.size() + page_template().behind.size()}, {"seconds", watch.seconds()}});
  } else {
    std::printf("%s: %s, of which the page itself %s\n", a.out.c_str(), bytes_text(static_cast<double>(bytes)).c_str(),
                bytes_text(static_cast<double>(page_template().before.size() + page_template().behind.size())).c_str());
  }
}

}  // namespace

void add_report(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "Writes one self-contained page that shows runs in any browser, offline");
  command->add_option("SNAP", a->snapshots, "snapshot files; several are compared")->required();
  command->add_option("-o", a->out, "page to write (HTML)")->required();
  command->add_option("--source", a->source, "directory of the application's source files, to show the lines of regions");
  command->add_option("--module-path", a->module_path, "directory with, or file of, the run's programs and libraries, for functions and lines of call paths (repeatable)");
  command->add_option("--order", a->orders, "[NAME=]FILE: an order of ranks to offer, such as a topology's; the file holds every rank once");
  command->add_option("--title", a->title, "title of the page (the runs' names)");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_report(*a); });
}

}  // namespace effort::tools
