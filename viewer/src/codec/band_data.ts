// The decoded part of a band: its magnitudes and signs, and the tree of its zero blocks.

/** Blocks of 2^LEAF_BITS squared coefficients are the leaves of the trees. */
export const LEAF_BITS = 3;
/** The largest BandData.level. */
export const MOST_LEVEL = 15;

/** One level of the tree: for each node, the number of bit planes of the largest coefficient below it.  It has a border
 *  of zeros. */
class TreeLevel {
  readonly stride: number;
  readonly planes: Uint8Array;
  constructor(
    readonly rows: number,
    readonly cols: number
  ) {
    this.stride = cols + 2;
    this.planes = new Uint8Array((rows + 2) * this.stride);
  }
  at(i: number, j: number): number {
    return (i + 1) * this.stride + j + 1;
  }
}

/** Magnitudes in units of the finest plane, and signs; with a border of zeros. */
export class BandData {
  readonly stride: number;
  readonly magnitude: Uint32Array;
  readonly negative: Uint8Array;
  /** The known part of a magnitude in units of the current plane, at most MOST_LEVEL. */
  readonly level: Uint8Array;
  readonly tree: TreeLevel[] = [];
  constructor(
    readonly rows: number,
    readonly cols: number
  ) {
    this.stride = cols + 2;
    const n = (rows + 2) * this.stride;
    this.magnitude = new Uint32Array(n);
    this.negative = new Uint8Array(n);
    this.level = new Uint8Array(n);
    let r = (rows + 7) >> LEAF_BITS,
      c = (cols + 7) >> LEAF_BITS;
    this.tree.push(new TreeLevel(r, c));
    while (r > 1 || c > 1) {
      r = (r + 1) >> 1;
      c = (c + 1) >> 1;
      this.tree.push(new TreeLevel(r, c));
    }
  }
  at(i: number, j: number): number {
    return (i + 1) * this.stride + j + 1;
  }
  clear(): void {
    for (const part of [this.magnitude, this.negative, this.level]) part.fill(0);
    for (const { planes } of this.tree) planes.fill(0);
  }
  get planes(): number {
    const top = this.tree[this.tree.length - 1];
    return top.planes[top.at(0, 0)];
  }
}

/** Cleared bands by size, for reuse: the tiles of a history are alike, and each would leave a megabyte of garbage. */
const spare = new Map<string, BandData[]>();
const MOST_SPARE = 1 << 20;

/** A cleared band. */
export function takeBand(rows: number, cols: number): BandData {
  return spare.get(`${rows}/${cols}`)?.pop() ?? new BandData(rows, cols);
}

/** Returns bands that are no longer used. */
export function giveBack(bands: (BandData | undefined)[]): void {
  for (const band of bands) {
    if (!band || band.rows * band.cols > MOST_SPARE) continue;
    band.clear();
    const key = `${band.rows}/${band.cols}`,
      alike = spare.get(key) ?? [];
    if (alike.length < 4) spare.set(key, [...alike, band]);
  }
  if (spare.size > 256) spare.clear();
}
