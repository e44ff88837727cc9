#include "analytics/balance/efficiency.hpp"

#include <algorithm>

namespace effort::balance {

Efficiencies efficiencies(double mean, double largest, double critical, double elapsed) {
  Efficiencies e;
  if (!(largest > 0)) return e;
  critical = std::max(critical, largest);
  e.load_balance = mean / largest;
  if (elapsed > 0) {
    elapsed = std::max(elapsed, critical);
    e.communication = largest / elapsed;
    e.parallel = mean / elapsed;
  }
  e.ideal_saving = (critical - mean) / (elapsed > 0 ? elapsed : critical);
  return e;
}

}  // namespace effort::balance
