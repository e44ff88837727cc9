#include "tools/commands/kokkos_session.hpp"

#include <Kokkos_Core.hpp>

namespace effort::tools {

KokkosSession::KokkosSession() : owns_(!Kokkos::is_initialized()) {
  if (!owns_) return;
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

KokkosSession::~KokkosSession() {
  if (owns_) Kokkos::finalize();
}

}  // namespace effort::tools
