// The cost of borders between nodes: encoded sizes of matrices with rows distributed over nodes, compared with one
// node.
//
//   bench_codec_border [--quick] [--nodes N]...
#include "analytics/codec/slab_coder.hpp"
#include "analytics/comm/thread_group.hpp"
#include "generator.hpp"
#include "rivals.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace effort;
using namespace effort::bench;

struct Shape {
  std::size_t rows, cols;
};

/// Nodes alternate between one rank more and one rank less.
std::vector<std::byte> encode_over(int n, const std::vector<double>& values, Shape shape, double bound) {
  std::vector<std::byte> stream;
  run_thread_group(n, [&](Communicator& nodes) {
    const auto cut = [&](int node) {
      const std::size_t even = shape.rows * static_cast<std::size_t>(node) / static_cast<std::size_t>(n);
      return node > 0 && node < n ? even + static_cast<std::size_t>(node % 2) : even;
    };
    const std::size_t first = cut(nodes.rank()), rows = cut(nodes.rank() + 1) - first;
    codec::SlabCoder coder(nodes);
    const std::vector<codec::SlabCoder::Slab> slabs{
        coder.add({std::span(values).subspan(first * shape.cols, rows * shape.cols), rows, shape.cols},
                  {codec::Target::Kind::nrmse, bound})};
    const auto bytes = codec::gather_slabs(nodes, slabs, coder.code());
    if (nodes.rank() == 0)
      stream = codec::write_blocks(shape.rows, bytes, codec::errors_of(slabs, slabs[0].nrmse_unit));
  });
  return stream;
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  std::vector<Shape> shapes{{1024, 1024}, {16384, 200}};
  std::vector<int> counts;
  for (int a = 1; a < argc; ++a) {
    if (std::strcmp(argv[a], "--quick") == 0) shapes = {{512, 300}};
    if (std::strcmp(argv[a], "--nodes") == 0 && a + 1 < argc) counts.push_back(std::atoi(argv[++a]));
  }
  if (counts.empty()) counts = {2, 4, 8, 64};
  double worst = -1;
  for (const Shape shape : shapes)
    for (const auto& kind : matrix_kinds()) {
      const auto values = make_matrix(kind, shape.rows, shape.cols, 99);
      for (const double bound : {0.04, 0.01, 0.001}) {
        const std::size_t one = encode_over(1, values, shape, bound).size();
        std::printf("%-8s %5zux%-5zu %6g one node %8zu B", kind.c_str(), shape.rows, shape.cols, bound, one);
        for (const int n : counts) {
          const auto stream = encode_over(n, values, shape, bound);
          const double achieved = nrmse_of(values, codec::decode(stream).values);
          const double more = 100 * (static_cast<double>(stream.size()) / static_cast<double>(one) - 1);
          std::printf("  %3d nodes %+6.2f %% (%zu tiles, error %.3f)", n, more, codec::inspect(stream).tiles,
                      achieved / bound);
          worst = std::max(worst, more);
          std::fflush(stdout);
        }
        std::printf("\n");
      }
    }
  std::printf("the border costs at most %.2f %%\n", worst);
}
