#include "runtime/engine/kokkos_scope.hpp"

#include <Kokkos_Core.hpp>

#include <mutex>

namespace effort::engine {
namespace {

std::mutex mutex;
int engines = 0;
bool ours = false;

}  // namespace

KokkosScope::KokkosScope() {
  std::lock_guard lock(mutex);
  if (engines++ > 0 || Kokkos::is_initialized()) return;
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings{}.set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  ours = true;
}

KokkosScope::~KokkosScope() {
  std::lock_guard lock(mutex);
  if (--engines > 0 || !ours) return;
  ours = false;
  Kokkos::finalize();
}

}  // namespace effort::engine
