# read_symbols(VARIABLE OPTION...): the symbols that NM, with these options, lists of LIBRARY.
function(read_symbols variable)
  execute_process(COMMAND "${NM}" ${ARGN} "${LIBRARY}" OUTPUT_VARIABLE text RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} could not read ${LIBRARY}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
