# Holds a shared library to secure_getenv: variables count for nothing in a process that has more rights than its user.
# cmake -DNM=nm -DLIBRARY=lib.so -P environment.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND "${NM}" -D --undefined-only "${LIBRARY}" OUTPUT_VARIABLE text RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} could not read ${LIBRARY}")
endif()
if(text MATCHES " getenv[@\n]")
  message(FATAL_ERROR "${LIBRARY} calls getenv: runtime/environment.hpp is the way to variables")
endif()
