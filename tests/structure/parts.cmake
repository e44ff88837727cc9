# Checks that the library in the application has nothing that only the command needs.
# cmake -DNM=nm -DLIBRARY=libeffort.so -P parts.cmake
cmake_minimum_required(VERSION 3.22)
include("${CMAKE_CURRENT_LIST_DIR}/symbols.cmake")
read_symbols(text -C --defined-only)
if(NOT text MATCHES "effort::codec::encode_context\\(")
  message(FATAL_ERROR "${LIBRARY} has no symbols of its functions: it was stripped, or encode_context was renamed")
endif()
set(only_command "codec::encode_ezw\\(" "codec::decode_ezw\\(" "codec::read_ezw_header\\(" "codec::inspect\\("
  "cluster::pam\\(" "cluster::quality" "replay::" "record::Reader::" "record::SeriesReader::"
  "record::trace::Reader::" "trace::Decoder::")
set(found "")
foreach(name IN LISTS only_command)
  if(text MATCHES " [tTwW] (effort::${name}[^\n]*)")
    list(APPEND found "${CMAKE_MATCH_1}")
  endif()
endforeach()
if(found)
  string(REPLACE ";" "\n  " found "${found}")
  message(FATAL_ERROR "${LIBRARY} has functions that only the command needs:\n  ${found}")
endif()
