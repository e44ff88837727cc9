// Access to the arguments of an MPI call by position, from C or Fortran.
#pragma once

#include "adapters/pmpi/calls/calls.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <type_traits>

namespace effort::pmpi {

using Word = std::uintptr_t;

template <typename T>
Word word_of(T value) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<Word>(value);
  else
    return static_cast<Word>(value);
}
template <typename T>
T from_word(Word word) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(word);
  else
    return static_cast<T>(word);
}

template <typename... T>
std::array<Word, sizeof...(T)> words(T... arguments) {
  return {word_of(arguments)...};
}

/// A word is the argument itself in C, and its address in Fortran.
struct Arguments {
  const Word* words;
  bool fortran;
  bool large;  ///< counts are of the type MPI_Count

  static Arguments of(Call call, const Word* words, bool fortran) { return {words, fortran, has_large_counts(call)}; }

  int integer(int i) const {
    return fortran ? static_cast<int>(*from_word<const MPI_Fint*>(words[i])) : static_cast<int>(words[i]);
  }
  /// A number of elements.
  std::int64_t count(int i) const {
    if (__builtin_expect(large, 0))
      return fortran ? *from_word<const MPI_Count*>(words[i]) : static_cast<std::int64_t>(words[i]);
    return integer(i);
  }
  /// An element of an array of counts.
  std::int64_t count_at(int i, int element) const {
    if (__builtin_expect(large, 0)) return pointer<MPI_Count>(i)[element];
    return fortran ? static_cast<int>(pointer<MPI_Fint>(i)[element]) : pointer<int>(i)[element];
  }
  template <typename T>
  T* pointer(int i) const {
    return from_word<T*>(words[i]);
  }
  MPI_Win window(int i) const { return fortran ? PMPI_Win_f2c(*pointer<MPI_Fint>(i)) : from_word<MPI_Win>(words[i]); }
  MPI_Comm communicator(int i) const {
    return fortran ? PMPI_Comm_f2c(*pointer<MPI_Fint>(i)) : from_word<MPI_Comm>(words[i]);
  }
};

/// Position of a poll's flag or count, which is zero if the poll found nothing.
constexpr int flag_place(Call call) {
  switch (call) {
    case Call::Test:
    case Call::Request_get_status:
    case Call::Win_test: return 1;
    case Call::Testall:
    case Call::Testsome:
    case Call::Parrived: return 2;
    case Call::Testany:
    case Call::Iprobe:
    case Call::Improbe: return 3;
    default: return -1;
  }
}

/// The places of the arguments of a call that starts or prepares a message.
struct MessagePlaces {
  int count, type, rank, tag, comm, request;
};
constexpr MessagePlaces message_places(Call call) {
  return is_partitioned(call) ? MessagePlaces{2, 3, 4, 5, 6, 8} : MessagePlaces{1, 2, 3, 4, 5, 6};
}
/// The place of the rank that a call receives from; its tag is the next argument.
constexpr int source_place(Call call) {
  switch (plain(call)) {
    case Call::Sendrecv:
    case Call::Isendrecv: return 8;
    case Call::Sendrecv_replace:
    case Call::Isendrecv_replace: return 5;
    default: return 3;
  }
}

/// The places of the arguments of a call of Role::put; -1: it has none.
struct AccessPlaces {
  int target, window, op;
  int sent_count, sent_type, received_count, received_type;  ///< a type without a count stands for one element
};
constexpr AccessPlaces access_places(Call call) {
  switch (plain(call)) {
    case Call::Get:
    case Call::Rget: return {3, 7, -1, -1, -1, 1, 2};
    case Call::Put:
    case Call::Rput: return {3, 7, -1, 1, 2, -1, -1};
    case Call::Accumulate:
    case Call::Raccumulate: return {3, 8, -1, 1, 2, -1, -1};
    case Call::Get_accumulate:
    case Call::Rget_accumulate: return {6, 11, 10, 1, 2, 4, 5};
    case Call::Fetch_and_op: return {3, 6, 5, -1, 2, -1, 2};
    case Call::Compare_and_swap: return {4, 6, -1, -1, 3, -1, 3};
    default: return {-1, -1, -1, -1, -1, -1, -1};
  }
}

/// Whether such a call sends data to its target.
inline bool sends_to_target(const Arguments& a, const AccessPlaces& places) {
  if (places.op < 0) return places.sent_type >= 0;
  return (a.fortran ? PMPI_Op_f2c(*a.pointer<MPI_Fint>(places.op)) : from_word<MPI_Op>(a.words[places.op])) !=
         MPI_NO_OP;
}

}  // namespace effort::pmpi
