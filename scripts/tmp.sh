# Sourced with $top, the checkout: keeps temporary files of compilers, MPI, npm and tests in it.  If its path is long,
# the system's place is used, because the paths of their sockets are limited to about 100 characters.
if [ ${#top} -le 60 ]; then
  export TMPDIR="$top/build/tmp"
  mkdir -p "$TMPDIR"
fi
