// A piece seen from far away: per level of nesting and bin of time, the region with the largest share.

import { Level, Piece } from "./data";

const LEAST_BINS = 64,
  FACTOR = 4;

/** One resolution: region + 1 for each bin, 0 where nothing is. */
interface Picture {
  bins: number;
  levels: Uint32Array[];
}

function binsOf(level: Level, start: number, end: number, bins: number): Uint32Array {
  const out = new Uint32Array(bins),
    covered = new Float64Array(bins),
    width = Math.max(1, end - start) / bins;
  for (let i = 0; i < level.begin.length; ++i) {
    const from = (level.begin[i] - start) / width,
      to = (level.end[i] - start) / width;
    for (let b = Math.max(0, Math.floor(from)); b < bins && b <= to; ++b) {
      const share = Math.min(to, b + 1) - Math.max(from, b);
      if (share < covered[b] || (out[b] > 0 && share === covered[b])) continue;
      covered[b] = share;
      out[b] = (level.region[i] >>> 2) + 1;
    }
  }
  return out;
}

/** The picture whose bins are at most `wide` ns long, or undefined if the slices themselves are few enough. */
export function pictureOf(piece: Piece, wide: number): Picture | undefined {
  const wanted = (piece.end - piece.start) / wide;
  let bins = LEAST_BINS;
  while (bins < wanted) bins *= FACTOR;
  if (bins * 2 > piece.slices) return undefined;
  const known = (piece.pictures ??= new Map<number, Picture>()) as Map<number, Picture>;
  let picture = known.get(bins);
  if (!picture) {
    picture = { bins, levels: piece.levels().map((level) => binsOf(level, piece.start, piece.end, bins)) };
    known.set(bins, picture);
  }
  return picture;
}

/** Shares of the kinds of regions in a piece, by the innermost region at each time. */
export function kindShares(piece: Piece, kindOf: (region: number) => number): number[] {
  const out = [0, 0, 0, 0];
  const levels = piece.levels(),
    total = Math.max(1, piece.end - piece.start);
  levels.forEach((level, depth) => {
    for (let i = 0; i < level.begin.length; ++i) {
      const time = level.end[i] - level.begin[i];
      out[kindOf(level.region[i] >>> 2)] += time;
      if (depth > 0) {
        const parent = parentOf(levels[depth - 1], level.begin[i]);
        if (parent >= 0) out[kindOf(levels[depth - 1].region[parent] >>> 2)] -= time;
      }
    }
  });
  return out.map((time) => Math.max(0, time) / total);
}

/** Index of the last slice that begins at `time` or before; -1: none. */
export function parentOf({ begin }: Level, time: number): number {
  let low = 0,
    high = begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    begin[middle] > time ? (high = middle) : (low = middle + 1);
  }
  return low - 1;
}
