#include "tools/kokkos_session.hpp"

#include <Kokkos_Core.hpp>

namespace effort::tools {

#if KOKKOS_VERSION >= 30700
KokkosSession::KokkosSession() { Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true)); }
#else
KokkosSession::KokkosSession() {
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
}
#endif

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace effort::tools
