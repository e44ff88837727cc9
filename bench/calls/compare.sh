#!/bin/sh
# compare.sh BENCH_CALLS FILE...: bytes of zstd -19 and xz -9e on raw streams of calls, each by itself and all together,
# and the figures of bench_calls.
bench=$1
shift
zstd=0
xz=0
for file in "$@"; do
  zstd=$((zstd + $(zstd -19 -q -c "$file" | wc -c)))
  xz=$((xz + $(xz -9e -c "$file" | wc -c)))
done
echo "each by itself: zstd -19 $zstd bytes, xz -9e $xz bytes"
echo "all together: zstd -19 $(cat "$@" | zstd -19 -q -c | wc -c) bytes, xz -9e $(cat "$@" | xz -9e -c | wc -c) bytes"
exec "$bench" "$@"
