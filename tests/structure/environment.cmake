# Checks that a shared library uses secure_getenv, which ignores the environment in a process with more privileges than
# its user.
# cmake -DNM=nm -DLIBRARY=lib.so -P environment.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND "${NM}" -D --undefined-only "${LIBRARY}" OUTPUT_VARIABLE text RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} could not read ${LIBRARY}")
endif()
if(text MATCHES " getenv[@\n]")
  message(FATAL_ERROR "${LIBRARY} calls getenv: read variables through runtime/environment.hpp")
endif()
