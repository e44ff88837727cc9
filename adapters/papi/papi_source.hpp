// PAPI events as a source of metrics.
#pragma once

#include "runtime/measure/metric_source.hpp"

#include <memory>
#include <string>
#include <vector>

namespace effort::adapters {

/// Events of one PAPI component: they share an event set.
struct EventGroup {
  int component = 0;
  std::string component_name;
  bool per_thread = false;  ///< the component counts threads; otherwise the process, or the machine
  bool multiplexed = false;
  std::vector<int> codes;
  std::vector<std::size_t> places;  ///< among the source's counters
  std::vector<bool> may_be_absent;  ///< software-defined: PAPI takes any name, and reads -1 until it is registered
};

/// Counts events through PAPI.  Sets of events belong to the threads that opened them.
class PapiSource final : public measure::MetricSource {
 public:
  PapiSource(std::vector<measure::Counter> counters, std::vector<EventGroup> groups);

  const std::vector<measure::Counter>& counters() const override;
  std::unique_ptr<measure::CounterReader> open(bool whole) override;
  std::vector<std::string> remarks() const override;

  /// Shared with the readers, which may outlive the source.
  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Tests every event by adding it to an event set, because PAPI accepts names of events that it cannot count.
measure::EventAnswer papi_events(const std::vector<std::string>& names, const measure::EventOptions& options);

}  // namespace effort::adapters
