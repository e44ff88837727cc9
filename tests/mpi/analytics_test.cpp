// Analytics over MPI give the same bits as over threads of one process.
#include "adapters/mpi/mpi_transport.hpp"
#include "analytics/cluster/distributed_clara.hpp"
#include "analytics/comm/thread_group.hpp"
#include "runtime/engine/kokkos_scope.hpp"
#include "runtime/exchange/leader_communicator.hpp"
#include "tests/unit/analytics/cluster/sets.hpp"

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <mpi.h>

using namespace effort;

namespace {

using Result = cluster::DistributedClustering;

// Unequal nodes: the first has most objects, and of many nodes one has none.
int node_of(std::int32_t id, int nodes) {
  return id % 3 == 0 ? 0 : static_cast<int>((static_cast<std::int64_t>(id) * id / 5) % (nodes > 3 ? nodes - 1 : nodes));
}

Result strata(Communicator& nodes, std::span<const double> values, std::size_t d,
              const cluster::ClaraParameters& parameters) {
  std::vector<std::int32_t> ids;
  std::vector<double> mine;
  const auto n = static_cast<std::int32_t>(values.size() / d);
  for (std::int32_t i = 0; i < n; ++i) {
    if (node_of(i, nodes.size()) != nodes.rank()) continue;
    ids.push_back(i);
    const auto row = values.subspan(static_cast<std::size_t>(i) * d, d);
    mine.insert(mine.end(), row.begin(), row.end());
  }
  return cluster::distributed_clara(Kokkos::Serial{}, nodes, {mine, ids.size(), d}, ids, n, parameters);
}

bool same(const Result& a, const Result& b) {
  return a.k == b.k && a.medoids == b.medoids && a.medoid_signatures == b.medoid_signatures && a.labels == b.labels &&
         a.cost == b.cost && a.sizes == b.sizes && a.lone == b.lone && a.silhouette == b.silhouette;
}

}  // namespace

TEST_CASE("strata over MPI are those over threads, bit for bit, with unequal nodes") {
  const std::size_t n = GENERATE(40, 997), d = 6;
  cluster::ClaraParameters parameters;
  parameters.k = GENERATE(0, 3);
  const auto values = cluster::test::groups_of(n, d, 3, 6, 11);

  const auto owner = adapters::MpiTransport::over(MPI_COMM_WORLD);
  adapters::MpiTransport& transport = *owner;
  int place = -1, nodes = 0;
  REQUIRE(transport.form_leaders(true, place, nodes));
  exchange::DirectExecutor executor(transport);
  exchange::LeaderCommunicator over_mpi(executor, place, nodes);
  const Result mine = strata(over_mpi, values, d, parameters);

  std::vector<Result> threads(static_cast<std::size_t>(nodes));
  run_thread_group(nodes, [&](Communicator& comm) {
    threads[static_cast<std::size_t>(comm.rank())] = strata(comm, values, d, parameters);
  });
  int good = same(mine, threads[static_cast<std::size_t>(place)]), all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  CHECK(good);
  CHECK(all);
  // And those of one node.
  SelfCommunicator alone;
  CHECK(strata(alone, values, d, parameters).medoids == mine.medoids);
  transport.release();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const engine::KokkosScope kokkos;
    failed = Catch::Session().run(argc, argv);
  }
  MPI_Finalize();
  return failed;
}
