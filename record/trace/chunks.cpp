// Contents as chunks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "record/trace/format.hpp"
#include "record/trace/writer.hpp"

namespace effort::record::trace {

namespace {

using format::Bytes;
using record::format::put_varint;

class Payload {
 public:
  Payload& number(std::uint64_t value) {
    put_varint(bytes_, value);
    return *this;
  }
  /// Zero or positive.
  Payload& count(std::int64_t value, const char* what) {
    if (value < 0) throw std::invalid_argument(std::string(what) + " of a trace is negative: count from 0");
    return number(static_cast<std::uint64_t>(value));
  }
  Payload& integer(std::int64_t value) {
    record::format::put_signed(bytes_, value);
    return *this;
  }
  Payload& real(double value) {
    record::format::put(bytes_, std::bit_cast<std::uint64_t>(std::isfinite(value) ? value : -1.0));
    return *this;
  }
  Payload& text(const std::string& value) {
    number(value.size());
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  /// Runs of consecutive numbers: first (difference to the end of the run before), length.
  Payload& ranks(const std::vector<std::int32_t>& ranks) {
    Bytes runs;
    std::uint64_t n = 0;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < ranks.size(); ++n) {
      std::size_t j = i + 1;
      while (j < ranks.size() && ranks[j] == ranks[j - 1] + 1) ++j;
      record::format::put_signed(runs, ranks[i] - end);
      put_varint(runs, j - i);
      end = std::int64_t{ranks[i]} + static_cast<std::int64_t>(j - i);
      i = j;
    }
    number(n);
    return raw(runs);
  }
  Payload& raw(const Bytes& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// The chunk, if a reader accepts it.
template <typename Parse>
Bytes checked(std::uint32_t type, const Payload& payload, Parse parse) {
  try {
    parse(format::View(payload.bytes()));
  } catch (const std::runtime_error& e) {
    throw std::invalid_argument(std::string("a chunk of a trace is inconsistent (") + e.what() +
                                "): complete it first");
  }
  return format::framed(type, payload.bytes());
}

}  // namespace

const char* reason_text(int i) {
  static constexpr std::array<const char*, n_reasons> texts{"sample",  "medoid",    "critical", "outlier",
                                                            "pin",     "rebalance", "jump",     "mispredicted",
                                                            "partner", "snapshot",  "lost"};
  return i >= 0 && i < n_reasons ? texts[static_cast<std::size_t>(i)] : "unknown";
}

std::vector<std::byte> encode(const Header& h) {
  Payload p;
  p.text(h.library).text(h.name).text(h.job).text(h.design).text(h.guide).text(h.clock).integer(h.started_unix_ns);
  p.count(h.n_ranks, "the number of ranks").count(h.n_nodes, "the number of nodes").real(h.confidence).real(h.error);
  p.number(h.bound.relative_ppm).number(h.bound.absolute_ns).number(h.nodes.size());
  for (const Header::Node& node : h.nodes) p.count(node.node, "a node").ranks(node.ranks);
  if (!h.reduction.empty()) p.text(h.reduction);
  return checked(format::type_header, p, format::parse_header);
}

std::vector<std::byte> encode(const Names& names) {
  Payload p;
  p.number(names.regions.size());
  for (const Names::Region& r : names.regions) p.number(r.id).number(r.kind).integer(r.parent).text(r.name);
  p.number(names.phases.size());
  for (const Names::Phase& n : names.phases) p.number(n.id).text(n.name);
  p.number(names.units.size());
  for (const Names::Unit& n : names.units) p.number(n.id).text(n.name);
  p.number(names.communicators.size());
  for (const Names::Communicator& c : names.communicators) p.number(c.id).text(c.name).ranks(c.members).ranks(c.remote);
  return checked(format::type_names, p, format::parse_names);
}

std::vector<std::byte> encode(const Modules& m) {
  Payload p;
  p.number(m.modules.size());
  for (const Modules::Module& n : m.modules) p.text(n.name).text(n.build_id).text(n.path);
  return checked(format::type_modules, p, format::parse_modules);
}

std::vector<std::byte> encode(const Dictionary& d) {
  Payload p;
  p.count(d.node, "a node").raw(d.coded);
  return checked(format::type_dictionary, p, format::parse_dictionary);
}

std::vector<std::byte> encode(const Representatives& r) {
  Payload p;
  p.count(r.node, "a node").raw(r.coded);
  return checked(format::type_representatives, p, format::parse_representatives);
}

std::vector<std::byte> encode(const Window& w) {
  Payload p;
  p.count(w.node, "a node").count(w.window, "a window").count(w.first_step, "a step");
  p.count(w.last_step - w.first_step, "the length of a window").integer(w.start_ns);
  p.count(w.end_ns - w.start_ns, "the duration of a window").real(w.error).real(w.confidence).number(w.strata.size());
  for (const Window::Stratum& s : w.strata)
    p.count(s.population, "a stratum's population").count(s.sample, "a stratum's sample");
  p.number(w.ranks.size());
  for (const Window::Rank& r : w.ranks) {
    p.count(r.rank, "a rank").number(r.reasons).real(r.probability).integer(r.stratum);
    p.count(r.dropped_steps, "the number of dropped steps").count(r.dropped_events, "the number of dropped events");
  }
  p.number(w.region_sums ? 1 : 0);
  if (w.region_sums) {
    p.number(w.region_sums->size());
    std::int64_t before = 0;
    for (const Window::RegionSum& sum : *w.region_sums) {
      p.count(sum.region - before, "the difference between a region and the one before it")
          .count(sum.ns, "a region's time");
      before = sum.region;
    }
    const bool counted = std::none_of(w.region_sums->begin(), w.region_sums->end(),
                                      [](const Window::RegionSum& sum) { return sum.calls < 0; });
    p.number(counted ? 1 : 0);
    if (counted)
      for (const Window::RegionSum& sum : *w.region_sums) p.count(sum.calls, "a region's calls");
  }
  return checked(format::type_window, p, format::parse_window);
}

std::vector<std::byte> encode(const Events& e) {
  Payload p;
  p.count(e.node, "a node").count(e.window, "a window").count(e.rank, "a rank").count(e.thread, "a thread");
  p.number(e.events).raw(e.coded);
  return checked(e.reduced ? format::type_reduced : format::type_events, p,
                 [](format::View payload) { format::parse_events(payload, false); });
}

std::vector<std::byte> encode(const Clock& c) {
  Payload p;
  p.count(c.node, "a node").integer(c.time_ns).integer(c.offset_ns).count(c.bound_ns, "a clock's bound");
  return checked(format::type_clock, p, format::parse_clock);
}

std::vector<std::byte> encode(const End& e) {
  Payload p;
  p.count(e.node, "a node").count(e.steps, "the number of steps");
  return checked(format::type_end, p, format::parse_end);
}

}  // namespace effort::record::trace
