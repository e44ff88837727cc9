#include "adapters/pmpi/polling.hpp"

namespace effort::pmpi {

std::uint64_t poll_gap = 0, longest_interruption = 0;

bool Polling::interrupted(std::uint64_t gap, std::uint64_t now) {
  const std::uint64_t polled = now - gap - since_;
  since_ = now;
  return gap < longest_interruption && gap < polled / 8;
}

}  // namespace effort::pmpi
