/// What the private Kokkos calls instead of getenv (its archive is edited so): no variable is set.  KOKKOS_* belong to
/// the host's own Kokkos; one that contradicts our arguments, or that is malformed, would make this one throw.
extern "C" char* kokkos_private_getenv(const char*) { return nullptr; }
