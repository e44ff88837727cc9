// Parses payloads.  Everything is checked, because a checksum only shows that the bytes are those that were written.
#include <bit>
#include <cmath>
#include <stdexcept>

#include "analytics/trace/coder.hpp"
#include "record/trace/format.hpp"

namespace effort::record::trace::format {

namespace {

class Fields {
 public:
  explicit Fields(View bytes) : in_(bytes) {}

  std::uint64_t number() { return in_.varint(); }
  std::uint64_t number(std::uint64_t most, const char* what) { return in_.varint(most, what); }
  std::int64_t step() { return static_cast<std::int64_t>(number(most_steps, "a step")); }
  std::int32_t rank() { return static_cast<std::int32_t>(number(most_ranks - 1, "a rank")); }
  std::int32_t node() { return static_cast<std::int32_t>(number(most_ranks - 1, "a node")); }
  std::uint32_t id() { return static_cast<std::uint32_t>(number(~std::uint32_t{0}, "an id")); }
  std::int64_t integer() { return in_.signed_varint(); }
  /// A time or an offset of clocks, ns: so far from the limits of 64 bits that readers may subtract and correct times.
  std::int64_t time() {
    const std::int64_t value = integer();
    if (!is_time(value)) throw std::runtime_error("a time is more than 18 years from the start");
    return value;
  }
  /// 0 to `most`
  std::int64_t count(std::int64_t most, const char* what) {
    return static_cast<std::int64_t>(number(static_cast<std::uint64_t>(most), what));
  }
  double real() {
    const double value = std::bit_cast<double>(record::format::get<std::uint64_t>(in_.take(8), 0));
    if (!std::isfinite(value)) throw std::runtime_error("a number is not finite");
    return value;
  }
  std::string text() {
    const View bytes = in_.take(in_.varint());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// A number of elements of at least `bytes` bytes each.
  std::size_t elements(std::size_t bytes) {
    return static_cast<std::size_t>(number(in_.left() / bytes, "a number of elements"));
  }
  std::vector<std::int32_t> ranks() {
    std::vector<std::int32_t> ranks;
    std::int64_t end = 0;
    for (std::size_t runs = elements(2); runs > 0; --runs) {
      const std::int64_t jump = integer();
      if (jump < -most_ranks || jump > most_ranks) throw std::runtime_error("a rank is out of range");
      const std::int64_t first = end + jump;
      const std::int64_t n = count(most_ranks, "a number of ranks");
      end = first + n;
      if (first < 0 || end > most_ranks || n > left_) throw std::runtime_error("a rank is out of range");
      left_ -= n;
      for (std::int64_t r = first; r < end; ++r) ranks.push_back(static_cast<std::int32_t>(r));
    }
    return ranks;
  }
  bool more() const { return in_.left() > 0; }
  View rest() { return in_.take(in_.left()); }

 private:
  record::format::Cursor in_;
  std::int64_t left_ = most_ranks;  ///< ranks that all lists of the payload may still have, as runs are short
};

}  // namespace

Header parse_header(View payload) {
  Fields in(payload);
  Header h;
  h.library = in.text();
  h.name = in.text();
  h.job = in.text();
  h.design = in.text();
  h.guide = in.text();
  h.clock = in.text();
  h.started_unix_ns = in.integer();
  if (h.started_unix_ns < -most_unix_ns || h.started_unix_ns > most_unix_ns)
    throw std::runtime_error("the start of the run is out of range");
  h.n_ranks = static_cast<std::int32_t>(in.count(most_ranks, "the number of ranks"));
  h.n_nodes = static_cast<std::int32_t>(in.count(h.n_ranks, "the number of nodes"));
  if (h.n_nodes < 1) throw std::runtime_error("there are no nodes");
  h.confidence = in.real();
  h.error = in.real();
  h.bound.relative_ppm =
      static_cast<std::uint32_t>(in.number(effort::trace::TimeBound::most_relative_ppm, "the bound of time stamps"));
  h.bound.absolute_ns =
      static_cast<std::uint32_t>(in.number(effort::trace::TimeBound::most_absolute_ns, "the bound of time stamps"));
  for (std::size_t n = in.elements(2); n > 0; --n) {
    Header::Node node;
    node.node = in.node();
    node.ranks = in.ranks();
    if (node.node >= h.n_nodes || (!h.nodes.empty() && node.node <= h.nodes.back().node))
      throw std::runtime_error("the nodes are not ascending");
    for (const std::int32_t rank : node.ranks)
      if (rank >= h.n_ranks) throw std::runtime_error("a rank is not in the run");
    h.nodes.push_back(std::move(node));
  }
  if (in.more()) h.reduction = in.text();
  return h;
}

Names parse_names(View payload) {
  Fields in(payload);
  Names names;
  for (std::size_t n = in.elements(4); n > 0; --n) {
    Names::Region r;
    r.id = in.id();
    r.kind = static_cast<std::uint8_t>(in.number(3, "a region's kind"));
    r.parent = in.integer();
    if (r.parent < -1 || r.parent > ~std::uint32_t{0}) throw std::runtime_error("a region's parent is out of range");
    r.name = in.text();
    names.regions.push_back(std::move(r));
  }
  for (std::size_t n = in.elements(2); n > 0; --n) {
    const std::uint32_t id = in.id();
    names.phases.push_back({id, in.text()});
  }
  for (std::size_t n = in.elements(2); n > 0; --n) {
    const std::uint32_t id = in.id();
    names.units.push_back({id, in.text()});
  }
  for (std::size_t n = in.elements(4); n > 0; --n) {
    Names::Communicator c;
    c.id = in.id();
    c.name = in.text();
    c.members = in.ranks();
    c.remote = in.ranks();
    names.communicators.push_back(std::move(c));
  }
  return names;
}

Modules parse_modules(View payload) {
  Fields in(payload);
  Modules modules;
  for (std::size_t n = in.elements(3); n > 0; --n) {
    Modules::Module m;
    m.name = in.text();
    m.build_id = in.text();
    m.path = in.text();
    modules.modules.push_back(std::move(m));
  }
  return modules;
}

Dictionary parse_dictionary(View payload) {
  Fields in(payload);
  Dictionary d;
  d.node = in.node();
  const View coded = in.rest();
  d.coded.assign(coded.begin(), coded.end());
  return d;
}

Representatives parse_representatives(View payload) {
  Fields in(payload);
  Representatives r;
  r.node = in.node();
  const View coded = in.rest();
  r.coded.assign(coded.begin(), coded.end());
  return r;
}

Window parse_window(View payload) {
  Fields in(payload);
  Window w;
  w.node = in.node();
  w.window = in.step();
  w.first_step = in.step();
  w.last_step = w.first_step + in.step();
  w.start_ns = in.time();
  w.end_ns = w.start_ns + in.count(most_time_ns, "a duration");
  w.error = in.real();
  w.confidence = in.real();
  for (std::size_t n = in.elements(2); n > 0; --n) {
    Window::Stratum s;
    s.population = static_cast<std::int32_t>(in.count(most_ranks, "a stratum's population"));
    s.sample = static_cast<std::int32_t>(in.count(s.population, "a stratum's sample"));
    w.strata.push_back(s);
  }
  for (std::size_t n = in.elements(13); n > 0; --n) {
    Window::Rank r;
    r.rank = in.rank();
    r.reasons = static_cast<std::uint16_t>(in.number(65535, "a set of reasons"));
    r.probability = in.real();
    const std::int64_t stratum = in.integer();
    r.dropped_steps = in.step();
    r.dropped_events = in.count(std::int64_t{1} << 62, "a number of events");
    if (r.probability < 0 || r.probability > 1) throw std::runtime_error("a probability is not between 0 and 1");
    if (stratum < -1 || stratum >= static_cast<std::int64_t>(w.strata.size()))
      throw std::runtime_error("a rank's stratum does not exist");
    if (!w.ranks.empty() && r.rank <= w.ranks.back().rank) throw std::runtime_error("kept ranks are not ascending");
    r.stratum = static_cast<std::int32_t>(stratum);
    w.ranks.push_back(r);
  }
  if (in.more() && in.number(1, "whether sums of regions are known") == 1) {
    std::vector<Window::RegionSum>& sums = w.region_sums.emplace();
    std::uint64_t region = 0;
    for (std::size_t n = in.elements(2); n > 0; --n) {
      const std::uint64_t step = in.number(~std::uint32_t{0}, "a region");
      region += step;
      if (region > ~std::uint32_t{0} || (step == 0 && !sums.empty()))
        throw std::runtime_error("regions are not ascending");
      sums.push_back({static_cast<std::uint32_t>(region), in.count(most_time_ns, "a region's time")});
    }
    if (in.more() && in.number(1, "whether calls of regions are known") == 1)
      for (Window::RegionSum& sum : sums) sum.calls = in.count(std::int64_t{1} << 62, "a region's calls");
  }
  return w;
}

Events parse_events(View payload, bool with_coded) {
  Fields in(payload);
  Events e;
  e.node = in.node();
  e.window = in.step();
  e.rank = in.rank();
  e.thread = in.rank();
  e.events = in.number(effort::trace::most_events, "a number of events");
  const View coded = in.rest();
  if (with_coded) e.coded.assign(coded.begin(), coded.end());
  return e;
}

Clock parse_clock(View payload) {
  Fields in(payload);
  Clock c;
  c.node = in.node();
  c.time_ns = in.time();
  c.offset_ns = in.time();
  c.bound_ns = in.count(most_time_ns, "a clock's bound");
  return c;
}

End parse_end(View payload) {
  Fields in(payload);
  End e;
  e.node = in.node();
  e.steps = in.step();
  return e;
}

}  // namespace effort::record::trace::format
