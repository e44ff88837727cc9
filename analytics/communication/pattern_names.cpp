#include "analytics/communication/pattern_names.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "analytics/communication/call_names.hpp"
#include "analytics/communication/shapes.hpp"

namespace effort::communication {

namespace {

std::span<const Event> events_of(const Patterns& patterns, const Instance& instance) {
  return std::span(patterns.events).subspan(instance.first_event, instance.end_event - instance.first_event);
}

/// The collectives of the first rank that takes part in any: "allreduce", "2 x allreduce + bcast".
std::string collectives_text(const Record& record, std::span<const Event> events) {
  std::vector<std::pair<std::string, std::size_t>> names;
  std::int32_t rank = -1;
  for (const Event& e : events) {
    if (e.kind != Event::Kind::collective) continue;
    if (rank >= 0 && e.rank != rank) break;
    rank = e.rank;
    const std::uint32_t region = record.calls[e.start].region;
    const std::string name = region < record.regions.size() ? collective_name(record.regions[region]) : "collective";
    const auto known = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == name; });
    if (known == names.end()) {
      names.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [name, count] : names) {
    if (!text.empty()) text += " + ";
    text += count == 1 ? name : std::to_string(count) + " x " + name;
  }
  return text;
}

/// Links of sends; `number` numbers the ranks.
template <typename Number>
std::vector<Link> links_of(std::span<const Event> events, const Number& number) {
  std::vector<Link> links;
  for (const Event& e : events) {
    if (e.kind == Event::Kind::send) links.push_back({number(e.rank), number(e.peer), 1, e.bytes});
  }
  return links;
}

void merge(std::vector<Link>& links) {
  std::stable_sort(links.begin(), links.end(),
                   [](const Link& a, const Link& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  std::size_t n = 0;
  for (std::size_t l = 0; l < links.size(); ++l) {
    if (n > 0 && links[n - 1].from == links[l].from && links[n - 1].to == links[l].to) {
      links[n - 1].messages += links[l].messages;
      links[n - 1].bytes += links[l].bytes;
    } else {
      links[n++] = links[l];
    }
  }
  links.resize(n);
}

/// Whether each rank completes its exchange with one rank before it begins one with another.
bool in_rounds(const Record& record, std::span<const Event> events) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool same_rank = i > 0 && events[i].rank == events[i - 1].rank;
    if (same_rank && events[i].peer != events[i - 1].peer && begin_of(record, events[i]) < end) return false;
    end = same_rank ? std::max(end, end_of(record, events[i])) : end_of(record, events[i]);
  }
  return true;
}

/// Ranks that exchange messages, in ascending order.
template <typename Rank>
class Numbers {
 public:
  void add(Rank rank) { ranks_.push_back(rank); }
  void finish() {
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  }
  std::uint32_t operator()(Rank rank) const {
    return static_cast<std::uint32_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(ranks_.size()); }

 private:
  std::vector<Rank> ranks_;
};

Shape shape_of(const Record& record, std::span<const Event> events) {
  Numbers<std::int32_t> numbers;
  for (const Event& e : events) {
    if (e.kind != Event::Kind::collective) numbers.add(e.rank);
  }
  numbers.finish();
  Traffic traffic{numbers.count(), links_of(events, numbers), in_rounds(record, events)};
  merge(traffic.links);
  return recognise(traffic);
}

/// The traffic of all instances of some patterns together.  Ranks are those of the run.
class CombinedTraffic {
 public:
  void add(std::span<const Event> events) {
    for (const Link& link : links_of(events, [](std::int32_t rank) { return static_cast<std::uint32_t>(rank); }))
      links_.push_back(link);
    if (links_.size() < merge_at_) return;
    merge(links_);
    merge_at_ = std::max(merge_at_, 2 * links_.size());
  }

  Shape shape(std::int32_t n_ranks) {
    merge(links_);
    // After enough random messages, every rank has sent to every other one, but not equally often.
    const bool even = std::all_of(links_.begin(), links_.end(),
                                  [&](const Link& link) { return link.messages == links_.front().messages; });
    for (Link& link : links_) link.messages = 1;
    Numbers<std::uint32_t> numbers;
    for (const Link& link : links_) numbers.add(link.from), numbers.add(link.to);
    numbers.finish();
    Traffic traffic{numbers.count(), links_, true};
    for (Link& link : traffic.links) link.from = numbers(link.from), link.to = numbers(link.to);
    Shape shape = recognise(traffic);
    // In a transpose, the ranks on the diagonal take part, although they exchange nothing.
    if (shape.name == "irregular" && n_ranks > 0 && static_cast<std::size_t>(n_ranks) < 2 * links_.size()) {
      Shape all = recognise({static_cast<std::uint32_t>(n_ranks), links_, true});
      if (all.name == "transpose") shape = std::move(all);
    }
    if (shape.name == "all-to-all" && !even) shape.name = "irregular";
    return shape;
  }

 private:
  std::vector<Link> links_;
  std::size_t merge_at_ = 1024;
};

bool between_two(const std::string& name) { return name == "message" || name == "exchange"; }

/// Patterns between two ranks are named by the combined traffic of those with the same name and function.
void name_together(const Record& record, Patterns& patterns) {
  using Key = std::pair<std::string, std::uint32_t>;
  std::vector<const Key*> key_of(patterns.patterns.size(), nullptr);
  std::map<Key, CombinedTraffic> together;
  for (std::size_t p = 0; p < patterns.patterns.size(); ++p) {
    const Pattern& pattern = patterns.patterns[p];
    if (!between_two(pattern.name)) continue;
    const Key key{pattern.name, patterns.instances[pattern.first_instance].function};
    key_of[p] = &together.try_emplace(key).first->first;
  }
  for (const Instance& instance : patterns.instances) {
    if (key_of[instance.pattern] != nullptr) together.at(*key_of[instance.pattern]).add(events_of(patterns, instance));
  }
  std::map<Key, Shape> shapes;
  for (auto& [key, traffic] : together) shapes[key] = traffic.shape(record.n_ranks);
  for (std::size_t p = 0; p < patterns.patterns.size(); ++p) {
    if (key_of[p] == nullptr) continue;
    const Shape& shape = shapes.at(*key_of[p]);
    if (shape.name == "irregular" || between_two(shape.name)) continue;
    patterns.patterns[p].name = shape.name;
    patterns.patterns[p].grid = shape.grid;
  }
}

}  // namespace

void name_patterns(const Record& record, Patterns& patterns) {
  for (Pattern& pattern : patterns.patterns) {
    const auto events = events_of(patterns, patterns.instances[pattern.first_instance]);
    Shape shape = shape_of(record, events);
    const std::string collectives = collectives_text(record, events);
    pattern.grid = std::move(shape.grid);
    pattern.name = shape.name == "none" ? collectives : shape.name;
    if (shape.name != "none" && !collectives.empty()) pattern.name += " + " + collectives;
  }
  name_together(record, patterns);
}

}  // namespace effort::communication
