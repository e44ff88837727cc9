// effort top SNAP_DIR
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/output/output.hpp"
#include "tools/output/screen.hpp"
#include "tools/view/follow.hpp"
#include "tools/view/info_text.hpp"

namespace effort::tools {

namespace {

namespace fs = std::filesystem;
using Align = Table::Align;
using nlohmann::ordered_json;

/// The newest snapshot of the followed run, and the one that it is compared with.
class Follower {
 public:
  explicit Follower(const TopArguments& arguments) : arguments_(arguments) {}

  /// Whether there is a newer snapshot than before.
  bool look() {
    const std::vector<SnapshotFile> files = snapshots_in(arguments_.directory, arguments_.job);
    if (files.empty() || (file_ && files.back() == *file_)) return false;
    const bool other_run = !file_ || file_->run != files.back().run;
    std::optional<record::Run> before;
    if (!other_run && reader_) before = reader_->run();
    if (other_run && files.size() > 1) before = run_in(files[files.size() - 2].path);
    auto fresh = std::make_unique<record::Reader>(files.back().path);
    fresh->verify();
    pace_ = pace_of(fresh->run(), before ? &*before : nullptr);
    series_ = std::make_unique<record::SeriesReader>(*fresh);
    reader_ = std::move(fresh);
    symbols_ = std::make_unique<Symbols>(
        reader_->run().modules, std::vector<fs::path>(arguments_.module_paths.begin(), arguments_.module_paths.end()));
    file_ = files.back();
    return true;
  }

  bool found() const { return reader_ != nullptr; }
  record::Reader& reader() const { return *reader_; }
  const record::SeriesReader& series() const { return *series_; }
  const Pace& pace() const { return pace_; }
  Symbols& symbols() const { return *symbols_; }
  const SnapshotFile& file() const { return *file_; }
  double age_seconds() const {
    return std::max(0.0, std::chrono::duration<double>(fs::file_time_type::clock::now() - file_->written).count());
  }

 private:
  /// At the start this is the previous file, or none if that is damaged or gone.
  static std::optional<record::Run> run_in(const fs::path& path) {
    try {
      return record::Reader(path).run();
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }

  const TopArguments& arguments_;
  std::optional<SnapshotFile> file_;
  std::unique_ptr<record::Reader> reader_;
  std::unique_ptr<record::SeriesReader> series_;
  std::unique_ptr<Symbols> symbols_;
  Pace pace_;
};

std::string load_unit(const record::Run& run) {
  for (const record::Metric& m : run.metrics) {
    if (m.name == run.load_metric) return m.unit;
  }
  return "";
}

std::string head(const Follower& f) {
  const record::Run& run = f.reader().run();
  std::string out = name_text(run.name) + (run.job.empty() ? "" : " (job " + name_text(run.job) + ")") + ": step " +
                    std::to_string(run.steps);
  if (f.pace().steps_per_second > 0) out += ", " + amount_text(f.pace().steps_per_second, "steps/s");
  out += ", " + (f.age_seconds() < 1
                     ? "now"
                     : seconds_text(static_cast<double>(static_cast<std::int64_t>(f.age_seconds()))) + " ago");
  return out + "; " + plural(run.ranks, "rank") + " on " + plural(run.nodes, "node") + "\n";
}

std::string last_window(const record::Run& run, Symbols& symbols) {
  if (run.windows.empty()) return "";
  const record::Window& w = run.windows.back();
  std::string out = "  now         " + percent_text(w.imbalance) + " (steps " + std::to_string(w.first) + ".." +
                    std::to_string(w.last) + ")";
  if (w.worst_rank >= 0) out += ", most on rank " + std::to_string(w.worst_rank);
  if (!w.worst_region_name.empty()) out += " in " + table_names({w.worst_region_name}, &symbols, 36)[0];
  if (w.rebalanced) return out + ", rebalanced\n";
  return out + (w.rebalance ? ", a rebalance is recommended\n" : "\n");
}

std::string regions(const Follower& f, const Terminal& terminal, std::size_t lines) {
  const record::Run& run = f.reader().run();
  const std::string unit = load_unit(run);
  std::vector<RegionPace> shown = f.pace().regions;
  shown.resize(std::min(shown.size(), lines));
  double all = 0;
  for (const RegionPace& r : f.pace().regions) all += r.lately;
  std::vector<std::string> names;
  for (const RegionPace& r : shown) names.push_back(r.name);
  const std::size_t width = terminal.interactive ? std::clamp<std::size_t>(terminal.width, 80, 140) - 62 : 60;
  names = table_names(names, &f.symbols(), width);
  Table table({{"region", Align::left},
               {"kind", Align::left},
               {"per step"},
               {"share"},
               {"whole run"},
               {"imbalance"},
               {"of rank"}});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const RegionPace& r = shown[i];
    table.add({names[i], record::kind_name(r.kind), amount_text(r.lately, unit),
               percent_text(all > 0 ? r.lately / all : 0), amount_text(r.on_average, unit), percent_text(r.imbalance),
               std::to_string(r.max_rank)});
  }
  return "\nRegions since step " + std::to_string(f.pace().since) + ", " + name_text(run.load_metric, 20) +
         " per rank and step\n" + table.text();
}

/// One screen; lines that do not fit are cut from the end.
std::string page(const Follower& f, const Terminal& terminal) {
  const record::Run& run = f.reader().run();
  const std::size_t height = terminal.interactive ? terminal.height : 40;
  const std::size_t map = height > 30 ? std::min<std::size_t>(12, height - 26) : height > 22 ? 5 : 0;
  std::string out = head(f);
  const std::string balance = balance_text(run, terminal, &f.symbols());
  out += balance + last_window(run, f.symbols());
  if (map > 0) out += load_map_text(f.reader(), f.series(), terminal, map);
  const auto used = static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  out += regions(f, terminal, height > used + 5 ? height - used - 4 : 1);
  return fitted(out, terminal);
}

ordered_json json(const Follower& f) {
  const record::Run& run = f.reader().run();
  ordered_json out;
  out["snapshot"] = f.file().path.string();
  out["age_seconds"] = f.age_seconds();
  out["name"] = run.name;
  out["job"] = run.job;
  out["ranks"] = run.ranks;
  out["steps"] = run.steps;
  out["since_step"] = f.pace().since;
  out["steps_per_second"] = known(f.pace().steps_per_second);
  out["load_metric"] = run.load_metric;
  out["imbalance"] = run.windows.empty() ? ordered_json(nullptr) : ordered_json(run.windows.back().imbalance);
  out["rebalances"] = run.times_rebalanced();
  out["regions"] = ordered_json::array();
  for (const RegionPace& r : f.pace().regions) {
    out["regions"].push_back({{"name", r.name},
                              {"kind", record::kind_name(r.kind)},
                              {"phase", r.phase},
                              {"mean_per_step", r.lately},
                              {"mean_per_step_of_run", r.on_average},
                              {"imbalance_of_run", r.imbalance},
                              {"max_rank", r.max_rank}});
  }
  return out;
}

std::string waiting(const TopArguments& a) {
  return "effort top: no snapshot" + (a.job.empty() ? std::string() : " of job " + a.job) + " in '" + a.directory +
         "' yet, waiting; EFFORT_SNAPSHOT_EVERY=<steps> makes a run write them as it goes\n";
}

void follow_on_screen(Follower& follower, const TopArguments& a) {
  Screen screen;
  std::string status;
  bool draw = true;
  Stopwatch since_drawn;
  for (char key = 0; key != 'q' && key != 'Q'; key = screen.key(a.interval)) {
    try {
      draw = follower.look() || draw;
      status.clear();
    } catch (const std::exception& e) {
      // The file may have gone between listing and reading; the next one will do.
      draw = draw || status != e.what();
      status = e.what();
    }
    // The age in the first line advances.
    if (!draw && !screen.resized() && since_drawn.seconds() < 1) continue;
    std::string text = follower.found() ? page(follower, terminal_of(STDOUT_FILENO)) : waiting(a);
    if (!status.empty()) text += "\n" + name_text(status, 400) + "\n";
    screen.show(text);
    draw = false;
    since_drawn = Stopwatch();
  }
}

/// Without a terminal: a page per snapshot.
void follow_as_text(Follower& follower, const TopArguments& a) {
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  while (true) {
    if (follower.look()) {
      const std::string text = page(follower, terminal) + "\n";
      std::fwrite(text.data(), 1, text.size(), stdout);
      if (std::fflush(stdout) != 0) return;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(a.interval));
  }
}

}  // namespace

void run_top(const TopArguments& a) {
  if (!fs::is_directory(a.directory))
    throw std::runtime_error("directory '" + a.directory +
                             "' does not exist: pass the run's snapshot directory (EFFORT_SNAPSHOT_DIR)");
  Follower follower(a);
  const KokkosSession kokkos;
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  if (a.once || a.json) {
    if (!follower.look())
      throw std::runtime_error("no snapshot" + (a.job.empty() ? "" : " of job '" + a.job + "'") + " in '" +
                               a.directory + "', run the program with EFFORT_SNAPSHOT_EVERY=<steps>");
    if (a.json) {
      print_json(json(follower));
    } else {
      std::fputs(page(follower, terminal).c_str(), stdout);
    }
  } else if (terminal.controllable) {
    follow_on_screen(follower, a);
  } else {
    follow_as_text(follower, a);
  }
}

}  // namespace effort::tools
