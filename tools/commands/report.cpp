// effort report SNAP... [TRACE...] [CALLS...] -o out.html
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "record/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/files/output_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/progress.hpp"
#include "tools/report/report_calls.hpp"
#include "tools/report/report_collectives.hpp"
#include "tools/report/report_communication.hpp"
#include "tools/report/report_data.hpp"
#include "tools/report/report_page.hpp"
#include "tools/report/report_trace.hpp"
#include "tools/symbols/symbols.hpp"
#include "tools/trace/input/read.hpp"
#include "tools/view/compare.hpp"

namespace effort::tools {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Text escaped for a script element.
std::string script_text(const ordered_json& object) {
  const std::string text = json_text(object);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

std::string escaped(const std::string& text) {
  static const std::map<char, std::string> entities = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
  std::string out;
  for (const char c : record::visible(text)) {
    const auto at = entities.find(c);
    at == entities.end() ? out += c : out += at->second;
  }
  return out;
}

/// The object with all names and texts in it as record::visible shows them, for the page.
ordered_json shown(const ordered_json& value) {
  if (value.is_string()) return record::visible(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  ordered_json out = value.is_array() ? ordered_json::array() : ordered_json::object();
  for (auto at = value.begin(); at != value.end(); ++at) {
    if (value.is_array())
      out.push_back(shown(*at));
    else if (at.key() == "source")
      out[at.key()] = *at;  // the lines of files
    else
      out[record::visible(at.key())] = shown(*at);
  }
  return out;
}

/// The file of "NAME=FILE" or "FILE".
std::string order_file(const std::string& argument) {
  const std::size_t equal = argument.find('=');
  return equal == std::string::npos ? argument : argument.substr(equal + 1);
}

/// The file holds every rank once, in the desired order.
RankOrder read_order(const std::string& argument) {
  const std::size_t equal = argument.find('=');
  const std::string path = order_file(argument);
  RankOrder order{equal == std::string::npos ? fs::path(path).stem().string() : argument.substr(0, equal), {}};
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot read the order of ranks '" + path + "': give a file that names every rank once");
  for (std::int32_t rank = 0; file >> rank;) order.ranks.push_back(rank);
  std::vector<std::int32_t> sorted = order.ranks;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (!file.eof() || sorted[i] != static_cast<std::int32_t>(i))
      throw std::runtime_error("the order of ranks '" + path + "' does not hold every rank from 0 to " +
                               std::to_string(sorted.size() - 1) + " exactly once: write each on a line of its own");
  return order;
}

/// The description of one snapshot; its histories are written into the page later.
struct Described {
  ordered_json json;
  std::vector<SeriesBytes> series;
  std::vector<SeriesSummary> summaries;
  ExactValues exact;
  record::Run run;
  std::unique_ptr<Symbols> symbols;
  std::optional<TraceForPage> trace;
  ordered_json communication = ordered_json::object();  ///< "snapshot", "trace", "collectives"; null: not known
};

Described describe(const std::string& path, const ReportArguments& a, std::span<const RankOrder> orders) {
  record::Reader reader{fs::path(path)};
  reader.verify();
  const record::SeriesReader series(reader);
  Progress progress("reading " + path, static_cast<double>(reader.run().series.size()));
  RunSummary summary = summarise(reader.run(), series, [&] { progress.advance(1); });
  use_step_loads(summary.load, reader.run(), series);
  ExactValues exact = report_exact(reader.run(), series);
  ordered_json json = report_json(reader, series, summary, exact, orders);
  auto symbols = std::make_unique<Symbols>(reader.run().modules,
                                           std::vector<fs::path>(a.module_path.begin(), a.module_path.end()));
  ordered_json collectives = collective_waits_json(reader, series, *symbols);
  return {std::move(json),
          report_bytes(reader),
          std::move(summary.series),
          std::move(exact),
          reader.run(),
          std::move(symbols),
          std::nullopt,
          {{"snapshot", snapshot_communication(reader, a.communication_bytes)},
           {"trace", nullptr},
           {"collectives", std::move(collectives)}}};
}

/// Adds a trace to its run: the one of the same job, or the only one unless it is known to be of another job.
void add_trace(const std::string& path, const ReportArguments& a, std::vector<Described>& runs) {
  const Trace trace = read_trace(path);
  Described* of = nullptr;
  for (Described& run : runs) {
    const bool unknown = trace.job.empty() || run.json["info"]["job"].get_ref<const std::string&>().empty();
    if (unknown ? runs.size() == 1 : run.json["info"]["job"] == trace.job && run.json["info"]["name"] == trace.name)
      of = &run;
  }
  if (of == nullptr)
    throw UsageError("none of the snapshots belongs to the run of trace '" + path + "'" +
                     (trace.job.empty() ? "" : " (" + trace.name + ", job " + trace.job + ")") +
                     ": give the snapshot of that run" + (trace.job.empty() ? " alone" : ""));
  if (of->trace)
    throw UsageError("'" + path + "' is a second trace of " + of->json["file"].get<std::string>() +
                     ": give one trace for each run");
  if (trace.n_ranks != of->run.ranks)
    throw UsageError("the trace '" + path + "' has " + count_text(static_cast<std::uint64_t>(trace.n_ranks), "rank") +
                     ", and the snapshot " + of->json["file"].get<std::string>() + " has " +
                     std::to_string(of->run.ranks) + ": give the trace of the same run");
  const TraceMessages messages = match_messages(trace);
  const CallEstimates calls = estimate_calls(trace);
  of->trace = trace_for_page({trace, messages, calls}, a.trace_bytes);
  CommunicationTrace communication = communication_of(trace, messages);
  for (std::string& name : communication.short_names) name = of->symbols->short_name(name);
  for (std::string& region : communication.record.regions) region = of->symbols->readable(region);
  of->communication["trace"] =
      trace_communication(std::move(communication), of->trace->origin_ns, a.communication_bytes);
}

/// The names of all runs' regions, each once.
std::vector<std::string> all_regions(const std::vector<Described>& runs) {
  std::vector<std::string> out;
  std::set<std::string> known;
  for (const Described& run : runs)
    for (const ordered_json& region : run.json["info"]["regions"])
      if (std::string name = region["name"]; known.insert(name).second) out.push_back(std::move(name));
  return out;
}

/// Functions, files and lines of the frames in a run's regions; the places of their calls are appended to `places`.
ordered_json resolve_frames(const std::vector<std::string>& regions, Described& run, std::vector<KnownPlace>& places) {
  std::set<std::string> own;
  for (const ordered_json& region : run.json["info"]["regions"]) own.insert(region["name"]);
  ordered_json frames = ordered_json::object();
  for (std::size_t r = 0; r < regions.size(); ++r) {
    if (!own.contains(regions[r])) continue;
    for (const CallPath& path : call_paths(regions[r])) {
      for (const Frame& frame : path.frames) {
        std::array<char, 32> address{};
        std::snprintf(address.data(), address.size(), "+0x%llx", static_cast<unsigned long long>(frame.address));
        ordered_json& known = frames[frame.module + address.data()];
        const std::vector<Location>& locations = run.symbols->resolve(frame);
        if (known.is_null()) {
          known = ordered_json::array();
          for (const Location& l : locations)
            known.push_back({{"function", l.function}, {"file", l.file}, {"line", l.line}});
        }
        for (const Location& l : locations)
          if (!l.file.empty())
            places.push_back(
                {r, l.file, l.line, (&frame == path.frames.data() ? "call of " : "leads to ") + path.call});
      }
    }
  }
  return frames;
}

/// Short forms of names that are call paths, for narrow places.
ordered_json short_names(Described& run) {
  std::vector<std::string> paths;
  for (const ordered_json& region : run.json["info"]["regions"])
    if (std::string name = region["name"]; !call_paths(name).empty()) paths.push_back(std::move(name));
  const std::vector<std::string> names = run.symbols->short_names(paths);
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < paths.size(); ++i) out[paths[i]] = names[i];
  return out;
}

/// Runs compared as by `effort diff`: all with all, or, if there are many, the first with the others.
ordered_json comparisons(std::vector<Described>& runs) {
  constexpr std::size_t most_all = 4;
  ordered_json out = ordered_json::array();
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = 0; b < runs.size(); ++b) {
      if (a == b || (runs.size() > most_all && a != 0)) continue;
      ordered_json pair;
      try {
        Comparison c = compare(runs[a].run, runs[b].run, *runs[a].symbols, *runs[b].symbols);
        c.a.file = runs[a].json["file"];
        c.b.file = runs[b].json["file"];
        pair = compare_json(c);
      } catch (const std::exception& e) {
        pair["problem"] = e.what();
      }
      out.push_back({{"before", a}, {"after", b}, {"comparison", std::move(pair)}});
    }
  }
  return out;
}

void write_element(OutputFile& file, const std::string& id, const std::string& type, const std::string& text) {
  file.write("<script type=\"" + type + "\" id=\"" + id + "\">");
  file.write(text);
  file.write(std::string("</script>\n"));
}

void write_page(const fs::path& out, const ordered_json& head, std::vector<Described>& runs,
                const ordered_json& compared, const ordered_json& calls) {
  const PageTemplate page = page_template();
  OutputFile file(out);
  std::string before(page.before);
  const std::string place = "<title>effort</title>";
  if (const std::size_t at = before.find(place); at != std::string::npos)
    before.replace(at, place.size(), "<title>" + escaped(head["title"]) + "</title>");
  file.write(before);
  write_element(file, "effort-head", "application/json", script_text(shown(head)));
  for (std::size_t r = 0; r < runs.size(); ++r)
    write_element(file, "effort-run-" + std::to_string(r), "application/json", script_text(shown(runs[r].json)));
  // The browser draws the first view here, while it still reads the histories.
  file.write(std::string("<script>effortReport.start()</script>\n"));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t s = 0; s < runs[r].summaries.size(); ++s) {
      const SeriesSummary& summary = runs[r].summaries[s];
      const std::string which = std::to_string(r) + "-" + std::to_string(s);
      if (!summary.screen.empty()) write_element(file, "effort-screen-" + which, "text/plain", base64(summary.screen));
      if (!summary.rank_total.empty())
        write_element(file, "effort-ranks-" + which, "text/plain",
                      base64(std::as_bytes(std::span(summary.rank_total))));
    }
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t s = 0; s < runs[r].series.size(); ++s)
      write_element(file, "effort-data-" + std::to_string(r) + "-" + std::to_string(s), "text/plain",
                    base64(runs[r].series[s]));
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t s = 0; s < runs[r].exact.series.size(); ++s) {
      const std::vector<double>& values = runs[r].exact.series[s];
      if (!values.empty())
        write_element(file, "effort-exact-" + std::to_string(r) + "-" + std::to_string(s), "text/plain",
                      base64(std::as_bytes(std::span(values))));
    }
  }
  for (std::size_t r = 0; r < runs.size(); ++r)
    write_element(file, "effort-communication-" + std::to_string(r), "application/json",
                  script_text(shown(runs[r].communication)));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!runs[r].trace) continue;
    const std::string which = std::to_string(r);
    write_element(file, "effort-trace-" + which, "application/json", script_text(shown(runs[r].trace->json)));
    write_element(file, "effort-trace-events-" + which, "text/plain", base64(runs[r].trace->events));
    write_element(file, "effort-trace-messages-" + which, "text/plain", base64(runs[r].trace->messages));
  }
  if (!compared.empty()) write_element(file, "effort-compare", "application/json", script_text(shown(compared)));
  if (!calls.empty()) write_element(file, "effort-calls", "application/json", script_text(shown(calls)));
  write_element(file, "effort-end", "text/plain", "complete");
  file.write(std::string(page.behind));
  file.commit();
}

std::string title_of(const ReportArguments& a, const std::vector<Described>& runs) {
  if (!a.title.empty()) return a.title;
  std::string title;
  for (const Described& run : runs) title += (title.empty() ? "" : ", ") + run.json["info"]["name"].get<std::string>();
  return title;
}

}  // namespace

void run_report(const ReportArguments& a) {
  if (page_template().before.empty())
    throw std::runtime_error(
        "effort was built without its report page, because Node.js 18 or the page's libraries were missing: install "
        "nodejs and npm, run scripts/setup --viewer, then configure and build it again");
  std::vector<RankOrder> orders;
  for (const std::string& order : a.orders) orders.push_back(read_order(order));
  const Stopwatch watch;
  std::vector<Described> runs;
  {
    const KokkosSession kokkos;
    for (const std::string& path : a.inputs)
      if (!names_trace(path) && !names_calls(path)) runs.push_back(describe(path, a, orders));
  }
  if (runs.empty())
    throw UsageError(
        "no snapshot among the inputs: traces and function calls are shown with the snapshot of their run, so add "
        "that");
  std::vector<std::string> calls;
  for (const std::string& path : a.inputs) {
    if (names_calls(path)) {
      calls.push_back(path);
    } else if (names_trace(path)) {
      add_trace(path, a, runs);
    }
  }
  ordered_json head;
  head["title"] = title_of(a, runs);
  head["effort"] = EFFORT_VERSION_TEXT;
  head["runs"] = runs.size();
  head["regions"] = all_regions(runs);
  head["calls"] = calls.size();
  head["traces"] = ordered_json::array();
  for (const Described& run : runs) head["traces"].push_back(run.trace.has_value());
  std::vector<KnownPlace> places;
  for (Described& run : runs) {
    run.json["frames"] = resolve_frames(head["regions"], run, places);
    run.json["short_names"] = short_names(run);
    run.json["frame_notes"] = run.symbols->notes();
    for (ordered_json& note : run.json["info"]["notes"]) note = run.symbols->sentence(note);
  }
  if (!a.source.empty()) head["source"] = source_json(find_source(a.source, head["regions"], places));
  write_page(a.out, head, runs, comparisons(runs),
             calls.empty() ? ordered_json()
                           : calls_for_page(calls, {a.module_path.begin(), a.module_path.end()}, a.calls_bytes));
  const auto bytes = fs::file_size(a.out);
  if (a.json) {
    print_json({{"file", a.out},
                {"bytes", bytes},
                {"page_bytes", page_template().before.size() + page_template().behind.size()},
                {"seconds", watch.seconds()}});
  } else {
    std::printf("%s: %s, of which the page itself %s\n", record::visible(a.out).c_str(),
                bytes_text(static_cast<double>(bytes)).c_str(),
                bytes_text(static_cast<double>(page_template().before.size() + page_template().behind.size())).c_str());
  }
}

}  // namespace effort::tools
