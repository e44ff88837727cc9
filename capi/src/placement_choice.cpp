// Selects this build's placement.
#include "runtime/session/session.hpp"

#ifdef EFFORT_HAVE_HWLOC
#include "adapters/hwloc/hwloc_placement.hpp"
#endif

namespace effort::session {

std::unique_ptr<engine::Placement> make_placement() {
#ifdef EFFORT_HAVE_HWLOC
  return std::make_unique<adapters::HwlocPlacement>();
#else
  return nullptr;
#endif
}

}  // namespace effort::session
