// The smallest use of effort in C++. Each rank computes some rows of a Mandelbrot image that moves from step to step,
// and the rows are redistributed when a hint says that it pays.
#include <effort/effort_mpi.h>
#include <effort/effort.hpp>

#include <complex>
#include <cstdio>
#include <vector>

namespace {

constexpr int rows = 240, columns = 240, steps = 200, limit = 200;

struct Division {
  std::vector<int> first;  // rank r computes rows first[r] to first[r + 1] - 1
  int rebalances = 0;
};

// Iterations until the points of a row escape. Rows that cross the Mandelbrot set cost most.
long compute_row(int row, int step) {
  long iterations = 0;
  for (int column = 0; column < columns; ++column) {
    const std::complex<double> c(3.0 * column / columns - 2.2, 2.4 * row / rows - 1.8 + 1.2 * step / steps);
    std::complex<double> z;
    for (int n = 0; n < limit && std::norm(z) <= 4; ++n, ++iterations) z = z * z + c;
  }
  return iterations;
}

// Called inside progress_step on every rank, at the same step and with the same numbers, so all ranks compute the same
// division without communication. Each row is assumed to cost the mean of its rank's rows.
int on_hint(const effort_hint* hint, void* user) {
  auto& [first, rebalances] = *static_cast<Division*>(user);
  if (!hint->rebalance) return 0;
  std::vector<double> cost;
  double total = 0, below = 0;
  for (int r = 0; r < hint->n_ranks; ++r) {
    const int held = first[r + 1] - first[r];
    if (held == 0) continue;
    cost.insert(cost.end(), held, hint->predicted[r] / held);
    total += hint->predicted[r];
  }
  for (int r = 1, row = 0; r < hint->n_ranks; ++r) {
    while (row < rows && below + cost[row] / 2 < total * r / hint->n_ranks) below += cost[row++];
    first[r] = row;
  }
  ++rebalances;  // a real code moves its data here
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  Division division;
  for (int r = 0; r <= ranks; ++r) division.first.push_back(r * rows / ranks);

  if (effort_init_mpi(MPI_COMM_WORLD, nullptr) != EFFORT_OK) std::fprintf(stderr, "%s\n", effort_last_error());
  const effort::RegionId compute("compute"), sum("sum", EFFORT_COMM);
  effort_on_rebalance(on_hint, &division);

  long iterations = 0, all = 0;
  for (int step = 0; step < steps; ++step) {
    {
      const effort::Region in_compute(compute);
      for (int row = division.first[rank]; row < division.first[rank + 1]; ++row) iterations += compute_row(row, step);
    }
    {
      const effort::Region in_sum(sum);
      MPI_Allreduce(&iterations, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    progress_step();  // hints arrive in here
  }
  effort_finalize();

  if (rank == 0) std::printf("%ld iterations, rebalanced %d times\n", all, division.rebalances);
  MPI_Finalize();
}
