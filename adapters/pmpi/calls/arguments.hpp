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

/// In C a word is the argument itself, in Fortran its address.
struct Arguments {
  const Word* words;
  bool fortran;

  int integer(int i) const {
    return fortran ? static_cast<int>(*from_word<const MPI_Fint*>(words[i])) : static_cast<int>(words[i]);
  }
  template <typename T>
  T* pointer(int i) const {
    return from_word<T*>(words[i]);
  }
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
    case Call::Testsome: return 2;
    case Call::Testany:
    case Call::Iprobe:
    case Call::Improbe: return 3;
    default: return -1;
  }
}

}  // namespace effort::pmpi
