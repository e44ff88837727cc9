#include "analytics/communication/patterns.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "analytics/communication/instances.hpp"
#include "analytics/communication/pattern_names.hpp"

namespace effort::communication {

namespace {

/// Instances as sequences of words, which are equal if the instances have the same pattern.
class Words {
 public:
  Words(const Record& record, Symbols symbols) : record_(record), symbols_(symbols) {}

  /// @param events  of the instance, by rank
  const std::vector<std::uint64_t>& of(std::span<const Event> events) {
    ranks_.clear();
    for (const Event& e : events) {
      if (ranks_.empty() || ranks_.back() != e.rank) ranks_.push_back(e.rank);
    }
    words_.clear();
    const Event* before = nullptr;
    for (const Event& e : events) {
      if (before == nullptr || before->rank != e.rank) words_.push_back(std::uint64_t{3} << 62 | number(e.rank));
      words_.push_back(std::uint64_t{static_cast<std::uint8_t>(e.kind)} << 62 | number(e.peer));
      if (e.kind == Event::Kind::collective) words_.push_back(e.collective);
      if (symbols_ == Symbols::absolute) words_.push_back(function(e));
      before = &e;
    }
    return words_;
  }
  std::size_t ranks() const { return ranks_.size(); }

 private:
  std::uint32_t number(std::int32_t rank) const {
    if (symbols_ == Symbols::absolute) return static_cast<std::uint32_t>(rank);
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return at == ranks_.end() || *at != rank ? none : static_cast<std::uint32_t>(at - ranks_.begin());
  }
  std::uint64_t function(const Event& e) const {
    return e.context == none ? std::uint64_t{none} : record_.calls[e.context].region;
  }

  const Record& record_;
  Symbols symbols_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::uint64_t> words_;
};

/// The patterns seen so far, by their words.
class Known {
 public:
  std::uint32_t number(const std::vector<std::uint64_t>& words) {
    const std::uint64_t hash = hash_of(words);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      if (words_[at->second] == words) return at->second;
    }
    const auto fresh = static_cast<std::uint32_t>(words_.size());
    by_hash_.emplace(hash, fresh);
    words_.push_back(words);
    return fresh;
  }

 private:
  static std::uint64_t hash_of(const std::vector<std::uint64_t>& words) {
    std::uint64_t hash = words.size();
    for (const std::uint64_t word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::vector<std::vector<std::uint64_t>> words_;
};

}  // namespace

Patterns find_patterns(const Record& record, Symbols symbols) {
  Patterns out = join_instances(record, collect_events(record));
  Words words(record, symbols);
  Known known;
  for (std::size_t i = 0; i < out.instances.size(); ++i) {
    Instance& instance = out.instances[i];
    const std::size_t events = instance.end_event - instance.first_event;
    instance.pattern = known.number(words.of(std::span(out.events).subspan(instance.first_event, events)));
    if (instance.pattern == out.patterns.size())
      out.patterns.push_back({"", {}, static_cast<std::uint32_t>(words.ranks()), events, 0, i});
    ++out.patterns[instance.pattern].instances;
  }
  name_patterns(record, out);
  return out;
}

}  // namespace effort::communication
