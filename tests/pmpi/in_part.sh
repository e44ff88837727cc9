#!/bin/sh
# in_part.sh PROGRAM ARGUMENTS...: runs PROGRAM, on rank 1 without preloaded libraries.
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" != 1 ] || unset LD_PRELOAD
exec "$@"
