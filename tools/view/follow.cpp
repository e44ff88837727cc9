#include "tools/view/follow.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "tools/view/snapshot_view.hpp"

namespace effort::tools {

namespace fs = std::filesystem;

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<SnapshotFile> parse(const fs::path& path) {
  if (path.extension() != ".effort") return std::nullopt;
  std::string stem = path.stem().string();
  // The writer appends a number if the name exists.
  if (const std::size_t dot = stem.rfind('.'); dot != std::string::npos &&
                                               is_number(std::string_view(stem).substr(dot + 1)) &&
                                               stem.find('-', dot) == std::string::npos)
    stem.resize(dot);
  const std::size_t step_at = stem.rfind('-');
  if (step_at == std::string::npos || !is_number(std::string_view(stem).substr(step_at + 1))) return std::nullopt;
  SnapshotFile out;
  out.path = path;
  out.run = stem.substr(0, step_at);
  const std::size_t job_at = out.run.rfind('-');
  out.job = job_at == std::string::npos ? "" : out.run.substr(job_at + 1);
  std::from_chars(stem.data() + step_at + 1, stem.data() + stem.size(), out.step);
  return out;
}

using Key = std::tuple<std::string, record::Kind, std::string>;

}  // namespace

std::vector<SnapshotFile> snapshots_in(const fs::path& directory, const std::string& job) {
  std::vector<SnapshotFile> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    std::optional<SnapshotFile> file = parse(entry.path());
    std::error_code gone;
    if (!file || (!job.empty() && file->job != job)) continue;
    file->written = entry.last_write_time(gone);
    if (!gone) all.push_back(std::move(*file));
  }
  std::sort(all.begin(), all.end(), [](const SnapshotFile& a, const SnapshotFile& b) {
    return std::tie(a.written, a.step, a.path) < std::tie(b.written, b.step, b.path);
  });
  if (all.empty()) return all;
  const std::string run = all.back().run;
  std::erase_if(all, [&](const SnapshotFile& file) { return file.run != run; });
  return all;
}

Pace pace_of(const record::Run& now, const record::Run* before) {
  Pace out;
  // Another run of the same name, or the same snapshot again, gives no pace.
  const bool comparable = before != nullptr && before->steps < now.steps && before->ranks == now.ranks &&
                          before->wall_seconds <= now.wall_seconds;
  out.since = comparable ? before->steps : 0;
  const auto steps = static_cast<double>(now.steps - out.since);
  const double seconds = now.wall_seconds - (comparable ? before->wall_seconds : 0);
  if (steps > 0 && seconds > 0) out.steps_per_second = steps / seconds;
  std::map<Key, double> earlier;
  if (comparable) {
    const std::size_t metric = load_metric_of(*before);
    for (const record::Series& s : before->series) {
      if (s.metric == metric) earlier[{s.region, s.kind, s.phase}] = s.mean_over_ranks;
    }
  }
  const std::size_t metric = load_metric_of(now);
  for (const record::Series& s : now.series) {
    if (s.metric != metric) continue;
    const auto at = earlier.find({s.region, s.kind, s.phase});
    const double grown = s.mean_over_ranks - (at == earlier.end() ? 0 : at->second);
    out.regions.push_back({s.region, s.kind, s.phase, steps > 0 ? std::max(0.0, grown / steps) : 0,
                           now.steps > 0 ? s.mean_over_ranks / static_cast<double>(now.steps) : 0, s.imbalance,
                           s.max_rank});
  }
  std::stable_sort(out.regions.begin(), out.regions.end(),
                   [](const RegionPace& a, const RegionPace& b) { return a.lately > b.lately; });
  return out;
}

}  // namespace effort::tools
