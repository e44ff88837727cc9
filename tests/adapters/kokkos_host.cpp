// Kokkos kernels, regions and fences measured through the tool, in a host of effort and in one that does not know it.
// usage: kokkos_host with|without
#include "snapshot_info.h"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

namespace {

constexpr int n_steps = 12, n = 20000;

void work(Kokkos::View<double*> a) {
  Kokkos::Profiling::pushRegion("outer");
  Kokkos::parallel_for(
      "fill", n, KOKKOS_LAMBDA(int i) { a(i) = 0.5 * i; });
  double sum = 0;
  Kokkos::parallel_reduce(
      "add up", n, KOKKOS_LAMBDA(int i, double& s) { s += a(i); }, sum);
  Kokkos::Profiling::pushRegion("inner");
  Kokkos::parallel_scan(
      "prefix", n, KOKKOS_LAMBDA(int i, double& s, bool last) {
        s += a(i);
        if (last) a(i) = s;
      });
  Kokkos::Profiling::popRegion();
  // The calls that Kokkos makes around a fence of a device.
  std::uint64_t fence = 0;
  Kokkos::Tools::beginFence("my fence", 0, &fence);
  Kokkos::fence();
  Kokkos::Tools::endFence(fence);
  Kokkos::Profiling::popRegion();
  Kokkos::Profiling::popRegion();  // a surplus end does no harm
  CHECK(sum == 0.25 * n * (n - 1.0));
}

double calls(const char* json, const char* region) {
  const char* at = strstr(json, (std::string("\"name\":\"") + region + "\"").c_str());
  if (!at) at = strstr(json, (std::string("\"name\": \"") + region + "\"").c_str());
  if (!CHECK(at != nullptr)) {
    std::fprintf(stderr, "region '%s' is missing\n", region);
    return -1;
  }
  return number_in(at, "\"calls\":", "total");
}

void expect(int steps) {
  char newest[1024];
  CHECK(snapshots_in(std::getenv("EFFORT_SNAPSHOT_DIR"), newest, sizeof newest) >= 1);
  const char* json = info_json(newest);
  CHECK(number_in(json, "", "steps") == steps);
  for (const char* region : {"outer", "inner", "fill", "add up", "prefix", "my fence"})
    CHECK(calls(json, region) == n_steps);
  // The tool must not make Kokkos fence devices around each kernel.
  CHECK(strstr(json, "Tool Fence") == nullptr);
  const auto settings =
      reinterpret_cast<void (*)(std::uint32_t, bool*)>(dlsym(RTLD_DEFAULT, "kokkosp_request_tool_settings"));
  bool fencing = true;
  if (CHECK(settings != nullptr)) settings(1, &fencing);
  CHECK(!fencing);
  const char* fence = strstr(json, "my fence");
  CHECK(fence && strstr(fence, "\"kind\"") && strncmp(strchr(strstr(fence, "\"kind\"") + 6, '"'), "\"wait\"", 6) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool with = argc > 1 && std::string(argv[1]) == "with";
  char none[1024];
  if (snapshots_in(std::getenv("EFFORT_SNAPSHOT_DIR"), none, sizeof none) > 0)
    std::system(("rm -f '" + std::string(std::getenv("EFFORT_SNAPSHOT_DIR")) + "'/*.effort").c_str());
#ifdef TEST_WITH_EFFORT
  if (with) CHECK_OK(effort_init(nullptr));
#endif
  Kokkos::initialize(argc, argv);
  {
    Kokkos::View<double*> a("a", n);
    for (int s = 0; s < n_steps; ++s) {
      work(a);
#ifdef TEST_WITH_EFFORT
      if (with) CHECK_OK(effort_progress_step());
#endif
    }
  }
  Kokkos::finalize();
#ifdef TEST_WITH_EFFORT
  if (with) CHECK_OK(effort_finalize());
#endif
  expect(with ? n_steps : 1);
  return failures() != 0;
}
