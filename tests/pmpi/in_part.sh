#!/bin/sh
# in_part.sh PROGRAM ARGUMENTS...: whatever is preloaded, rank 1 goes without.
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" != 1 ] || unset LD_PRELOAD
exec "$@"
