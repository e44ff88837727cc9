// Samples that are chosen before their windows.
#include "runtime/trace/sample_schedule.hpp"

#include <catch2/catch_test_macros.hpp>

#include <numeric>

using namespace effort;
using namespace effort::engine;

namespace {

constexpr int n_ranks = 200, tile = 10;

config::Settings settings_of(config::TraceDesign design) {
  config::Settings s;
  s.trace.design = design;
  s.trace.update = 1;
  return s;
}

/// A run whose sample is decided after every window, for the next one.
class Run {
 public:
  explicit Run(config::TraceDesign design) : settings_(settings_of(design)) { std::iota(all_.begin(), all_.end(), 0); }

  /// A window in which every rank's load is 1 to 1.5, and one of every `period` ranks has `factor` times that.
  /// @return the ranks to expect in the next sample, if there is room for so many
  double window(std::int64_t affordable, double factor = 1, int period = 10) {
    window::Result known;
    known.strata = 1;
    known.stratum.assign(n_ranks, 0);
    for (int r = 0; r < n_ranks; ++r)
      known.load.push_back((1 + 0.5 * (r * 37 % n_ranks) / n_ranks) * (r % period == windows_ % period ? factor : 1));
    const std::int64_t first = windows_++ * tile, last = first + tile - 1;
    schedule_.learn(known, rules_, first);
    REQUIRE(schedule_.is_due(last));
    schedule_.decide(known, rules_, affordable, last);
    const auto probability = schedule_.content().probability;
    return std::accumulate(probability.begin(), probability.end(), 0.0);
  }

 private:
  config::Settings settings_;
  std::vector<int> all_ = std::vector<int>(n_ranks);
  NameUnion names_;
  SampleRules rules_{settings_, n_ranks, all_, names_};
  SampleSchedule schedule_{settings_.trace, all_, tile};
  std::int64_t windows_ = 0;
};

}  // namespace

TEST_CASE("samples drawn in advance grow when loads change from window to window") {
  for (const auto design : {config::TraceDesign::subset, config::TraceDesign::global}) {
    Run steady(design), moving(design);
    double of_steady = 0, of_moving = 0;
    for (int w = 0; w < 12; ++w) {
      of_steady = steady.window(n_ranks);
      of_moving = moving.window(n_ranks, 3);
    }
    CHECK(of_steady < 30);
    CHECK(of_moving > 2 * of_steady);
  }
}

TEST_CASE("a sample that there was no room for does not enlarge later ones") {
  for (const auto design : {config::TraceDesign::subset, config::TraceDesign::global}) {
    for (const std::int64_t room : {0, 2, 4}) {
      Run roomy(design), narrow(design);
      double of_roomy = 0, of_narrow = 0;
      for (int w = 0; w < 20; ++w) {
        of_roomy = roomy.window(n_ranks, 2);
        of_narrow = narrow.window(w > 4 && w < 16 ? room : n_ranks, 2);
        if (w > 4 && w < 16) CHECK(of_narrow <= static_cast<double>(room) + 1e-9);
      }
      CHECK(of_narrow <= 1.1 * of_roomy);
    }
  }
}
