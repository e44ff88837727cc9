#include "adapters/pmpi/messages/message_arguments.hpp"

#include <cstring>

#include <dlfcn.h>

namespace effort::pmpi {
namespace {

/// Addresses in MPI's Fortran part; null if it lacks them.
struct FortranAddresses {
  const void* in_place = nullptr;               ///< Open MPI
  const void* const* in_place_later = nullptr;  ///< MPICH: known once its Fortran part has started
  const void* in_place_f08 = nullptr;           ///< MPICH
  const void* status_ignore_f08 = nullptr;      ///< MPICH; elsewhere that of the other modules
  const void* statuses_ignore_f08 = nullptr;
};
FortranAddresses there;

template <typename T = const void>
T* symbol(const char* name) {
  return static_cast<T*>(dlsym(RTLD_DEFAULT, name));
}

bool is_predefined(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

/// Whether a buffer is a descriptor of MPI_IN_PLACE.  The modules mpi_f08 of MPICH and of Open MPI 6 pass descriptors,
/// which begin with the address and which callers create on their stack; a buffer elsewhere is data and is not read.
bool describes_in_place(const void* buffer) {
  constexpr std::uintptr_t near = std::uintptr_t{1} << 20;
  const auto here = reinterpret_cast<std::uintptr_t>(&buffer), at = reinterpret_cast<std::uintptr_t>(buffer);
  if (at < here || at - here > near) return false;
  const void* address = nullptr;
  std::memcpy(&address, buffer, sizeof address);
  return address && (address == there.in_place_f08 || address == there.in_place);
}

}  // namespace

void find_fortran_addresses() {
  there.in_place = symbol("mpi_fortran_in_place_");
  there.in_place_later = symbol<const void*>("MPIR_F_MPI_IN_PLACE");
  there.in_place_f08 = symbol("MPIR_F08_MPI_IN_PLACE");
  there.status_ignore_f08 = symbol("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  there.statuses_ignore_f08 = symbol("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

std::array<KnownSize, 64> known_sizes;

std::uint64_t ask_size(MPI_Datatype type) {
  MPI_Count bytes = 0;
  if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  if (is_predefined(type)) known_size(word_of(type)) = {word_of(type), static_cast<std::uint64_t>(bytes)};
  return static_cast<std::uint64_t>(bytes);
}

MPI_Datatype DataArguments::type_at(int place, int element) const {
  return fortran ? PMPI_Type_f2c(pointer<MPI_Fint>(place)[element]) : pointer<MPI_Datatype>(place)[element];
}

bool DataArguments::in_place(int place) const {
  const void* const buffer = pointer<const void>(place);
  if (!fortran) return buffer == MPI_IN_PLACE;
  return buffer && (buffer == there.in_place || buffer == there.in_place_f08 || describes_in_place(buffer) ||
                    (there.in_place_later && buffer == *there.in_place_later));
}

bool DataArguments::status_ignored(int place) const {
  const void* const status = pointer<const void>(place);
  if (!fortran) return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE;
  return !status || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ||
         status == there.status_ignore_f08 || status == there.statuses_ignore_f08;
}

}  // namespace effort::pmpi
