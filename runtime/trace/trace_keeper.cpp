#include "runtime/trace/trace_keeper.hpp"

#include "runtime/config/trace_settings.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/recording/members.hpp"
#include "runtime/trace/region_sums.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace effort::engine {

using measure::Definition;

namespace {

trace::TimeBound bound_of(const config::Trace& s) { return {s.absolute_ns == 0 ? 0 : s.relative_ppm, s.absolute_ns}; }

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Creates NAME-JOB.trace, or NAME-JOB-2.trace if another run has already created that, and so on.
std::string make_directory(const std::string& parent, const std::string& name) {
  std::filesystem::create_directories(parent);
  for (int attempt = 1; attempt <= 10000; ++attempt) {
    std::string path = parent + "/" + name + (attempt > 1 ? "-" + std::to_string(attempt) : std::string()) + ".trace";
    if (std::filesystem::create_directory(path)) return path;
  }
  throw std::system_error(std::make_error_code(std::errc::file_exists), "too many traces named " + name);
}

}  // namespace

TraceKeeper::TraceKeeper(const config::Settings& settings, RunLog& log, node::Segment& segment, const NameUnion& names,
                         const Collector& collector, const SampleRules& rules, SampleSchedule& schedule,
                         Communicator& nodes)
    : settings_(settings.trace),
      directory_(settings.snapshot_dir),
      log_(log),
      segment_(segment),
      names_(names),
      collector_(collector),
      rules_(rules),
      schedule_(schedule),
      nodes_(nodes),
      origin_(measure::ticks()),
      started_unix_ns_(unix_ns()),
      file_(nodes),
      clock_([this] { return measure::ns_of(measure::ticks() - origin_); }),
      encoder_(bound_of(settings_)) {
  if (settings_.reduce) reducer_.emplace(*settings_.reduce);
}

/// A name of the host, as it is written to the file.
std::string TraceKeeper::shown(const std::string& name) const {
  return settings_.hash_names ? record::trace::hidden_name(name) : name;
}

record::trace::Header TraceKeeper::header() const {
  const NodeSetup& setup = log_.setup();
  record::trace::Header h;
  h.library = EFFORT_VERSION_STRING;
  h.design = config::trace_design(settings_.design);
  const std::size_t region = settings_.guide.find('@') + 1;
  h.guide = region > 0 ? settings_.guide.substr(0, region) + shown(settings_.guide.substr(region)) : settings_.guide;
  h.clock = "CLOCK_MONOTONIC_RAW of each node, zero at the start of the library";
  h.started_unix_ns = started_unix_ns_;
  h.n_ranks = setup.n_ranks;
  h.n_nodes = nodes_.size();
  h.confidence = settings_.confidence;
  h.error = settings_.error;
  h.bound = bound_of(settings_);
  if (settings_.reduce) h.reduction = reduction::method_text(*settings_.reduce);
  h.nodes.push_back({nodes_.rank(), {setup.ranks.begin(), setup.ranks.end()}});
  return h;
}

/// Collective: node 0 creates the directory, then every node creates its file.
void TraceKeeper::open() {
  opened_ = true;
  // Without a batch system, a process id stands for the job, and programs may differ: node 0's names are used by all.
  struct Names {
    std::array<char, 4096> path;
    std::array<char, 256> application, job;
  } names{};
  if (nodes_.rank() == 0) {
    try {
      const NodeSetup& setup = log_.setup();
      setup.name.copy(names.application.data(), names.application.size() - 1);
      setup.job.copy(names.job.data(), names.job.size() - 1);
      make_directory(directory_, setup.name + "-" + setup.job).copy(names.path.data(), names.path.size() - 1);
    } catch (const std::exception& e) {
      log_.note(std::string("nothing is traced: ") + e.what());
    }
  }
  nodes_.bcast(std::span(&names, 1), 0);
  if (names.path[0] == 0) return;
  try {
    record::trace::Header h = header();
    h.name = names.application.data();
    h.job = names.job.data();
    file_.open(names.path.data(), std::move(h));
  } catch (const CommunicatorError&) {
    throw;
  } catch (const std::exception& e) {
    fail(std::string("could not be created: ") + e.what());
  }
}

/// Collective.
void TraceKeeper::compare_clocks() {
  if (nodes_.size() == 1) return;
  for (int i = window_ == 0 ? 9 : 1; i > 0; --i) clock_.round(nodes_);
}

/// Writes the offset of this node's clock now and then, because clocks drift.
void TraceKeeper::write_clock() {
  constexpr std::int64_t every = 16;  // windows
  if (window_ % every != 0 || !clock_.known()) return;
  file_.append(record::trace::Clock{nodes_.rank(), measure::ns_of(measure::ticks() - origin_), -clock_.offset(),
                                    clock_.bound()});
  clock_.restart();
}

sampling::KeptRanks TraceKeeper::choose(const window::Result& known, std::int64_t first, bool rebalanced) {
  sampling::WindowFacts facts;
  facts.load = known.load;
  facts.stratum = known.stratum;
  facts.strata = known.strata;
  facts.medoids = known.medoid_rank;
  facts.before = last_load_;
  facts.predicted = last_predicted_;
  facts.pinned = rules_.pinned();
  facts.rebalanced = rebalanced;
  facts.jumped = (known.advice & window::advice_jump) != 0;
  facts.window = window_;
  const std::vector<sampling::Target> targets = rules_.targets(known.load);
  if (!schedule_.decides_in_advance()) return sampling::choose_ranks(facts, targets, rules_.groups(), affordable());
  const sampling::DrawnSample sample = schedule_.of_window(first, known.load.size());
  sampling::KeptRanks kept = sampling::choose_ranks(facts, sample, affordable());
  kept.reached = sampling::reached(sample.plan, targets[0]);
  return kept;
}

void TraceKeeper::keep(const window::Result& known, const WindowBlock& block, std::int64_t last, bool rebalanced) {
  if (known.stratum.size() != known.load.size()) return;  // nothing has been described yet
  if (!opened_) open();
  const std::int64_t first = block.first_step;
  const sampling::KeptRanks kept = choose(known, first, rebalanced);
  if (kept.ranks.empty()) note_no_room();
  compare_clocks();
  last_load_ = known.load;
  last_predicted_ = known.predicted;
  record::trace::Window window;
  window.node = nodes_.rank();
  window.window = window_;
  window.first_step = first;
  window.last_step = last;
  if (kept.has_sample()) window.region_sums = sum_regions(block, last);
  attempt(first, [&] {
    if (file_.good() && records()) write(kept, std::move(window));
  });
  attempt(first, [&] { file_.flush(); });
  ++window_;
}

void TraceKeeper::finish(std::int64_t steps) {
  if (!opened_) return;
  attempt(steps, [&] {
    if (file_.good() && failure_.empty()) file_.append(record::trace::End{nodes_.rank(), steps});
  });
  attempt(steps, [&] { file_.flush(); });
  share_failures();
}

void TraceKeeper::fail(const std::string& what) {
  failure_ = "the trace of node " + std::to_string(nodes_.rank()) + " " + what;
  log_.note(failure_);
}

/// The notes of node 0 are the snapshot's.  Adds one to them on the failures of other nodes.
void TraceKeeper::share_failures() {
  const bool failed = !failure_.empty();
  std::int64_t first = failed && nodes_.rank() > 0 ? nodes_.rank() : nodes_.size(), count = failed ? 1 : 0;
  nodes_.allreduce(std::span(&first, 1), ReduceOp::min);
  nodes_.allreduce(std::span(&count, 1), ReduceOp::sum);
  if (first == nodes_.size()) return;
  std::array<char, 1024> text{};
  if (nodes_.rank() == first) failure_.copy(text.data(), text.size() - 1);
  nodes_.bcast(std::span<char>(text), static_cast<int>(first));
  if (nodes_.rank() == 0)
    log_.note(text.data() + (count > 1 ? "; in all, the traces of " + std::to_string(count) + " nodes are incomplete"
                                       : std::string()));
}

TraceEvents TraceKeeper::reader(int local) {
  hide_regions();
  return {segment_.trace(local), origin_, [this, local](trace::Kind kind, std::uint32_t id) -> std::int64_t {
            const bool message =
                (kind >= trace::Kind::send && kind <= trace::Kind::collective) || kind == trace::Kind::one_sided;
            const Definition what = message                      ? Definition::communicator
                                    : kind == trace::Kind::phase ? Definition::phase
                                    : kind == trace::Kind::work  ? Definition::unit
                                                                 : Definition::region;
            NodeId node{};
            if (!collector_.find(local, what, id, node) || !names_.is_shared(what, node)) return -1;
            const RunId run = names_.global(what, node);
            return what == Definition::region && hidden_[position(run)] ? -1 : static_cast<std::int64_t>(run);
          }};
}

/// The time from the end of the preceding step to the end of the last one, over the node's ranks for which it is known.
void TraceKeeper::set_times(record::trace::Window& w) {
  std::uint64_t earliest = ~std::uint64_t{0}, latest = 0, at = 0;
  for (int l = 0; l < segment_.n_local(); ++l) {
    const recording::Memory memory = segment_.trace(l);
    if (w.first_step == 0) earliest = origin_;
    if (w.first_step > 0 && memory.step_end(w.first_step - 1, at)) earliest = std::min(earliest, at);
    if (memory.step_end(w.last_step, at)) latest = std::max(latest, at);
  }
  if (earliest > latest) return;
  w.start_ns = measure::ns_of(earliest - origin_);
  w.end_ns = measure::ns_of(latest - origin_);
}

/// What all ranks of the run did in each region, on node 0, for the estimates.  Collective.
std::optional<std::vector<record::trace::Window::RegionSum>> TraceKeeper::sum_regions(const WindowBlock& block,
                                                                                      std::int64_t last) {
  // If a region is not traced, the events of the region around it include its time, so the times would not agree.
  hide_regions();
  if (std::find(hidden_.begin(), hidden_.end(), true) != hidden_.end()) return std::nullopt;
  std::vector<std::int64_t> sums = region_sums(block, first_recorded(block.first_step), last, names_);
  nodes_.allreduce(std::span<std::int64_t>(sums), ReduceOp::sum);
  if (nodes_.rank() != 0) return std::nullopt;
  std::vector<record::trace::Window::RegionSum> out;
  const std::size_t n = sums.size() / 2;
  for (std::size_t r = 0; r < n; ++r)
    if (sums[r] > 0 || sums[n + r] > 0) out.push_back({static_cast<std::uint32_t>(r), sums[r], sums[n + r]});
  return out;
}

/// The step `first` or, if nothing was recorded in the run's first step, the one after it.
std::int64_t TraceKeeper::first_recorded(std::int64_t first) {
  if (first > 0 || !records()) return first;
  const RankEvents events = reader(0).read(0, 0);
  return events.threads.empty() && events.dropped_steps == 0 ? 1 : 0;
}

void TraceKeeper::write(const sampling::KeptRanks& kept, record::trace::Window w) {
  const std::int64_t first = w.first_step, last = w.last_step;
  w.error = kept.reached.error;
  w.confidence = kept.reached.confidence;
  for (const auto& s : kept.strata) w.strata.push_back({s.population, s.sample});
  set_times(w);
  std::vector<std::pair<std::int32_t, RankEvents>> all;
  for (const auto& k : kept.ranks) {
    const int local = log_.setup().local_of(k.rank);
    if (local < 0) continue;
    all.emplace_back(k.rank, reader(local).read(first, last));
    w.ranks.push_back({k.rank, k.reasons, k.probability, k.stratum, all.back().second.dropped_steps, 0});
  }
  std::vector<std::pair<std::int32_t, RankEvents>> partners = partners_of(kept, first, last);
  for (const auto& [rank, events] : partners)
    w.ranks.push_back({rank, record::trace::reason_partner, 0, -1, events.dropped_steps, 0});
  const auto by_rank = [](const auto& a, const auto& b) { return a.rank < b.rank; };
  std::sort(w.ranks.begin(), w.ranks.end(), by_rank);
  write_clock();
  write_window(w, all, !kept.concerns_all_ranks());
  kept_ += static_cast<std::int64_t>(all.size());
  const std::uint64_t before = file_.appended();
  for (const auto& [rank, events] : partners) write_rank(events, rank, w, false);
  partners_.bytes += static_cast<std::int64_t>(file_.appended() - before);
  remember(std::move(w));
}

/// @param may_reduce  false if the window as a whole is unusual
void TraceKeeper::write_window(const record::trace::Window& window,
                               const std::vector<std::pair<std::int32_t, RankEvents>>& all, bool may_reduce) {
  write_names();
  file_.append(window);
  for (const auto& [rank, events] : all) {
    const auto at = std::lower_bound(window.ranks.begin(), window.ranks.end(), rank,
                                     [](const auto& kept, std::int32_t r) { return kept.rank < r; });
    write_rank(events, rank, window, may_reduce && sampling::stands_for_others(at->reasons));
  }
}

void TraceKeeper::write_rank(const RankEvents& rank_events, std::int32_t rank, const record::trace::Window& window,
                             bool reduce) {
  for (const ThreadEvents& t : rank_events.threads) {
    std::span<const trace::Event> rest(t.events);
    const trace::Place place{rank, t.thread, window.first_step, window.start_ns};
    reduction::WindowReducer::Plan plan;
    if (reduce && reducer_) plan = reducer_->plan(place, rest, rank_events.end_ns);
    while (!rest.empty()) {
      const auto part = rest.first(std::min(rest.size(), trace::most_events));
      rest = rest.subspan(part.size());
      write_chunk({nodes_.rank(), window.window, rank, t.thread, part.size(), {}, !plan.representatives.empty()}, place,
                  part, plan, rank_events.end_ns);
    }
  }
}

/// Writes a chunk, and before it the parts of the dictionary that it needs.
void TraceKeeper::write_chunk(record::trace::Events chunk, const trace::Place& place,
                              std::span<const trace::Event> part, reduction::WindowReducer::Plan& plan,
                              std::int64_t end_ns) {
  trace::Encoder::Reduced out;
  if (chunk.reduced)
    out = encoder_.encode_reduced(place, part, end_ns,
                                  {std::move(plan.representatives), std::move(plan.added), std::move(plan.forgotten)});
  else
    out.coded = encoder_.encode(place, part);
  if (!out.coded.dictionary.empty())
    file_.append(record::trace::Dictionary{nodes_.rank(), std::move(out.coded.dictionary)});
  if (!out.representatives.empty())
    file_.append(record::trace::Representatives{nodes_.rank(), std::move(out.representatives)});
  chunk.coded = std::move(out.coded.events);
  file_.append(chunk);
}

namespace {

record::trace::Names::Communicator described(std::size_t id, const RunNames::Item& item) {
  record::trace::Names::Communicator c;
  c.id = static_cast<std::uint32_t>(id);
  c.name = item.name;
  const std::string_view members = item.unit;
  const std::size_t middle = members.find('|');
  if (!recording::append_members(members.substr(0, middle), c.members)) c.members.clear();
  if (middle != members.npos && !recording::append_members(members.substr(middle + 1), c.remote)) c.remote.clear();
  return c;
}

}  // namespace

/// Looks up which of the new regions are not to be traced.
void TraceKeeper::hide_regions() {
  const auto& regions = names_.run().of(Definition::region);
  for (std::size_t r = hidden_.size(); r < regions.size(); ++r)
    hidden_.push_back(std::any_of(settings_.policies.begin(), settings_.policies.end(), [&](const auto& policy) {
      return !policy.trace && policy.region == regions[r].name;
    }));
}

/// Writes the names of the run that are new.
void TraceKeeper::write_names() {
  const auto& regions = names_.run().of(Definition::region);
  const auto& phases = names_.run().of(Definition::phase);
  const auto& units = names_.run().of(Definition::unit);
  record::trace::Names n;
  for (; regions_named_ < regions.size(); ++regions_named_) {
    const auto& item = regions[regions_named_];
    n.regions.push_back(
        {static_cast<std::uint32_t>(regions_named_), static_cast<std::uint8_t>(item.kind), -1, shown(item.name)});
  }
  for (; phases_named_ < phases.size(); ++phases_named_)
    n.phases.push_back({static_cast<std::uint32_t>(phases_named_), shown(phases[phases_named_].name)});
  for (; units_named_ < units.size(); ++units_named_)
    n.units.push_back({static_cast<std::uint32_t>(units_named_), shown(units[units_named_].name)});
  const auto& communicators = names_.run().of(Definition::communicator);
  for (; communicators_named_ < communicators.size(); ++communicators_named_) {
    n.communicators.push_back(described(communicators_named_, communicators[communicators_named_]));
    n.communicators.back().name = shown(n.communicators.back().name);
  }
  record::trace::Modules m;
  const auto& modules = names_.run().of(Definition::module);
  for (; !settings_.hash_names && modules_named_ < modules.size(); ++modules_named_) {
    const auto& item = modules[modules_named_];
    const std::size_t space = item.unit.find(' ');
    m.modules.push_back({item.name, item.unit.substr(0, space), item.unit.substr(space + 1)});
  }
  if (!m.modules.empty()) file_.append(m);
  if (!n.regions.empty() || !n.phases.empty() || !n.units.empty() || !n.communicators.empty()) file_.append(n);
}

}  // namespace effort::engine
