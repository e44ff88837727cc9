#!/bin/sh
# programs.sh PROGRAM ADAPTER EFFORT [RANKS [ITERATIONS]]: runs the programs of bench_pmpi_programs with a trace of all
# ranks, and reduces each trace by all methods.  Prints the tables, and the means of the four criteria per method.
program=$1 adapter=$2 effort=$3 ranks=${4:-8} iterations=${5:-100}
dir=$(mktemp -d)
for name in late_sender late_receiver early_gather late_broadcast imbalance_at_barrier Nto1 1toN 1to1r 1to1s NtoN \
  moving_load wavefront; do
  # shellcheck disable=SC2086 # MPIRUN_FLAGS are several words
  mpirun ${MPIRUN_FLAGS:-} -np "$ranks" env LD_PRELOAD="$adapter" EFFORT_TRACE=on EFFORT_PCONTROL=1 \
    EFFORT_TRACE_PIN="0-$((ranks - 1))" EFFORT_TRACE_BUDGET=100000000000 EFFORT_SNAPSHOT_DIR="$dir/$name" \
    "$program" "$name" "$iterations" || exit 1
  echo "== $name"
  "$effort" trace reduce --all "$dir/$name"/*.trace | sed -n '/^  method/,$p'
done | tee "$dir/tables"
# Columns: method, stored, degree, size, 90 % of stamps within, waits; all but the first and last are two words or one.
awk '$4 == "%" && $6 == "%" { ++n[$1]; degree[$1] += $3; size[$1] += $5; retained[$1] += $NF == "retained"
    unit["s"] = 1e6; unit["ms"] = 1e3; unit["us"] = 1; unit["ns"] = 1e-3; distance[$1] += $7 * unit[$8] }
  END { for (m in n) printf "%-14s retains %2d of %d, mean size %5.1f %%, degree %5.1f %%, distance %9.3f us\n", m,
    retained[m], n[m], size[m] / n[m], degree[m] / n[m], distance[m] / n[m] }' "$dir/tables" | sort
rm -rf "$dir"
