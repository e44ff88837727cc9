#include "tools/trace/export/persistent_collectives.hpp"

#include <string>
#include <string_view>

#include "tools/trace/model/call_names.hpp"

namespace effort::tools {

namespace {

enum class Data : std::uint8_t { none, rooted, all };

Data data_of(int operation) {
  const std::string name = name_of_collective(operation);
  if (name == "MPI_Barrier") return Data::none;
  for (const std::string_view rooted :
       {"MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Reduce"})
    if (name == rooted) return Data::rooted;
  return Data::all;
}

}  // namespace

PersistentCollectives::PersistentCollectives(const Trace& trace) {
  for (const TraceRegion& region : trace.regions) {
    const std::string call = mpi_call(region.name);
    if (call.ends_with("_init") && collective_of(call) >= 0) prepared_.insert(collective_of(call));
  }
}

int PersistentCollectives::operation(const TraceEvent& event) const {
  if (prepared_.size() == 1) return *prepared_.begin();
  const Data data = event.peer >= 0                                 ? Data::rooted
                    : event.bytes == 0 && event.received_bytes == 0 ? Data::none
                                                                    : Data::all;
  int found = -1;
  for (const int operation : prepared_) {
    // Without bytes, it may as well be one of the others whose counts are 0.
    if (data_of(operation) != data && !(data == Data::none && data_of(operation) == Data::all)) continue;
    if (found >= 0) return -1;
    found = operation;
  }
  return found;
}

}  // namespace effort::tools
