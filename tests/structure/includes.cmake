# Checks that the include graph has only the allowed directions, which are listed below: capi -> runtime -> record ->
# analytics, and those of every other folder.
# cmake -DROOT=<source tree> -P includes.cmake

cmake_minimum_required(VERSION 3.22)

# The prefixes of paths (from the root) that the files of a folder may include.  The longest matching folder counts.
# Every folder may include itself; everything else must be listed.
set(folders "")
macro(allow folder)
  list(APPEND folders "${folder}")
  set("allowed_${folder}" "${folder}/" ${ARGN})
endmacro()

allow(analytics)
allow(analytics/comm)
allow(analytics/simd)
allow(analytics/wavelet analytics/comm/ analytics/simd/)
allow(analytics/sampling analytics/number_text.hpp)
allow(analytics/balance analytics/number_text.hpp)
allow(analytics/codec analytics/comm/ analytics/simd/ analytics/wavelet/)
allow(analytics/cluster analytics/comm/ analytics/simd/ analytics/sampling/)
allow(analytics/cluster_offline analytics/cluster/ analytics/sampling/)
allow(analytics/window analytics/number_text.hpp analytics/comm/ analytics/wavelet/ analytics/sampling/
  analytics/balance/ analytics/cluster/)
allow(analytics/replay analytics/comm/ analytics/window/)
allow(analytics/trace analytics/codec/)
allow(analytics/calls analytics/codec/)
allow(analytics/communication analytics/comm/)
allow(analytics/reduction analytics/number_text.hpp analytics/communication/ analytics/trace/)
allow(analytics/placement)
allow(record analytics/window/report.hpp analytics/codec/ analytics/comm/)
allow(record/trace analytics/trace/ record/)
allow(record/calls analytics/calls/ analytics/codec/codec.hpp record/)
allow(runtime record/text.hpp)
allow(runtime/config analytics/number_text.hpp analytics/reduction/methods.hpp record/text.hpp runtime/environment.hpp
  record/descriptor.hpp runtime/status)
allow(runtime/recording)
allow(runtime/measure record/descriptor.hpp runtime/recording/ runtime/status runtime/thread_end.hpp)
allow(runtime/node runtime/recording/ analytics/window/report.hpp record/descriptor.hpp runtime/status
  runtime/quiet_write.hpp)
allow(runtime/exchange analytics/comm/ runtime/status)
allow(runtime/collect analytics/comm/ analytics/communication/ runtime/measure/ runtime/node/ runtime/recording/
  runtime/status)
allow(runtime/history analytics/ record/ runtime/config/ runtime/node/ runtime/collect/)
allow(runtime/trace analytics/ record/ runtime/config/ runtime/recording/ runtime/measure/ runtime/node/
  runtime/collect/ runtime/history/ runtime/status)
allow(runtime/engine analytics/ record/ runtime/config/ runtime/measure/ runtime/node/ runtime/collect/
  runtime/history/ runtime/trace/ runtime/status runtime/quiet_write.hpp)
allow(runtime/session analytics/ record/ runtime/)
allow(adapters runtime/engine/placement.hpp runtime/exchange/transport.hpp runtime/measure/ runtime/environment.hpp
  runtime/status)
allow(adapters/kokkos_tools runtime/session/adapter_port.hpp runtime/measure/ runtime/environment.hpp
  runtime/quiet_write.hpp runtime/thread_end.hpp effort/)
allow(adapters/ompt runtime/session/adapter_port.hpp runtime/measure/ runtime/environment.hpp runtime/host_scope.hpp
  runtime/quiet_write.hpp runtime/thread_end.hpp effort/)
allow(capi effort/ runtime/ adapters/mpi/ adapters/hwloc/ analytics/balance/weights.hpp analytics/number_text.hpp
  analytics/window/report.hpp record/text.hpp)
allow(tools analytics/ record/)
allow(tools/place tools/files/trial.hpp analytics/placement/ record/text.hpp)
allow(tools/calls tools/files/ tools/output/ tools/symbols/ analytics/calls/ record/)
allow(tools/communication tools/trace/model/ tools/trace/analysis/ tools/trace/input/ tools/output/
  analytics/communication/ record/)
allow(tools/reduction tools/trace/model/ tools/output/ analytics/reduction/ analytics/communication/ record/)
allow(tools/trace/model analytics/trace/ record/)
allow(tools/trace/otf2 tools/trace/model/)
allow(tools/trace/input tools/trace/model/ tools/trace/otf2/ tools/files/inputs.hpp tools/files/trial.hpp
  tools/output/ record/)
allow(tools/trace/analysis tools/trace/model/ analytics/sampling/)
allow(tools/trace/export tools/trace/model/ tools/trace/otf2/ tools/trace/analysis/
  tools/files/ tools/output/ analytics/number_text.hpp record/text.hpp)
allow(tools/trace/info tools/trace/model/ tools/trace/analysis/ tools/output/ tools/view/ record/text.hpp)
allow(adapters/functions analytics/calls/live.hpp analytics/calls/stamps.hpp record/calls/recording.hpp
  record/descriptor.hpp runtime/environment.hpp runtime/host_scope.hpp runtime/measure/tsc.hpp)
allow(adapters/pmpi adapters/mpi/ runtime/session/adapter_port.hpp runtime/config/ runtime/exchange/transport.hpp
  runtime/measure/ runtime/recording/ runtime/status runtime/host_scope.hpp runtime/environment.hpp
  runtime/quiet_write.hpp runtime/thread_end.hpp record/descriptor.hpp effort/)
allow(adapters/pmpi/calls runtime/session/adapter_port.hpp runtime/measure/ effort/)
allow(adapters/pmpi/messages adapters/pmpi/calls/ analytics/communication/arrival.hpp runtime/config/ runtime/measure/
  runtime/recording/ runtime/host_scope.hpp effort/)

# System headers that a layer must not include: analytics has no files or output.
set(forbidden_analytics "mpi.h|fstream|iostream|cstdio|stdio.h")
set(forbidden_runtime "mpi.h|iostream")
set(forbidden_record "mpi.h|iostream")
set(forbidden_tools "mpi.h")

set(wrong "")
set(seen 0)
foreach(layer analytics record runtime adapters capi tools)
  file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${layer}/*.cpp" "${ROOT}/${layer}/*.hpp" "${ROOT}/${layer}/*.h"
    "${ROOT}/${layer}/*.inc")
  foreach(file IN LISTS files)
    math(EXPR seen "${seen} + 1")
    set(best "${layer}")
    string(LENGTH "${best}" best_length)
    foreach(folder IN LISTS folders)
      string(LENGTH "${folder}" length)
      string(FIND "${file}" "${folder}/" at)
      if(at EQUAL 0 AND length GREATER best_length)
        set(best "${folder}")
        set(best_length ${length})
      endif()
    endforeach()
    file(STRINGS "${ROOT}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"<]*([\"<])([^\">]*)[\">].*" "\\1;\\2" parts "${line}")
      list(GET parts 0 quote)
      list(GET parts 1 path)
      if(quote STREQUAL "<")
        if(forbidden_${layer} AND path MATCHES "^(${forbidden_${layer}})$")
          list(APPEND wrong "${file} includes <${path}>, which is forbidden in ${layer}")
        endif()
        continue()
      endif()
      if(NOT path MATCHES "/")
        continue() # a neighbour in the same folder
      endif()
      set(good FALSE)
      foreach(allowed IN LISTS "allowed_${best}")
        string(FIND "${path}" "${allowed}" at)
        if(at EQUAL 0)
          set(good TRUE)
        endif()
      endforeach()
      if(NOT good)
        string(REPLACE ";" ", " list "${allowed_${best}}")
        list(APPEND wrong "${file} includes ${path}, but ${best} may include only: ${list}")
      endif()
    endforeach()
  endforeach()
endforeach()
if(wrong)
  string(REPLACE ";" "\n  " wrong "${wrong}")
  message(FATAL_ERROR "The include graph has forbidden edges:\n  ${wrong}")
endif()
if(seen EQUAL 0)
  message(FATAL_ERROR "No sources were found below '${ROOT}'")
endif()
message(STATUS "${seen} files keep to the allowed directions")
