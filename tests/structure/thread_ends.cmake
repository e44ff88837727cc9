# Checks that a shared library has no thread_local objects with destructors, and none that a thread's first access may
# have to allocate: glibc aborts the process if there is no memory for either.
# cmake -DNM=nm -DLIBRARY=lib.so [-DKOKKOS=1] -P thread_ends.cmake
# KOKKOS: it contains Kokkos, whose thread_local variable only the background thread uses.
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/symbols.cmake")
read_symbols(text -D --undefined-only)
if(text MATCHES " (__cxa_thread_atexit[a-z_]*)[@\n]")
  message(FATAL_ERROR "${LIBRARY} calls ${CMAKE_MATCH_1}: it has a thread_local object with a destructor; use "
    "runtime/thread_end.hpp")
endif()
if(NOT KOKKOS AND text MATCHES " (__tls_get_addr)[@\n]")
  message(FATAL_ERROR "${LIBRARY} calls ${CMAKE_MATCH_1}, which may need memory: declare its thread_local variables "
    "EFFORT_IN_EVERY_THREAD (runtime/thread_end.hpp)")
endif()
