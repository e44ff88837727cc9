// Replaces export_hdf5.cpp in a build without HDF5.
#include <stdexcept>

#include "tools/export/export.hpp"

namespace effort::tools {

bool hdf5_available() { return false; }
void export_hdf5(const Selection&, const std::filesystem::path&) {
  throw std::runtime_error("effort was built without HDF5");
}

}  // namespace effort::tools
