// libeffort_mpi: the calls of the C API that use MPI.
#include "effort/effort_mpi.h"

#include "adapters/mpi/mpi_library.hpp"
#include "adapters/mpi/mpi_transport.hpp"
#include "attach.hpp"
#include "errors.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <vector>

using effort::Status;
using effort::capi::guarded;

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

// The sum of the integer costs for each rank.  The result is the same on all ranks.
effort_status rank_sums(const std::vector<double>& totals, const std::vector<double>& counts, std::int64_t sum,
                        std::int64_t least, std::vector<std::int64_t>& sums) {
  double items = 0;
  for (double n : counts) items += n;
  if (sum < 0 || least < 0 || items * static_cast<double>(least) > static_cast<double>(sum))
    return fail(Status::invalid_argument, "effort_weights_integers_mpi: the sum " + std::to_string(sum) +
                                              " cannot give each of " +
                                              std::to_string(static_cast<std::int64_t>(items)) + " items at least " +
                                              std::to_string(least) + ": choose a larger sum, up to 2^52");
  // If all weights are zero, items count equally.  A rank without items gets nothing in either case.
  const bool weightless = std::all_of(totals.begin(), totals.end(), [](double t) { return t == 0; });
  sums.assign(totals.size(), 0);
  if (items == 0) return EFFORT_OK;
  const std::int64_t spare = sum - least * static_cast<std::int64_t>(items);
  const effort_status status =
      effort_weights_integers(totals.size(), weightless ? counts.data() : totals.data(), spare, 0, sums.data());
  for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += least * static_cast<std::int64_t>(counts[r]);
  return status;
}

// The sum of the weights of this rank's items; -1 if the arguments are wrong.
double total_weight(std::size_t n_items, const double* weight, const std::int64_t* cost) {
  if (n_items > 0 && !(weight && cost)) return -1;
  double total = 0;
  for (std::size_t i = 0; i < n_items; ++i) {
    if (!(std::isfinite(weight[i]) && weight[i] >= 0)) return -1;
    total += weight[i];
  }
  return std::isfinite(total) ? total : -1;
}

effort_status integers(MPI_Comm comm, std::size_t n_items, const double* weight, std::int64_t sum, std::int64_t least,
                       std::int64_t* cost) {
  int ranks = 0, rank = 0;
  if (PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
    return fail(Status::mpi,
                "effort_weights_integers_mpi: MPI_Comm_size or MPI_Comm_rank failed: pass a valid communicator");
  const double mine[2] = {total_weight(n_items, weight, cost), static_cast<double>(n_items)};
  std::vector<double> all;
  int good = 1, all_good = 0;
  try {
    all.resize(2 * static_cast<std::size_t>(ranks));
  } catch (const std::bad_alloc&) {
    good = 0;
  }
  if (PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
    return fail(Status::mpi, "effort_weights_integers_mpi: MPI_Allreduce failed");
  if (all_good == 0) return effort_fail(EFFORT_ERR_MEMORY, good ? "another rank is out of memory" : "out of memory");
  if (PMPI_Allgather(mine, 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, comm) != MPI_SUCCESS)
    return fail(Status::mpi, "effort_weights_integers_mpi: MPI_Allgather failed");
  std::vector<double> totals, counts;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    if (all[2 * r] < 0)
      return fail(Status::invalid_argument,
                  "effort_weights_integers_mpi: rank " + std::to_string(r) +
                      " passed a null pointer or a weight that is negative or not finite: pass finite weights >= 0");
    totals.push_back(all[2 * r]);
    counts.push_back(all[2 * r + 1]);
  }
  std::vector<std::int64_t> sums;
  const effort_status status = rank_sums(totals, counts, sum, least, sums);
  if (status != EFFORT_OK || n_items == 0) return status;
  return effort_weights_integers(n_items, weight, sums[static_cast<std::size_t>(rank)], least, cost);
}

enum class Mpi { before_init, running, finalized };

Mpi mpi_state() {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return finalized ? Mpi::finalized : initialized ? Mpi::running : Mpi::before_init;
}

effort_status init(MPI_Comm comm, const effort_config* cfg) {
  const Mpi state = mpi_state();
  if (state == Mpi::finalized)
    return fail(Status::mpi, "MPI is finalized already: call effort_init_mpi before MPI_Finalize");
  if (state == Mpi::before_init)
    return fail(
        Status::mpi,
        "MPI is not initialized: call MPI_Init before effort_init_mpi (or effort_init now and effort_init_mpi later)");
  if (const std::string other = effort::adapters::other_mpi(); !other.empty())
    return fail(Status::mpi, std::string("libeffort_mpi was built with ") + effort::adapters::built_with +
                                 ", but the host runs with " + other + ": link the libeffort_mpi of that MPI");
  if (comm == MPI_COMM_NULL)
    return fail(Status::invalid_argument, "effort_init_mpi: the communicator is MPI_COMM_NULL");
  if (is_inter(comm))
    return fail(Status::invalid_argument,
                "effort_init_mpi: the communicator joins two groups (an intercommunicator): merge them with "
                "MPI_Intercomm_merge first");
  const effort_status status = effort_attach_transport(effort::adapters::MpiTransport::over(comm).release(), cfg);
  if (status == EFFORT_OK) finalize_with_mpi();
  return status;
}

}  // namespace

extern "C" {

effort_status effort_weights_integers_mpi(MPI_Comm comm, size_t n_items, const double* weight, int64_t sum,
                                          int64_t least, int64_t* cost) {
  if (mpi_state() != Mpi::running || comm == MPI_COMM_NULL || is_inter(comm))
    return effort_fail(EFFORT_ERR_MPI,
                       "effort_weights_integers_mpi: MPI is not running, or the communicator is MPI_COMM_NULL or an "
                       "intercommunicator");
  return guarded([&] { return integers(comm, n_items, weight, sum, least, cost); });
}

effort_status effort_init_mpi(MPI_Comm comm, const effort_config* cfg) {
  return guarded([&] { return init(comm, cfg); });
}

effort_status effort_init_mpi_fortran(MPI_Fint comm, const effort_config* cfg) {
  // Handles can only be converted between MPI_Init and MPI_Finalize; effort_init_mpi reports the error otherwise.
  return effort_init_mpi(mpi_state() == Mpi::running ? PMPI_Comm_f2c(comm) : MPI_COMM_NULL, cfg);
}

}  // extern "C"
