// The communication data of a run: a sparse matrix, a dendrogram, and findings from a trace.

import { bytesOf, floats, integers, varints } from "../packed";
import { Run } from "../run";

export type Quantity = "messages" | "bytes" | "seconds" | "waiting";
export type Totals = Record<Quantity, number>;

/** A byte per value, an index into `distinct`; or 16 bits per value on a logarithmic scale. */
interface ColumnJson {
  distinct?: number[];
  low?: number;
  high?: number;
  values: string;
}

interface SparseJson {
  cells: number;
  rows: string;
  messages: ColumnJson;
  bytes: ColumnJson;
  seconds: ColumnJson;
  waiting?: ColumnJson;
  totals: Totals;
  left_out: Totals & { cells: number };
}

export interface WaitsJson {
  total_seconds: number;
  causes: string[];
  cause_ns: number[];
  /** [rank, ns by cause ...], the ranks that wait longest. */
  waiting: number[][];
  waiting_count: number;
  waited_for: { rank: number; seconds: number; delay_seconds: number; region: string | null }[];
  waited_for_count: number;
  paths: { path: string; cause: string; count: number; ns: number }[];
  paths_count: number;
  critical_path: { rank: number; path: string; seconds: number }[];
  critical_path_count: number;
  critical_path_seconds: number;
  critical_path_imbalance_seconds: number;
  unexplained_seconds: number;
}

export interface PairDetailsJson {
  a: number;
  b: number;
  fit: {
    latency_ns: number | null;
    ns_per_byte: number | null;
    knee_bytes: number | null;
    spread_ns: number | null;
  };
  messages: string;
  messages_count: number;
  left_out: number;
  outliers: number;
  paths: { sender: number; path: string; messages: number; bytes: number; seconds: number }[];
  packs: { sender: number; path: string; messages: number; into: number; bytes: number; gain_seconds: number }[];
  course: { first: number; width: number; share: number[] };
}

export interface SlowJson {
  instance: number;
  z: number;
  cause: string;
  last_rank: number;
  affinity: "High" | "Medium" | "Low";
  phase: number;
  median_ns: number;
  severity: number;
  complexity: number;
  angle: number;
  longest_event_rank: number;
  name: string;
  function: string;
  start: number;
  duration: number;
  bytes: number;
  first_rank: number;
}

export interface PhaseJson {
  first: number;
  end: number;
  /** The level of the tree at which it appears, and the one at which it is cut; null: that is not in the page. */
  from: number;
  to: number | null;
  start: number;
  stop: number;
  contents: string;
  functions: string[];
  slow: number;
  split?: number;
  divergence?: number;
  strength?: number;
}

export interface PatternJson {
  id: number;
  name: string;
  ranks: number;
  events: number;
  instances: number;
  seconds: number;
  slow: number;
}

interface SideJson {
  answer: string[];
  matrix: SparseJson;
  windows?: { block: number; ranges: number[][]; frames: SparseJson[] };
  /** [a, b, messages, bytes, ns, ns in calls], the most time first. */
  pairs: [number, number, number, number, number, number][];
  pair_count: number;
  dendrogram: { method: string; merges: string; distances: string } | null;
}

interface TraceSideJson extends SideJson {
  pairs_answer: string[];
  limits: string[];
  waits: WaitsJson;
  pair_details: PairDetailsJson[];
  patterns_answer: string[];
  patterns: PatternJson[];
  pattern_count: number;
  instances: number;
  slow: SlowJson[];
  slow_count: number;
  phases: { list: PhaseJson[]; levels: number; deepest: number; shown: number; count: number } | null;
}

const PART = "the messages between ranks";

/** A sparse matrix: cells by row, then column. */
export class Sparse {
  readonly row: Int32Array;
  readonly column: Int32Array;
  private readonly unpacked = new Map<Quantity, Float64Array>();

  constructor(private readonly json: SparseJson) {
    this.row = new Int32Array(json.cells);
    this.column = new Int32Array(json.cells);
    const read = varints(bytesOf(json.rows), PART);
    for (let i = 0, row = -1; i < json.cells;) {
      row += read();
      const end = i + read();
      if (end > json.cells) throw new Error(`${PART} are damaged: a row is too long`);
      for (let column = -1; i < end; ++i) {
        column += read();
        this.row[i] = row;
        this.column[i] = column;
      }
    }
  }
  get size(): number {
    return this.json.cells;
  }
  get totals(): Totals {
    return this.json.totals;
  }
  get leftOut(): Totals & { cells: number } {
    return this.json.left_out;
  }
  has(quantity: Quantity): boolean {
    return this.json[quantity] !== undefined;
  }
  values(quantity: Quantity): Float64Array {
    let out = this.unpacked.get(quantity);
    if (!out) {
      out = unpack(this.json[quantity], this.size);
      this.unpacked.set(quantity, out);
    }
    return out;
  }
  /** Index of the cell of two ranks; -1: there is none. */
  find(row: number, column: number): number {
    let low = 0,
      high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1,
        before = this.row[middle] - row || this.column[middle] - column;
      before < 0 ? (low = middle + 1) : (high = middle);
    }
    return low < this.size && this.row[low] === row && this.column[low] === column ? low : -1;
  }
  at(row: number, column: number): Totals {
    const i = this.find(row, column),
      value = (q: Quantity) => (i < 0 || !this.has(q) ? 0 : this.values(q)[i]);
    return {
      messages: value("messages"),
      bytes: value("bytes"),
      seconds: value("seconds"),
      waiting: value("waiting"),
    };
  }
}

function unpack(json: ColumnJson | undefined, size: number): Float64Array {
  const out = new Float64Array(size);
  if (!json) return out;
  const { distinct } = json,
    bytes = bytesOf(json.values);
  if (bytes.length !== size * (distinct ? 1 : 2)) throw new Error(`${PART} are cut short`);
  if (distinct) {
    if (bytes.some((index) => index >= distinct.length)) throw new Error(`${PART} are damaged: a value is missing`);
    return out.map((_, i) => distinct[bytes[i]]);
  }
  const codes = new Uint16Array(bytes.buffer),
    from = Math.log2(json.low ?? 1),
    range = Math.log2(json.high ?? 1) - from;
  for (let i = 0; i < size; ++i) out[i] = codes[i] === 0 ? 0 : 2 ** (from + (range * (codes[i] - 1)) / 65534);
  return out;
}

/** Merges of groups, numbered as SciPy does: ranks first, then merge by merge. */
export interface Tree {
  method: string;
  merges: Int32Array;
  distances: Float32Array;
}

export interface Message {
  start: number;
  /** ns; negative: not known. */
  ns: number;
  bytes: number;
  fromA: boolean;
  outlier: boolean;
}

export function messagesOf(pair: PairDetailsJson): Message[] {
  const read = varints(bytesOf(pair.messages), "the messages of a pair of ranks"),
    out: Message[] = [];
  for (let i = 0, start = 0; i < pair.messages_count; ++i) {
    start += read();
    const ns = read() - 1,
      bytes = read(),
      flags = read();
    out.push({ start, ns, bytes, fromA: (flags & 1) !== 0, outlier: (flags & 2) !== 0 });
  }
  return out;
}

/** The data from a snapshot or a trace. */
export class Side {
  readonly matrix: Sparse;
  private readonly decoded: (Sparse | undefined)[] = [];
  private readonly trees: { tree?: Tree } = {};

  constructor(
    readonly of: "snapshot" | "trace",
    readonly json: SideJson
  ) {
    this.matrix = new Sparse(json.matrix);
  }
  /** The matrix of a window, or of several that were added. */
  frame(index: number): Sparse {
    return (this.decoded[index] ??= new Sparse(this.json.windows!.frames[index]));
  }
  get tree(): Tree | undefined {
    const { dendrogram } = this.json;
    if (!dendrogram) return undefined;
    return (this.trees.tree ??= {
      method: dendrogram.method,
      merges: integers(dendrogram.merges),
      distances: floats(dendrogram.distances),
    });
  }
  /** The data that only a trace has. */
  get found(): TraceSideJson | undefined {
    return this.of === "trace" ? (this.json as TraceSideJson) : undefined;
  }
}

/** Waits, measured on all ranks while the program ran. Seconds. */
export interface CollectivesJson {
  answer: string;
  /** Whether waits for messages count as well, and delays are followed back to their cause. */
  followed_back: boolean;
  /** Of all ranks: waited, and in these calls without waiting. */
  totals: [number, number];
  /** [rank, others waited for it, it waited, in these calls without waiting], the longest awaited first. */
  ranks: [number, number, number, number][];
  ranks_count: number;
  waiters: [number, number][];
  waiters_count: number;
  /** [first step, last step, the rank waited for most or -1, for it, for all]. */
  windows: [number, number, number, number, number][];
  /** Of all values of ranks and windows: they come from the compressed history. */
  nrmse: number;
}

export interface Communication {
  collectives?: CollectivesJson;
  snapshot?: Side;
  trace?: Side;
}

interface SourcesJson {
  snapshot: SideJson | null;
  trace: SideJson | null;
  collectives: CollectivesJson | null;
}

const known = new Map<number, Communication>();

/** The communication of a run; undefined while the browser still reads the page. */
export function communicationOf(run: Run): Communication | undefined {
  if (!known.has(run.index) && document.readyState !== "loading") {
    const text = document.getElementById(`effort-communication-${run.index}`)?.textContent;
    const json = text ? (JSON.parse(text) as SourcesJson) : undefined;
    known.set(run.index, {
      collectives: json?.collectives ?? undefined,
      snapshot: json?.snapshot ? new Side("snapshot", json.snapshot) : undefined,
      trace: json?.trace ? new Side("trace", json.trace) : undefined,
    });
  }
  return known.get(run.index);
}
