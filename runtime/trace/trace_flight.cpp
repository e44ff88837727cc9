// The flight recorder: records still in memory, of ranks and windows that were not chosen.
#include "runtime/measure/clock.hpp"
#include "runtime/trace/trace_keeper.hpp"

#include <algorithm>
#include <utility>

namespace effort::engine {

using record::trace::Reason;

namespace {

constexpr std::size_t most_remembered = 128;  // windows; recording::kept_step_ends limits how far back one can read

}  // namespace

/// Remembers a window that has been written, so that its other ranks can be added.
void TraceKeeper::remember(record::trace::Window window) {
  std::vector<bool> kept(log_.setup().ranks.size());
  for (const auto& r : window.ranks) {
    if (r.reasons == record::trace::reason_partner) continue;  // only some of its messages are in the file
    kept[static_cast<std::size_t>(log_.setup().local_of(r.rank))] = true;
  }
  window.ranks.clear();
  window.region_sums.reset();
  written_.push_back({std::move(window), std::move(kept)});
  if (written_.size() > most_remembered) written_.pop_front();
}

void TraceKeeper::save_rest(Reason why) {
  const std::uint64_t before = file_.size();
  for (auto w = written_.rbegin(); w != written_.rend(); ++w)
    attempt(w->window.first_step, [&] {
      if (file_.good()) save_rest_of(*w, why);
    });
  saved_bytes_ += file_.size() - before;
}

void TraceKeeper::save_on_request() {
  if (!opened_) return;
  save_rest(record::trace::reason_snapshot);
  const std::uint64_t before = file_.size();
  attempt(0, [&] { file_.flush(); });
  saved_bytes_ += file_.size() - before;
}

void TraceKeeper::save_after_loss(std::int64_t first) {
  if (!opened_ || !file_.writes()) return;  // the other nodes no longer take part in collectives
  attempt(first, [&] {
    if (file_.good()) save_unfinished(first);
  });
  save_rest(record::trace::reason_lost);
}

void TraceKeeper::save_rest_of(Written& written, Reason why) {
  std::vector<std::pair<std::int32_t, RankEvents>> found;
  record::trace::Window w = written.window;
  for (std::size_t l = 0; l < written.kept.size(); ++l) {
    if (written.kept[l]) continue;
    RankEvents events = reader(static_cast<int>(l)).read(w.first_step, w.last_step);
    if (events.threads.empty()) continue;
    written.kept[l] = true;
    const std::int32_t rank = log_.setup().ranks[l];
    w.ranks.push_back({rank, why, 0, -1, events.dropped_steps, 0});
    found.emplace_back(rank, std::move(events));
  }
  if (!found.empty()) write_window(w, found, false);
}

/// The records of ranks since the last window.
void TraceKeeper::save_unfinished(std::int64_t first) {
  std::vector<std::pair<std::int32_t, RankEvents>> found;
  record::trace::Window w;
  w.node = nodes_.rank();
  w.window = window_++;
  w.first_step = w.last_step = first;
  for (std::size_t l = 0; l < log_.setup().ranks.size(); ++l) {
    RankEvents events = reader(static_cast<int>(l)).read_rest(first);
    if (events.threads.empty()) continue;
    w.last_step = std::max(w.last_step, events.last_step);
    w.start_ns = w.end_ns == 0 ? events.start_ns : std::min(w.start_ns, events.start_ns);
    w.end_ns = std::max(w.end_ns, events.end_ns);
    const std::int32_t rank = log_.setup().ranks[l];
    w.ranks.push_back({rank, record::trace::reason_lost, 0, -1, events.dropped_steps, 0});
    found.emplace_back(rank, std::move(events));
  }
  if (!found.empty()) write_window(w, found, false);
}

}  // namespace effort::engine
