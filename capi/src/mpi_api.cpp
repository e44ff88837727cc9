// libeffort_mpi: the one call that knows MPI.
#include "effort/effort_mpi.h"

#include "adapters/mpi/mpi_library.hpp"
#include "adapters/mpi/mpi_transport.hpp"
#include "attach.hpp"
#include "runtime/status.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using effort::Status;

namespace {

effort_status fail(Status status, const std::string& message) {
  return effort_fail(static_cast<effort_status>(status), message.c_str());
}

bool is_inter(MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  return inter != 0;
}

// Runs at the start of MPI_Finalize: attributes of MPI_COMM_SELF are deleted before anything else (MPI 3.1, 8.7.1).
int at_mpi_finalize(MPI_Comm, int, void*, void*) {
  effort_finalize_forgotten();
  return MPI_SUCCESS;
}

void finalize_with_mpi() {
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_mpi_finalize, &key, nullptr) == MPI_SUCCESS)
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

// What each rank's items cost together, comparable between ranks, on all ranks alike.
effort_status rank_sums(const std::vector<double>& totals, const std::vector<double>& counts, std::int64_t sum, std::int64_t least,
                        std::vector<std::int64_t>& sums) {
  double items = 0;
  for (double n : counts) items += n;
  if (sum < 0 || least < 0 || items * static_cast<double>(least) > static_cast<double>(sum))
    return fail(Status::invalid_argument, "effort_weights_integers_mpi: the sum " + std::to_string(sum) + " can't give " + std::to_string(static_cast<std::int64_t>(items)) +
                                              " items at least " + std::to_string(least) + " each: raise it (up to 2^52)");
  // Without any weight, items count equally; a rank without items gets nothing in either case.
  const bool weightless = std::all_of(totals.begin(), totals.end(), [](double t) { return t == 0; });
  sums.assign(totals.size(), 0);
  if (items == 0) return EFFORT_OK;
  const std::int64_t spare = sum - least * static_cast<std::int64_t>(items);
  const effort_status status = effort_weights_integers(totals.size(), weightless ? counts.data() : totals.data(), spare, 0, sums.data());
  for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += least * static_cast<std::int64_t>(counts[r]);
  return status;
}

}  // namespace

extern "C" effort_status effort_weights_integers_mpi(MPI_Comm comm, size_t n_items, const double* weight, int64_t sum, int64_t least,
                                                     int64_t* cost) {
  int initialized = 0, finalized = 0, ranks = 0, rank = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (!initialized || finalized || comm == MPI_COMM_NULL || is_inter(comm))
    return fail(Status::mpi, "effort_weights_integers_mpi: MPI is not running, or the communicator is MPI_COMM_NULL or an intercommunicator");
  try {
    if (PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return fail(Status::mpi, "effort_weights_integers_mpi: the communicator cannot be used");
    double mine[2] = {0, static_cast<double>(n_items)};
    bool good = n_items == 0 || (weight && cost);
    for (size_t i = 0; good && i < n_items; ++i) {
      good = std::isfinite(weight[i]) && weight[i] >= 0;
      mine[0] += weight[i];
    }
    if (!good || !std::isfinite(mine[0])) mine[0] = -1;
    std::vector<double> all(2 * static_cast<std::size_t>(ranks));
    if (PMPI_Allgather(mine, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, comm) != MPI_SUCCESS) return fail(Status::mpi, "effort_weights_integers_mpi: MPI_Allgather failed");
    std::vector<double> totals, counts;
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
      if (all[2 * r] < 0) return fail(Status::invalid_argument, "effort_weights_integers_mpi: rank " + std::to_string(r) + " passed a null pointer or a weight that is negative or not finite");
      totals.push_back(all[2 * r]);
      counts.push_back(all[2 * r + 1]);
    }
    std::vector<std::int64_t> sums;
    const effort_status status = rank_sums(totals, counts, sum, least, sums);
    if (status != EFFORT_OK || n_items == 0) return status;
    return effort_weights_integers(n_items, weight, sums[static_cast<std::size_t>(rank)], least, cost);
  } catch (const std::exception& e) {
    return fail(Status::memory, e.what());
  }
}

extern "C" effort_status effort_init_mpi(MPI_Comm comm, const effort_config* cfg) {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (!initialized || finalized)
    return fail(Status::mpi, initialized ? "MPI is finalized already: call effort_init_mpi before MPI_Finalize" : "MPI is not initialized: call MPI_Init before effort_init_mpi (or effort_init now and effort_init_mpi later)");
  if (const std::string other = effort::adapters::other_mpi(); !other.empty())
    return fail(Status::mpi, std::string("libeffort_mpi was built with ") + effort::adapters::built_with + ", but the host runs with " + other + ": link the libeffort_mpi of that MPI");
  if (comm == MPI_COMM_NULL) return fail(Status::invalid_argument, "effort_init_mpi: the communicator is MPI_COMM_NULL");
  if (is_inter(comm)) return fail(Status::invalid_argument, "effort_init_mpi: the communicator joins two groups (an intercommunicator): merge them with MPI_Intercomm_merge first");
  try {
    const effort_status status = effort_attach_transport(new effort::adapters::MpiTransport(comm), cfg);
    if (status == EFFORT_OK) finalize_with_mpi();
    return status;
  } catch (const effort::Error& e) {
    return fail(e.status(), e.what());
  } catch (const std::exception& e) {
    return fail(Status::internal, e.what());
  }
}

extern "C" effort_status effort_init_mpi_fortran(MPI_Fint comm, const effort_config* cfg) {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  // Handles can only be translated between init and finalize; the C form says what is wrong.
  return effort_init_mpi(initialized && !finalized ? PMPI_Comm_f2c(comm) : MPI_COMM_NULL, cfg);
}
