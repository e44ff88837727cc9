# Checks that a shared library uses secure_getenv, which ignores the environment in a process with more privileges than
# its user.
# cmake -DNM=nm -DLIBRARY=lib.so -P environment.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/symbols.cmake")
read_symbols(text -D --undefined-only)
if(text MATCHES " getenv[@\n]")
  message(FATAL_ERROR "${LIBRARY} calls getenv: read variables through runtime/environment.hpp")
endif()
