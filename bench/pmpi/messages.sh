#!/bin/sh
# messages.sh PROGRAM ADAPTER [RANKS [PAIRS [SETTING]]]: alternates runs of bench_pmpi_messages without and with a
# trace, or another SETTING that may be on or off (COMM_WAITS, COMM_MATRIX).  Prints the cost of interception per round
# of calls in each, as the median over the runs, and the difference.
program=$1 adapter=$2 ranks=${3:-2} pairs=${4:-11} setting=${5:-TRACE}
dir=$(mktemp -d)
for _ in $(seq "$pairs"); do
  for value in off on; do
    # shellcheck disable=SC2086 # MPIRUN_FLAGS are several words
    mpirun ${MPIRUN_FLAGS:-} -np "$ranks" env LD_PRELOAD="$adapter" EFFORT_STEP=MPI_Barrier "EFFORT_$setting=$value" \
      EFFORT_SNAPSHOT_DIR="$dir" "$program" | sed "s/^/$value /"
  done
done | awk -v setting="$setting" '
  { n = $(NF); p = $(NF - 2); how = $1; $1 = ""; NF -= 3; key = $0; all[key] = 1
    v[key, how, ++c[key, how]] = n; base[key, how, c[key, how]] = p }
  function med(key, how, array,   i, j, t, m) {
    m = c[key, how]
    for (i = 1; i <= m; ++i) s[i] = array[key, how, i]
    for (i = 2; i <= m; ++i) for (j = i; j > 1 && s[j - 1] > s[j]; --j) { t = s[j]; s[j] = s[j - 1]; s[j - 1] = t }
    return s[int((m + 1) / 2)]
  }
  END { for (key in all) printf "%s: PMPI %.0f ns; the wrappers add %.1f ns, with %s %.1f ns: %.1f more\n", key,
          med(key, "off", base), med(key, "off", v), setting, med(key, "on", v),
          med(key, "on", v) - med(key, "off", v) }'
rm -rf "$dir"
