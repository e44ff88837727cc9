# The list of what is missing.  Configuring only finds; it installs and downloads nothing.

# effort_missing(WHAT NEEDED_FOR PACKAGE): adds a line to the list.  NEEDED_FOR is an option, or "always"; PACKAGE is
# Debian's name or another remedy.
function(effort_missing what needed_for package)
  set(line "  ${what}: ")
  if(needed_for STREQUAL "always")
    string(APPEND line "always needed")
  else()
    string(APPEND line "needed for ${needed_for}")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY EFFORT_MISSING "${line} (${package})\n")
endfunction()

# Stops with the list, unless it is empty.
function(effort_stop_if_missing)
  get_property(missing GLOBAL PROPERTY EFFORT_MISSING)
  if(missing)
    set_property(GLOBAL PROPERTY EFFORT_MISSING "")
    message(FATAL_ERROR "effort: dependencies not found (in parentheses: the Debian package, or the remedy)\n${missing}"
      "Install these, or add their folders to CMAKE_PREFIX_PATH, or turn the options off. On Debian, scripts/setup "
      "installs all of them. See docs/install.md for other systems.\n")
  endif()
endfunction()
