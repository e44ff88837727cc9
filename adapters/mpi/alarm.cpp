#include "adapters/mpi/alarm.hpp"

#include <algorithm>

namespace effort::adapters {

namespace {
constexpr int alarm_tag = 3;  // MpiTransport sends to neighbours with other tags
}

int Alarm::connect(MPI_Comm leaders, int rank, int size) {
  for (int b = 0; b < most && 1 << b < size; ++b) {
    const int neighbour = rank ^ 1 << b;
    if (neighbour >= size) continue;
    int code = PMPI_Send_init(&told_, 1, MPI_INT64_T, neighbour, alarm_tag, leaders, &to_[n_]);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Recv_init(&heard_[n_], 1, MPI_INT64_T, neighbour, alarm_tag, leaders, &from_[n_]);
    if (code != MPI_SUCCESS) return code;
    ++n_;
  }
  // The first messages carry no alarm.  They make MPI allocate the memory that the connections need.
  int code = PMPI_Startall(n_, from_);
  if (code == MPI_SUCCESS) code = PMPI_Startall(n_, to_);
  if (code == MPI_SUCCESS) code = PMPI_Waitall(n_, to_, MPI_STATUSES_IGNORE);
  if (code == MPI_SUCCESS) code = PMPI_Waitall(n_, from_, MPI_STATUSES_IGNORE);
  if (code == MPI_SUCCESS) code = PMPI_Startall(n_, from_);
  return code;
}

void Alarm::raise(std::int64_t operation) noexcept {
  first_stopped_ = std::min(first_stopped_, operation);
  tell();
}

bool Alarm::stops(std::int64_t operation) noexcept {
  if (n_ == 0) return false;
  int messages = 0, which[most];
  PMPI_Testsome(n_, from_, &messages, which, MPI_STATUSES_IGNORE);
  for (int i = 0; i < messages; ++i) {
    first_stopped_ = std::min(first_stopped_, heard_[which[i]]);
    PMPI_Start(&from_[which[i]]);
  }
  tell();
  // A leader that gives up the exchange does not call this again.  So tell it to stop only once it has passed the alarm
  // on.
  return first_stopped_ <= operation && told_ == first_stopped_;
}

void Alarm::tell() noexcept {
  if (told_ == first_stopped_) return;
  int sent = 0;
  if (PMPI_Testall(n_, to_, &sent, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !sent) return;  // an earlier alarm
  told_ = first_stopped_;
  for (int i = 0; i < n_; ++i) PMPI_Start(&to_[i]);
}

void Alarm::release() noexcept {
  for (int i = 0; i < n_; ++i) {
    PMPI_Cancel(&from_[i]);
    PMPI_Wait(&from_[i], MPI_STATUS_IGNORE);
    PMPI_Request_free(&from_[i]);
    PMPI_Request_free(&to_[i]);
  }
  n_ = 0;
}

}  // namespace effort::adapters
