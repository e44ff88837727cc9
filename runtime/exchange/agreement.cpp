#include "runtime/exchange/agreement.hpp"

namespace effort::exchange {

Status worst_status(Transport& transport, Status mine) {
  auto worst = static_cast<std::int64_t>(mine);
  if (!transport.world_min(&worst, 1)) throw Error(Status::mpi, transport.error());
  return static_cast<Status>(worst);
}

bool same_on_all_ranks(Transport& transport, std::int64_t value) {
  std::int64_t least_and_greatest[2] = {value, -value};
  if (!transport.world_min(least_and_greatest, 2)) throw Error(Status::mpi, transport.error());
  return least_and_greatest[0] == -least_and_greatest[1];
}

}  // namespace effort::exchange
