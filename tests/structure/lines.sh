#!/bin/sh
# lines.sh ROOT: no line of C, C++, TypeScript, JavaScript or CSS is longer than 120 columns, and no source file than 400
# lines.
cd "$1" || exit 2
files=$(find . \( -path ./build -o -path ./.deps -o -path ./.git \) -prune -o -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' -o -name '*.F90' -o -name '*.f90' -o -name '*.ts' \
  -o -name '*.mjs' -o -name '*.css' -o -name '*.py' \) -print)
[ -n "$files" ] || { echo "no sources in $1"; exit 2; }
# One Fortran module is one file, which users compile with their own compiler.
echo "$files" | xargs awk '
  function allowed(file) {
    return file ~ /capi\/fortran\/effort\.F90$/
  }
  FNR == 401 && !allowed(FILENAME) { print FILENAME " has more than 400 lines"; wrong = 1 }
  FILENAME ~ /\.(cpp|hpp|c|h|ts|mjs|css)$/ && length($0) > 120 {
    print FILENAME ":" FNR " has more than 120 columns"
    wrong = 1
  }
  END { exit wrong }'
