#include "runtime/measure/metric_source.hpp"

namespace effort::measure {
namespace {

/// The readers of several sources, in sequence.
class Chain final : public CounterReader {
 public:
  struct Link {
    std::unique_ptr<CounterReader> reader;
    std::size_t count;
  };
  explicit Chain(std::vector<Link> links) : links_(std::move(links)) {}

  void read(std::int64_t* values) noexcept override {
    for (Link& link : links_) {
      if (link.reader)
        link.reader->read(values);
      else
        for (std::size_t i = 0; i < link.count; ++i) values[i] = no_reading;
      values += link.count;
    }
  }
  void thread_ends() noexcept override {
    for (Link& link : links_)
      if (link.reader) link.reader->thread_ends();
  }

 private:
  std::vector<Link> links_;
};

}  // namespace

void SourceSet::add(std::shared_ptr<MetricSource> source) {
  counters_.insert(counters_.end(), source->counters().begin(), source->counters().end());
  sources_.push_back(std::move(source));
}

std::unique_ptr<CounterReader> SourceSet::open(bool whole) const {
  if (sources_.empty()) return nullptr;
  // Usually there is one source; its reader is called directly at every region boundary.
  if (sources_.size() == 1)
    if (auto reader = sources_[0]->open(whole)) return reader;
  std::vector<Chain::Link> links;
  for (const auto& source : sources_) links.push_back({source->open(whole), source->counters().size()});
  return std::make_unique<Chain>(std::move(links));
}

std::vector<std::string> SourceSet::remarks() const {
  std::vector<std::string> all;
  for (const auto& source : sources_)
    for (std::string& text : source->remarks()) all.push_back(std::move(text));
  return all;
}

std::int64_t growth(std::int64_t before, std::int64_t now, bool& fell) noexcept {
  const auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before));
  if (delta >= 0) return delta;
  for (const int bits : {32, 40, 48}) {
    const std::int64_t range = std::int64_t{1} << bits, eighth = range / 8;
    if (before < range && before >= range - eighth && now >= 0 && now < eighth) return delta + range;
  }
  fell = true;
  return 0;
}

}  // namespace effort::measure
