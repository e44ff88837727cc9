// Pictures of loads: what a rectangle of ranks and steps looks like in so many cells, from the compressed histories.
// Runs in workers, and in Node for the tests.

import { History } from "./codec/history";
import { Values } from "./codec/tile";

/** The compressed history of one series on one node. */
export interface HistoryInput {
  /** Ranks of the node, ascending: the history's rows. */
  ranks: Int32Array;
  firstStep: number;
  bytes: Uint8Array;
}

export interface GridRequest {
  /** Keys of the series whose sum is wanted. */
  series: string[];
  /** Where each rank stands in the order wanted; undefined: by id. */
  position?: Int32Array;
  /** Positions [r0, r1) and steps [c0, c1). */
  r0: number;
  r1: number;
  c0: number;
  c1: number;
  /** Cells wanted: at most r1 - r0 and c1 - c0. */
  rows: number;
  cols: number;
  /** The 2^level times coarser approximation to build it from. */
  level: number;
  /** Of the ranks in a cell: their mean, or the largest of their means over the cell's steps. */
  mode: "mean" | "max";
}

/** Sums per step and the ranks that they cover; partial while `covered` is less than the ranks in a row. */
export interface GridPart {
  rows: number;
  cols: number;
  /** mean: sum over the covered ranks of their mean per step; max: the largest. */
  values: Float32Array;
  /** [rows] ranks covered. */
  covered: Float32Array;
}

/** Keeps what was used last, up to so many bytes. */
class Cache<T> {
  private readonly entries = new Map<string, { value: T; bytes: number }>();
  private held = 0;
  constructor(private readonly most: number) {}
  get(key: string, make: () => { value: T; bytes: number }): T {
    let entry = this.entries.get(key);
    if (entry) this.entries.delete(key);
    else {
      entry = make();
      this.held += entry.bytes;
    }
    this.entries.set(key, entry);
    for (const [oldest, { bytes }] of this.entries) {
      if (this.held <= this.most || oldest === key) break;
      this.entries.delete(oldest);
      this.held -= bytes;
    }
    return entry.value;
  }
}

interface Part {
  ranks: Int32Array;
  firstStep: number;
  history: History;
}

interface Tile {
  rows: number;
  cols: number;
  values: Float32Array;
}

/** Histories by series, decoded as needed. */
export class GridSource {
  private readonly series = new Map<string, Part[]>();
  private readonly tiles = new Cache<Tile>(96 << 20);

  has(key: string): boolean {
    return this.series.has(key);
  }

  /** Histories in any order; each node has at most one.  CodecError where bytes are no history. */
  add(key: string, histories: HistoryInput[]): void {
    this.series.set(key, histories.filter((h) => h.bytes.length > 0).map(({ ranks, firstStep, bytes }) => ({ ranks, firstStep, history: new History(bytes) })));
  }

  /** Node after node; yields after each, and what it yields draws the picture so far. */
  *compose(request: GridRequest): Generator<() => GridPart> {
    const { r0, r1, rows, cols, mode } = request;
    // The largest of ranks needs each rank's own sum over the series first.
    const own = mode === "max" ? r1 - r0 : rows;
    const sums = new Float32Array(own * cols), covered = new Float32Array(own);
    const nodes = this.nodesOf(request.series);
    for (const ranks of nodes) {
      const target = this.rowsOf(ranks, request, own);
      if (!target) continue;
      for (const key of request.series) {
        for (const part of this.series.get(key) ?? []) if (part.ranks[0] === ranks[0]) this.addPart(`${key}`, part, target, request, sums);
      }
      for (const row of target) if (row >= 0) ++covered[row];
      yield () => (mode === "max" ? largest(sums, covered, rows, cols, own) : { rows, cols, values: sums.slice(), covered: covered.slice() });
    }
  }

  /** The sum of some series at one rank and step, and by how much it may be off. */
  value(series: string[], rank: number, step: number): { value: number; error: number } {
    let value = 0, error = 0;
    for (const key of series) {
      for (const part of this.series.get(key) ?? []) {
        const row = indexOf(part.ranks, rank), col = step - part.firstStep;
        if (row < 0 || col < 0 || col >= part.history.steps) continue;
        const t = part.history.tiles.findIndex((tile) => col < tile.firstStep + tile.steps && row < tile.firstRow + tile.rows && row >= tile.firstRow && col >= tile.firstStep);
        const tile = this.tile(key, part, t, 0), place = part.history.tiles[t];
        value += tile.values[(row - place.firstRow) * tile.cols + col - place.firstStep];
        error += part.history.maxError;
      }
    }
    return { value, error };
  }

  private nodesOf(series: string[]): Int32Array[] {
    const nodes = new Map<number, Int32Array>();
    for (const key of series) for (const { ranks } of this.series.get(key) ?? []) nodes.set(ranks[0], ranks);
    return [...nodes.values()].sort((a, b) => a[0] - b[0]);
  }

  /** The row of each of a node's ranks, -1 outside; undefined: all are. */
  private rowsOf(ranks: Int32Array, { position, r0, r1 }: GridRequest, rows: number): Int32Array | undefined {
    let any = false;
    const out = ranks.map((rank) => {
      const at = position ? position[rank] : rank;
      if (at < r0 || at >= r1) return -1;
      any = true;
      return Math.floor(((at - r0) * rows) / (r1 - r0));
    });
    return any ? out : undefined;
  }

  private tile(key: string, part: Part, t: number, level: number): Tile {
    return this.tiles.get(`${key}/${part.ranks[0]}/${t}/${level}`, () => {
      const { rows, cols, values }: Values = part.history.decode(t, level);
      const shown = new Float32Array(values.length);
      // Ranks that are missing for some steps do no work there.
      for (let i = 0; i < shown.length; ++i) shown[i] = values[i] === values[i] ? values[i] : 0;
      return { value: { rows, cols, values: shown }, bytes: 4 * shown.length };
    });
  }

  private addPart(key: string, part: Part, target: Int32Array, request: GridRequest, sums: Float32Array): void {
    const { c0, c1, cols, level } = request, width = 2 ** level, binned = new Float32Array(cols);
    part.history.tiles.forEach(({ firstRow, rows, firstStep, steps }, t) => {
      const first = part.firstStep + firstStep;
      if (first >= c1 || first + steps <= c0) return;
      const tile = this.tile(key, part, t, level);
      for (let i = 0; i < tile.rows; ++i) {
        const begin = firstRow + i * width, end = firstRow + Math.min(rows, (i + 1) * width);
        let wanted = false;
        for (let r = begin; r < end && !wanted; ++r) wanted = target[r] >= 0;
        if (!wanted) continue;
        binColumns(tile, i, first, steps, width, c0, c1, binned);
        for (let r = begin; r < end; ++r) {
          if (target[r] < 0) continue;
          const to = target[r] * cols;
          for (let k = 0; k < cols; ++k) sums[to + k] += binned[k];
        }
      }
    });
  }
}

function indexOf(sorted: Int32Array, value: number): number {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value ? low : -1;
}

/** Shares one row of a tile out over the columns of the picture, as a mean per step. */
function binColumns(tile: Tile, row: number, first: number, steps: number, width: number, c0: number, c1: number, out: Float32Array): void {
  out.fill(0);
  const cols = out.length, perCol = (c1 - c0) / cols;
  if (perCol === 1 && width === 1) {
    const begin = Math.max(c0, first), end = Math.min(c1, first + steps);
    for (let c = begin; c < end; ++c) out[c - c0] = tile.values[row * tile.cols + c - first];
    return;
  }
  const from = Math.max(0, Math.floor((c0 - first) / width)), to = Math.min(tile.cols, Math.ceil((c1 - first) / width));
  for (let j = from; j < to; ++j) {
    const value = tile.values[row * tile.cols + j];
    const begin = Math.max(c0, first + j * width), end = Math.min(c1, first + Math.min(steps, (j + 1) * width));
    let k = Math.min(cols - 1, Math.floor((begin - c0) / perCol));
    for (let at = begin; at < end; ++k) {
      const until = k + 1 < cols ? Math.min(end, c0 + (k + 1) * perCol) : end;
      out[k] += (value * (until - at)) / perCol;
      at = until;
    }
  }
}

function largest(sums: Float32Array, covered: Float32Array, rows: number, cols: number, ranks: number): GridPart {
  const out = { rows, cols, values: new Float32Array(rows * cols), covered: new Float32Array(rows) };
  for (let r = 0; r < ranks; ++r) {
    if (!covered[r]) continue;
    const row = Math.floor((r * rows) / ranks);
    ++out.covered[row];
    for (let k = 0; k < cols; ++k) out.values[row * cols + k] = Math.max(out.values[row * cols + k], sums[r * cols + k]);
  }
  return out;
}

/** The level whose cells are no larger than those of a picture. */
export function levelFor(ranks: number, rows: number, steps: number, cols: number): number {
  return Math.max(0, Math.floor(Math.log2(Math.max(1, Math.min(ranks / rows, steps / cols)) + 1e-9)));
}
