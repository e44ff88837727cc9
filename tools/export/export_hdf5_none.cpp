// Replaces export_hdf5.cpp in a build without HDF5.
#include <stdexcept>

#include "tools/export/export.hpp"

namespace effort::tools {

bool hdf5_available() { return false; }
void export_hdf5(const Selection&, const Destination&) {
  throw std::runtime_error("HDF5 is not built into this effort");
}

}  // namespace effort::tools
