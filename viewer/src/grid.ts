// Makes pictures of loads from compressed histories: a rectangle of ranks and steps in a given number of cells.

import { History } from "./codec/history";
import { sumOf, TileContent } from "./codec/tile";

/** The compressed history of one series on one node. */
export interface HistoryInput {
  /** The history's rows: ranks of a node, ascending, or those of all nodes, node by node. */
  ranks: Int32Array;
  firstStep: number;
  bytes: Uint8Array;
}

/** The tiles of a history to decode, as [i, n]: every n-th, from the i-th on. */
export type Share = [number, number];

export interface GridRequest {
  /** Keys of the series to sum. */
  series: string[];
  /** The position of each rank in the requested order; undefined: by id. */
  position?: Int32Array;
  /** Positions [r0, r1) and steps [c0, c1). */
  r0: number;
  r1: number;
  c0: number;
  c1: number;
  /** Requested cells: at most r1 - r0 and c1 - c0. */
  rows: number;
  cols: number;
  /** The 2^level times coarser approximation to build it from. */
  level: number;
  /** A cell shows the mean of its ranks, or the largest of their means over the cell's steps. */
  mode: "mean" | "max";
  /** Decode only these tiles.  Pictures of means can be added up from their shares; those of the largest cannot. */
  share?: Share;
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

/** A cache of the most recently used values, up to a number of bytes. */
class Cache<T> {
  private readonly entries = new Map<string, { value: T; bytes: number }>();
  private held = 0;
  constructor(private readonly most: number) {}
  has(key: string): boolean {
    return this.entries.has(key);
  }
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

/** Tiles of several series that cover the same ranks and steps, so that they can be added before they are decoded. */
interface Stack {
  firstRow: number;
  rows: number;
  /** Step of the run. */
  first: number;
  steps: number;
  tiles: { key: string; part: Part; t: number }[];
}

/** Histories by series, decoded as needed. */
export class GridSource {
  private readonly series = new Map<string, Part[]>();
  private readonly contents: Cache<TileContent>;
  private readonly sums: Cache<Tile>;
  private readonly sumIds = new Map<string, number>();

  /** Caches this many bytes of decoded values. */
  constructor(bytes = 96 << 20) {
    // Arithmetic decoding costs more than the transform, so its results get more room.
    this.contents = new Cache(0.6 * bytes);
    this.sums = new Cache(0.4 * bytes);
  }

  has(key: string): boolean {
    return this.series.has(key);
  }

  /** Histories in any order; each node has at most one.  CodecError if bytes are not a history. */
  add(key: string, histories: HistoryInput[]): void {
    this.series.set(
      key,
      histories
        .filter((h) => h.bytes.length > 0)
        .map(({ ranks, firstStep, bytes }) => ({ ranks, firstStep, history: new History(bytes) }))
    );
  }

  /** Works node after node.  Yields a function that makes the picture so far, or undefined if nothing is new. */
  *compose(request: GridRequest): Generator<(() => GridPart) | undefined> {
    const { r0, r1, rows, cols, mode, level } = request;
    // The largest rank is only known after each rank's sum over the series.
    const own = mode === "max" ? r1 - r0 : rows;
    const sums = new Float32Array(own * cols),
      covered = new Float32Array(own);
    for (const ranks of this.nodesOf(request.series)) {
      const target = this.rowsOf(ranks, request, own);
      if (!target) continue;
      const stacks = this.stacksOf(request.series, ranks[0], request.share).filter(
        (s) => s.first < request.c1 && s.first + s.steps > request.c0 && wanted(target, s.firstRow, s.firstRow + s.rows)
      );
      for (const stack of stacks) {
        if (this.sums.has(this.sumKey(request.series, ranks[0], stack, level, request.share))) continue;
        for (const { key, part, t } of stack.tiles) {
          this.content(key, part, t);
          yield undefined;
        }
      }
      for (const stack of stacks)
        addTile(this.sum(request.series, ranks[0], stack, level, request.share), stack, target, request, sums);
      for (const row of target) if (row >= 0) ++covered[row];
      yield () =>
        mode === "max"
          ? largest(sums, covered, rows, cols, own)
          : { rows, cols, values: sums.slice(), covered: covered.slice() };
    }
  }

  /** The sum of some series at one rank and step, and a bound of its error. */
  value(series: string[], rank: number, step: number, share?: Share): { value: number; error: number } {
    let value = 0,
      error = 0;
    for (const ranks of this.nodesOf(series)) {
      const row = ranks.indexOf(rank);
      if (row < 0) continue;
      for (const stack of this.stacksOf(series, ranks[0], share)) {
        if (
          row < stack.firstRow ||
          row >= stack.firstRow + stack.rows ||
          step < stack.first ||
          step >= stack.first + stack.steps
        )
          continue;
        const tile = this.sum(series, ranks[0], stack, 0, share);
        value += tile.values[(row - stack.firstRow) * tile.cols + step - stack.first];
        for (const { part } of stack.tiles) error += part.history.maxError;
      }
    }
    return { value, error };
  }

  private nodesOf(series: string[]): Int32Array[] {
    const nodes = new Map<number, Int32Array>();
    for (const key of series) for (const { ranks } of this.series.get(key) ?? []) nodes.set(ranks[0], ranks);
    return [...nodes.values()].sort((a, b) => a[0] - b[0]);
  }

  /** The row of the picture for each of a node's ranks, -1 if outside; undefined if all ranks are outside. */
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

  /** The tiles of a node's histories, by what they cover. */
  private stacksOf(series: string[], firstRank: number, share?: Share): Stack[] {
    const stacks = new Map<string, Stack>();
    for (const key of series) {
      for (const part of this.series.get(key) ?? []) {
        if (part.ranks[0] !== firstRank) continue;
        part.history.tiles.forEach(({ firstRow, rows, firstStep, steps }, t) => {
          if (share && t % share[1] !== share[0]) return;
          const first = part.firstStep + firstStep,
            name = `${firstRow}/${rows}/${first}/${steps}`;
          let stack = stacks.get(name);
          if (!stack) stacks.set(name, (stack = { firstRow, rows, first, steps, tiles: [] }));
          stack.tiles.push({ key, part, t });
        });
      }
    }
    return [...stacks.values()];
  }

  private content(key: string, part: Part, t: number): TileContent {
    return this.contents.get(`${key}/${part.ranks[0]}/${t}`, () => {
      const content = part.history.content(t),
        { transform, raw, absent } = content;
      // Single precision is far finer than the stored precision, and sufficient for a picture.
      if (transform) transform.values = new Float32Array(transform.values);
      return {
        value: content,
        bytes: 256 + 8 * (transform?.at.length ?? 0) + (raw?.byteLength ?? 0) + (absent?.byteLength ?? 0),
      };
    });
  }

  private sumKey(
    series: string[],
    firstRank: number,
    { firstRow, first }: Stack,
    level: number,
    share?: Share
  ): string {
    const names = `${series.join()}${share ? `/${share.join("of")}` : ""}`;
    let id = this.sumIds.get(names);
    if (id === undefined) this.sumIds.set(names, (id = this.sumIds.size));
    return `${id}/${firstRank}/${firstRow}/${first}/${level}`;
  }

  private sum(series: string[], firstRank: number, stack: Stack, level: number, share?: Share): Tile {
    return this.sums.get(this.sumKey(series, firstRank, stack, level, share), () => {
      const { rows, cols, values } = sumOf(
        stack.tiles.map(({ key, part, t }) => this.content(key, part, t)),
        stack.rows,
        stack.steps,
        level
      );
      return {
        value: { rows, cols, values: values instanceof Float32Array ? values : new Float32Array(values) },
        bytes: 4 * values.length,
      };
    });
  }
}

function wanted(target: Int32Array, begin: number, end: number): boolean {
  for (let r = begin; r < end; ++r) if (target[r] >= 0) return true;
  return false;
}

/** Adds a tile to the rows of the picture that its ranks belong to. */
function addTile(
  tile: Tile,
  { firstRow, rows, first, steps }: Stack,
  target: Int32Array,
  { c0, c1, cols, level }: GridRequest,
  sums: Float32Array
): void {
  const width = 2 ** level,
    binned = new Float32Array(cols);
  // Ranks of one row of the picture are added first, so that their steps are distributed only once.
  const row = new Float64Array(tile.cols);
  let to = -1;
  const flush = () => {
    if (to < 0) return;
    binColumns(row, first, steps, width, c0, c1, binned);
    for (let k = 0; k < cols; ++k) sums[to * cols + k] += binned[k];
    row.fill(0);
  };
  for (let i = 0; i < tile.rows; ++i) {
    const end = firstRow + Math.min(rows, (i + 1) * width),
      from = i * tile.cols;
    for (let r = firstRow + i * width; r < end; ++r) {
      if (target[r] < 0) continue;
      if (target[r] !== to) flush();
      to = target[r];
      for (let j = 0; j < tile.cols; ++j) row[j] += tile.values[from + j];
    }
  }
  flush();
}

/** Distributes one row of a tile, which begins at step `first`, over the columns of the picture, as a mean per step. */
function binColumns(
  row: Float64Array,
  first: number,
  steps: number,
  width: number,
  c0: number,
  c1: number,
  out: Float32Array
): void {
  out.fill(0);
  const cols = out.length,
    perCol = (c1 - c0) / cols;
  if (perCol === 1 && width === 1) {
    const begin = Math.max(c0, first),
      end = Math.min(c1, first + steps);
    for (let c = begin; c < end; ++c) out[c - c0] = row[c - first];
    return;
  }
  const from = Math.max(0, Math.floor((c0 - first) / width)),
    to = Math.min(row.length, Math.ceil((c1 - first) / width));
  for (let j = from; j < to; ++j) {
    const value = row[j];
    const begin = Math.max(c0, first + j * width),
      end = Math.min(c1, first + Math.min(steps, (j + 1) * width));
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
    for (let k = 0; k < cols; ++k)
      out.values[row * cols + k] = Math.max(out.values[row * cols + k], sums[r * cols + k]);
  }
  return out;
}

/** The level whose cells are no larger than those of a picture. */
export function levelFor(ranks: number, rows: number, steps: number, cols: number): number {
  return Math.max(0, Math.floor(Math.log2(Math.max(1, Math.min(ranks / rows, steps / cols)) + 1e-9)));
}
