#!/bin/sh
# lines.sh ROOT: checks that no file has more than 400 lines, and no line more than 120 columns: of C, C++, Fortran,
# Python, TypeScript, JavaScript, CSS, CMake, shell and Markdown, in which rows of tables and images may be longer.
cd "$1" || exit 2
files=$(find . \( -path ./build -o -path ./.deps -o -path ./.git -o -name node_modules \) -prune -o -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' -o -name '*.F90' -o -name '*.f90' -o -name '*.py' \
  -o -name '*.ts' -o -name '*.mjs' -o -name '*.css' -o -name CMakeLists.txt -o -name '*.cmake' \
  -o -name '*.sh' -o -name '*.inc' -o -name '*.md' \) -print)
[ -n "$files" ] || { echo "no sources in $1"; exit 2; }
echo "$files" | xargs awk '
  FNR == 401 { print FILENAME " has more than 400 lines"; wrong = 1 }
  FILENAME ~ /\.md$/ && /^(\||!\[)/ { next }
  length($0) > 120 { print FILENAME ":" FNR " has more than 120 columns"; wrong = 1 }
  END { exit wrong }'
