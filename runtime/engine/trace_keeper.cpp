#include "runtime/engine/trace_keeper.hpp"

#include "runtime/measure/clock.hpp"
#include "runtime/recording/members.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
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
    const std::string path =
        parent + "/" + name + (attempt > 1 ? "-" + std::to_string(attempt) : std::string()) + ".trace";
    if (std::filesystem::create_directory(path)) return path;
  }
  throw std::system_error(std::make_error_code(std::errc::file_exists), "too many traces named " + name);
}

}  // namespace

TraceKeeper::TraceKeeper(const config::Settings& settings, RunLog& log, node::Segment& segment, const NameUnion& names,
                         const Collector& collector, Communicator& nodes)
    : settings_(settings.trace),
      directory_(settings.snapshot_dir),
      log_(log),
      segment_(segment),
      names_(names),
      collector_(collector),
      nodes_(nodes),
      origin_(measure::ticks()),
      started_unix_ns_(unix_ns()),
      clock_([this] { return measure::ns_of(measure::ticks() - origin_); }),
      encoder_(bound_of(settings_)) {}

record::trace::Header TraceKeeper::header() const {
  const NodeSetup& setup = log_.setup();
  record::trace::Header h;
  h.library = EFFORT_VERSION_STRING;
  h.name = setup.name;
  h.job = setup.job;
  h.design = "retrospective";
  h.guide = "load";
  h.clock = "CLOCK_MONOTONIC_RAW of each node, zero at the start of the library";
  h.started_unix_ns = started_unix_ns_;
  h.n_ranks = setup.n_ranks;
  h.n_nodes = nodes_.size();
  h.confidence = settings_.confidence;
  h.error = settings_.error;
  h.bound = bound_of(settings_);
  h.nodes.push_back({nodes_.rank(), {setup.ranks.begin(), setup.ranks.end()}});
  return h;
}

/// Collective: node 0 makes the directory, then every node its file.
void TraceKeeper::open() {
  opened_ = true;
  std::array<char, 4096> path{};
  if (nodes_.rank() == 0) {
    try {
      const std::string made = make_directory(directory_, log_.setup().name + "-" + log_.setup().job);
      if (made.size() < path.size()) std::memcpy(path.data(), made.data(), made.size());
    } catch (const std::exception& e) {
      log_.note(std::string("nothing is traced: ") + e.what());
    }
  }
  nodes_.bcast(std::span<char>(path), 0);
  if (path[0] == 0 || !records()) return;
  try {
    const std::filesystem::path file = std::filesystem::path(path.data()) / record::trace::file_name(nodes_.rank());
    writer_ = std::make_unique<record::trace::Writer>(file, header());
  } catch (const std::exception& e) {
    log_.note(std::string("this node is not traced: ") + e.what());
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
  writer_->append(record::trace::Clock{nodes_.rank(), measure::ns_of(measure::ticks() - origin_), -clock_.offset(),
                                       clock_.bound()});
  clock_.restart();
}

/// Collective.  How many ranks' windows the budget allows now, by the mean size of those so far.
std::int64_t TraceKeeper::affordable() {
  const std::int64_t elapsed = measure::ns_of(measure::ticks() - origin_);
  std::int64_t sums[2] = {writer_ ? static_cast<std::int64_t>(writer_->size()) : 0, kept_};
  std::int64_t longest = elapsed;
  nodes_.allreduce(std::span<std::int64_t>(sums), ReduceOp::sum);
  nodes_.allreduce(std::span<std::int64_t>(&longest, 1), ReduceOp::max);
  constexpr double hour = 3.6e12, guess = 4096;
  // The first minute's budget is available at once, so that short runs are traced as well.
  const double hours = (static_cast<double>(longest) + hour / 60) / hour;
  const double allowed = static_cast<double>(settings_.budget) * log_.setup().n_ranks * hours;
  const double each = sums[1] > 0 ? static_cast<double>(sums[0]) / static_cast<double>(sums[1]) : guess;
  return static_cast<std::int64_t>(std::clamp((allowed - static_cast<double>(sums[0])) / each, 0.0, 1e9));
}

sampling::KeptRanks TraceKeeper::choose(const window::Result& known, bool rebalanced) {
  sampling::WindowFacts facts;
  facts.load = known.load;
  facts.stratum = known.stratum;
  facts.strata = known.strata;
  facts.medoids = known.medoid_rank;
  facts.before = last_load_;
  facts.predicted = last_predicted_;
  facts.pinned = settings_.pinned;
  facts.rebalanced = rebalanced;
  facts.jumped = (known.advice & window::advice_jump) != 0;
  facts.window = window_;
  return sampling::choose_ranks(facts, {settings_.confidence, settings_.error}, affordable());
}

void TraceKeeper::keep(const window::Result& known, std::int64_t first, std::int64_t last, bool rebalanced) {
  if (known.stratum.size() != known.load.size()) return;  // nothing has been described yet
  if (!opened_) open();
  const sampling::KeptRanks kept = choose(known, rebalanced);
  compare_clocks();
  last_load_ = known.load;
  last_predicted_ = known.predicted;
  if (writer_) {
    try {
      write(kept, first, last);
    } catch (const std::exception& e) {
      log_.note("the trace of this node ends before step " + std::to_string(first) + ": " + e.what());
      writer_.reset();
    }
  }
  ++window_;
}

TraceEvents TraceKeeper::reader(int local) const {
  return {segment_.trace(local), origin_, [this, local](trace::Kind kind, std::uint32_t id) -> std::int64_t {
            const bool message = kind >= trace::Kind::send && kind <= trace::Kind::collective;
            const Definition what = message                      ? Definition::communicator
                                    : kind == trace::Kind::phase ? Definition::phase
                                    : kind == trace::Kind::work  ? Definition::unit
                                                                 : Definition::region;
            NodeId node{};
            return collector_.find(local, what, id, node) ? static_cast<std::int64_t>(names_.global(what, node)) : -1;
          }};
}

void TraceKeeper::write(const sampling::KeptRanks& kept, std::int64_t first, std::int64_t last) {
  record::trace::Window w;
  w.node = nodes_.rank();
  w.window = window_;
  w.first_step = first;
  w.last_step = last;
  w.error = kept.error;
  w.confidence = kept.confidence;
  for (const auto& s : kept.strata) w.strata.push_back({s.population, s.sample});
  const std::vector<int>& ranks = log_.setup().ranks;
  std::vector<std::pair<std::int32_t, RankEvents>> all;
  for (const auto& k : kept.ranks) {
    const auto at = std::lower_bound(ranks.begin(), ranks.end(), k.rank);
    if (at == ranks.end() || *at != k.rank) continue;
    all.emplace_back(k.rank, reader(static_cast<int>(at - ranks.begin())).read(first, last));
    const RankEvents& events = all.back().second;
    w.ranks.push_back({k.rank, k.reasons, k.probability, k.stratum, events.dropped_steps, 0});
    if (events.end_ns == 0) continue;
    w.start_ns = w.end_ns == 0 ? events.start_ns : std::min(w.start_ns, events.start_ns);
    w.end_ns = std::max(w.end_ns, events.end_ns);
  }
  write_clock();
  write_names();
  writer_->append(w);
  for (const auto& [rank, events] : all) write_rank(events, rank, w.start_ns, first);
  kept_ += static_cast<std::int64_t>(all.size());
}

void TraceKeeper::write_rank(const RankEvents& rank_events, std::int32_t rank, std::int64_t start_ns,
                             std::int64_t first) {
  for (const ThreadEvents& t : rank_events.threads) {
    std::span<const trace::Event> rest(t.events);
    while (!rest.empty()) {
      const auto part = rest.first(std::min(rest.size(), trace::most_events));
      rest = rest.subspan(part.size());
      const trace::Place place{rank, t.thread, first, start_ns};
      trace::Encoder::Coded coded = encoder_.encode(place, part);
      if (!coded.dictionary.empty())
        writer_->append(record::trace::Dictionary{nodes_.rank(), std::move(coded.dictionary)});
      writer_->append(
          record::trace::Events{nodes_.rank(), window_, rank, t.thread, part.size(), std::move(coded.events)});
    }
  }
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

/// Writes the names of the run that are new.
void TraceKeeper::write_names() {
  const auto& regions = names_.run().of(Definition::region);
  const auto& phases = names_.run().of(Definition::phase);
  const auto& units = names_.run().of(Definition::unit);
  record::trace::Names n;
  for (; regions_named_ < regions.size(); ++regions_named_) {
    const auto& item = regions[regions_named_];
    n.regions.push_back(
        {static_cast<std::uint32_t>(regions_named_), static_cast<std::uint8_t>(item.kind), -1, item.name});
  }
  for (; phases_named_ < phases.size(); ++phases_named_)
    n.phases.push_back({static_cast<std::uint32_t>(phases_named_), phases[phases_named_].name});
  for (; units_named_ < units.size(); ++units_named_)
    n.units.push_back({static_cast<std::uint32_t>(units_named_), units[units_named_].name});
  const auto& communicators = names_.run().of(Definition::communicator);
  for (; communicators_named_ < communicators.size(); ++communicators_named_)
    n.communicators.push_back(described(communicators_named_, communicators[communicators_named_]));
  if (!n.regions.empty() || !n.phases.empty() || !n.units.empty() || !n.communicators.empty()) writer_->append(n);
}

}  // namespace effort::engine
