#include "analytics/communication/affinity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace effort::communication {

namespace {

double severity_of(const Alternative& a) {
  const auto amount = static_cast<double>(a.bytes > 0 ? a.bytes : std::max<std::uint64_t>(a.events, 1));
  return a.duration / amount;
}

double complexity_of(const Alternative& a) { return static_cast<double>(a.ranks) * static_cast<double>(a.events); }

Affinity affinity_of(double angle) {
  if (angle > 60) return Affinity::high;
  return angle < 30 ? Affinity::low : Affinity::medium;
}

}  // namespace

const char* affinity_name(Affinity affinity) {
  return affinity == Affinity::low ? "Low" : affinity == Affinity::medium ? "Medium" : "High";
}

std::vector<Priority> prioritise(std::span<const Alternative> alternatives) {
  std::vector<Priority> out(alternatives.size());
  for (const bool moved : {true, false}) {
    double severities = 0, complexities = 0;
    for (const Alternative& a : alternatives) {
      if ((a.bytes > 0) != moved) continue;
      severities += severity_of(a);
      complexities += complexity_of(a);
    }
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
      const Alternative& a = alternatives[i];
      if ((a.bytes > 0) != moved) continue;
      if (severities > 0) out[i].severity = severity_of(a) / severities;
      if (complexities > 0) out[i].complexity = complexity_of(a) / complexities;
      out[i].angle = std::atan2(out[i].severity, out[i].complexity) * 180 / std::numbers::pi;
      out[i].affinity = affinity_of(out[i].angle);
    }
  }
  return out;
}

}  // namespace effort::communication
