// The arguments of calls that describe their messages: sizes, special addresses, statuses.
#pragma once

#include "adapters/pmpi/calls/arguments.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace effort::pmpi {

/// Finds the special addresses of MPI's Fortran part.  Call it before the functions below.
void find_fortran_addresses();

/// Sizes of predefined types by handle, in the order of hashing.
struct KnownSize {
  Word type = 0;
  std::uint64_t bytes = 0;
};
extern __attribute__((visibility("hidden"))) std::array<KnownSize, 64> known_sizes;
inline KnownSize& known_size(Word type) { return known_sizes[((type >> 4) ^ (type >> 10)) % known_sizes.size()]; }
std::uint64_t ask_size(MPI_Datatype type);

/// Bytes of an element of the type.  Remembers those of predefined types.
inline std::uint64_t type_size(MPI_Datatype type) {
  const KnownSize& known = known_size(word_of(type));
  return __builtin_expect(known.type == word_of(type), 1) ? known.bytes : ask_size(type);
}

/// Access to the arguments of a call that exchanges data.
struct DataArguments : Arguments {
  MPI_Datatype type(int place) const {
    return fortran ? PMPI_Type_f2c(*pointer<MPI_Fint>(place)) : from_word<MPI_Datatype>(words[place]);
  }
  std::uint64_t bytes(int count_place, int type_place) const {
    const std::int64_t n = count(count_place);
    return n > 0 ? static_cast<std::uint64_t>(n) * type_size(type(type_place)) : 0;
  }
  /// The size of one rank's part, given by arrays of counts (and of types).
  std::uint64_t part(int counts_place, int element, MPI_Datatype type) const {
    const std::int64_t n = count_at(counts_place, element);
    return n > 0 ? static_cast<std::uint64_t>(n) * type_size(type) : 0;
  }
  std::uint64_t part_of_type(int counts_place, int types_place, int element) const {
    const std::int64_t n = count_at(counts_place, element);
    return n > 0 ? static_cast<std::uint64_t>(n) * type_size(type_at(types_place, element)) : 0;
  }
  /// Whether a buffer is MPI_IN_PLACE.
  bool in_place(int place) const;
  MPI_Request request(int place, int element = 0) const {
    return fortran ? PMPI_Request_f2c(pointer<MPI_Fint>(place)[element]) : pointer<MPI_Request>(place)[element];
  }
  MPI_Message message(int place) const {
    return fortran ? PMPI_Message_f2c(*pointer<MPI_Fint>(place)) : *pointer<MPI_Message>(place);
  }
  /// An argument that the call has set.
  int result(int place, int element = 0) const {
    return fortran ? static_cast<int>(pointer<MPI_Fint>(place)[element]) : pointer<int>(place)[element];
  }
  /// Whether the caller does not want the status or statuses.
  bool status_ignored(int place) const;

 private:
  MPI_Datatype type_at(int place, int element) const;
};

// In Open MPI and in MPICH, a status has the same layout in C and Fortran.
static_assert(std::is_same_v<MPI_Fint, int>);

/// Bytes that a completed receive got.
inline std::uint64_t received_bytes(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return status._ucount;  // the value of PMPI_Get_elements_x, without the call
#else
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
#endif
}

/// The place of a call's status or statuses among its arguments; -1: it has none that matters here.
constexpr int status_place(Call call) {
  switch (plain(call)) {
    case Call::Wait: return 1;
    case Call::Test:
    case Call::Waitall:
    case Call::Request_get_status: return 2;
    case Call::Waitany:
    case Call::Testall: return 3;
    case Call::Waitsome:
    case Call::Testany:
    case Call::Testsome:
    case Call::Mrecv:
    case Call::Mprobe: return 4;
    case Call::Improbe: return 5;
    case Call::Recv: return 6;
    case Call::Sendrecv_replace: return 8;
    case Call::Sendrecv: return 11;
    default: return -1;
  }
}

}  // namespace effort::pmpi
