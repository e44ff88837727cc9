# Sourced with $top, the checkout: temporary files of compilers, MPI, npm and tests stay in it too.  Not where its path is
# so long that their sockets, which the system allows about 100 characters, might not fit behind it.
if [ ${#top} -le 60 ]; then
  export TMPDIR="$top/build/tmp"
  mkdir -p "$TMPDIR"
fi
