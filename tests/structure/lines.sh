#!/bin/sh
# lines.sh ROOT: checks that no source file has more than 400 lines, and that no line of C, C++, Fortran or Python has
# more than 120 columns.
cd "$1" || exit 2
files=$(find . \( -path ./build -o -path ./.deps -o -path ./.git \) -prune -o -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' -o -name '*.F90' -o -name '*.f90' -o -name '*.ts' \
  -o -name '*.py' \) -print)
[ -n "$files" ] || { echo "no sources in $1"; exit 2; }
# The Fortran module is one file, because users compile it with their own compiler.  The two files of the page are yet
# to be divided.
echo "$files" | xargs awk '
  function allowed(file) {
    return file ~ /capi\/fortran\/effort\.F90$/ || file ~ /viewer\/src\/(heatmap|model)\.ts$/
  }
  FNR == 401 && !allowed(FILENAME) { print FILENAME " has more than 400 lines"; wrong = 1 }
  FILENAME ~ /\.(cpp|hpp|c|h|F90|f90|py)$/ && length($0) > 120 {
    print FILENAME ":" FNR " has more than 120 columns"
    wrong = 1
  }
  END { exit wrong }'
