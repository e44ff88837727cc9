// The kernels of wavelets and clustering on a device: they compile for it, copy their data there and back, and give the
// same bits as on the host.
#include "device.hpp"

#include "analytics/cluster/kernels.hpp"
#undef EFFORT_FOR_EACH_SPACE
#define EFFORT_FOR_EACH_SPACE(MACRO)  // the library contains the instances for the host
#include "analytics/cluster/clara.cpp"
#include "analytics/cluster/kernels.cpp"
#include "analytics/wavelet/cdf97.cpp"

#include "../cluster/sets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <csetjmp>
#include <csignal>

using namespace effort;
using cluster::test::groups_of;
using test::Device;

namespace {

std::jmp_buf before_access;

bool host_can_read(const double* data) {
  struct sigaction action = {}, old;
  action.sa_handler = [](int) { std::longjmp(before_access, 1); };
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, &old);
  volatile bool read = false;
  if (setjmp(before_access) == 0) {
    [[maybe_unused]] const volatile double value = *data;
    read = true;
  }
  sigaction(SIGSEGV, &old, nullptr);
  return read;
}

struct Doubled {
  simd::Array<Device, const double> from;
  simd::Array<Device, double> to;
  template <typename Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    to(team.league_rank()) = 2 * from(team.league_rank());
  }
};

}  // namespace

TEST_CASE("memory of the device is accessible to kernels but not to the host") {
  const std::vector<double> values{1, 2, 3};
  const simd::Input<Device, double> input(values);
  REQUIRE_FALSE(host_can_read(input.array().data()));
  std::vector<double> doubled(3);
  const simd::Output<Device, double> output(doubled);
  simd::for_each_team(Device{}, "double", 3, simd::InstructionSet::portable, Doubled{input.array(), output.array()});
  REQUIRE_FALSE(host_can_read(output.array().data()));
  output.fetch();
  REQUIRE(doubled == std::vector<double>{2, 4, 6});
}

TEST_CASE("clustering on a device") {
  const std::size_t n = GENERATE(40, 700), d = 13;
  const auto values = groups_of(n, d, 4, 3, 11);
  cluster::ClaraParameters parameters;
  parameters.k = GENERATE(0, 5);
  const int before = test::kernels();
  const std::size_t arrays = test::arrays();
  const auto expected = cluster::clara(Kokkos::Serial{}, {values, n, d}, parameters);
  REQUIRE(test::kernels() == before);  // a single team of the host needs no launch
  const auto found = cluster::clara(Device{}, {values, n, d}, parameters);
  REQUIRE(test::kernels() > before);
  REQUIRE(found.medoids == expected.medoids);
  REQUIRE(found.labels == expected.labels);
  REQUIRE(found.cost == expected.cost);
  REQUIRE(found.silhouette == expected.silhouette);
  REQUIRE(test::arrays() == arrays);
}

TEST_CASE("single precision on a device") {
  const std::size_t n = 300, d = 9;
  const auto values = groups_of(n, d, 4, 3, 12);
  const std::vector<float> single(values.begin(), values.end());
  const auto sums_on = [&](const cluster::Kernels& kernels) {
    const auto table = kernels.distances(cluster::RowsOf<float>{single.data(), n, d}, {single.data(), n, d});
    std::vector<double> sums(n);
    kernels.on(table)->sums(sums);
    return sums;
  };
  REQUIRE(sums_on(cluster::KernelsOn<Device>(Device{})) ==
          sums_on(cluster::KernelsOn<Kokkos::Serial>(Kokkos::Serial{})));
}

TEST_CASE("the wavelet transform on a device") {
  const std::size_t rows = GENERATE(1, 2, 37), cols = GENERATE(1, 50);
  const auto values = groups_of(rows, cols, 2, 3, 13);
  const wavelet::Levels levels{wavelet::deepest_level(rows), wavelet::deepest_level(cols)};
  auto expected = values;
  wavelet::forward(Kokkos::Serial{}, wavelet::view_of(expected.data(), rows, cols, cols), levels);
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Device::memory_space>;
  const Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace> host(values.data(), rows, cols);
  const auto there = [&](const auto& matrix) { return wavelet::MatrixOn<Device>(matrix); };
  const Matrix matrix(Kokkos::view_alloc(Kokkos::WithoutInitializing, "matrix"), rows, cols);
  Kokkos::deep_copy(matrix, host);
  wavelet::forward<Device>(Device{}, there(matrix), levels);
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> back("back", rows, cols);
  Kokkos::deep_copy(back, matrix);
  REQUIRE(std::equal(expected.begin(), expected.end(), back.data()));
  wavelet::inverse<Device>(Device{}, there(matrix), levels);
  Kokkos::deep_copy(back, matrix);
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(std::abs(back.data()[i] - values[i]) < 1e-12);
}
