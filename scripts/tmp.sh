# Sourced with $top, the checkout.  Keeps temporary files of compilers, MPI, npm and tests in it.  If its path is long,
# the system's temporary directory is used, because paths of sockets are limited to about 100 characters.
if [ ${#top} -le 60 ]; then
  export TMPDIR="$top/build/tmp"
  mkdir -p "$TMPDIR"
fi
