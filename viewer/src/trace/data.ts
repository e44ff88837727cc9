// The trace of a run: which ranks were kept when, and their events, decoded piece by piece.

import { Head } from "../model";
import { bytesOf, varints } from "../packed";
import { Run } from "../run";

/** [rank, reasons, probability, stratum, dropped steps, whether there are events, whether steps have the times of
 * similar ones] */
export type Kept = [number, number, number, number, number, number, number];

export interface TraceWindow {
  first: number;
  last: number;
  /** ns since the trace's first event, as all times here. */
  start: number;
  end: number;
  error: number | null;
  confidence: number | null;
  /** [ranks, ranks in the sample] */
  strata: [number, number][];
  kept: Kept[];
}

export interface CallJson {
  path: string;
  count: number;
  count_error: number | null;
  seconds: number;
  seconds_error: number | null;
  seen: number;
  counted: boolean;
  timed: boolean;
}

/** [window, rank, thread, start, end, slices, place of its bytes (not if it was left out)] */
type PieceJson = [number, number, number, number, number, number, number?];

export interface TraceJson {
  file: string;
  recorder: string;
  otf2: boolean;
  design: string;
  guide: string;
  ranks: number;
  confidence: number;
  error: number | null;
  clock_bound: number | null;
  dropped_steps: number;
  damaged: number;
  matched: number;
  unmatched_sends: number;
  unmatched_receives: number;
  clamped: number;
  trust: string[];
  calls: CallJson[];
  call_paths: number;
  /** [name, kind] */
  regions: [string, number][];
  windows: TraceWindow[];
  /** [rank, node] */
  nodes: [number, number][];
  reasons: string[];
  duration: number;
  pieces: PieceJson[];
  left_out: PieceJson[];
  slices: number;
  slices_left_out: number;
  messages: number;
}

/** The slices of a piece by nesting, each level in the order of time and without overlaps. */
export interface Level {
  begin: Float64Array;
  end: Float64Array;
  /** region * 4 + 2 (began before the piece) + 1 (goes on after it) */
  region: Uint32Array;
}

/** A stretch of a thread with all its events. */
export class Piece {
  readonly window: number;
  readonly rank: number;
  readonly thread: number;
  readonly start: number;
  readonly end: number;
  readonly slices: number;
  private decoded?: Level[];
  /** Pictures of the levels at several resolutions, see picture.ts. */
  pictures?: unknown;

  constructor(
    json: PieceJson,
    private readonly bytes: () => Uint8Array
  ) {
    [this.window, this.rank, this.thread, this.start, this.end, this.slices] = json;
    this.place = json[6] ?? -1;
  }
  private readonly place: number;

  get ready(): boolean {
    return this.decoded !== undefined;
  }
  levels(): Level[] {
    if (this.decoded) return this.decoded;
    const bytes = this.bytes(),
      sizes: number[] = [];
    const begin = new Float64Array(this.slices),
      end = new Float64Array(this.slices),
      region = new Uint32Array(this.slices),
      depth = new Uint16Array(this.slices);
    const read = varints(bytes, "the events of the trace", this.place);
    for (let i = 0, time = this.start; i < this.slices; ++i) {
      time += read();
      begin[i] = time;
      end[i] = time + read();
      region[i] = read();
      depth[i] = read();
      sizes[depth[i]] = (sizes[depth[i]] ?? 0) + 1;
    }
    this.decoded = Array.from(sizes, (n = 0) => ({
      begin: new Float64Array(n),
      end: new Float64Array(n),
      region: new Uint32Array(n),
    }));
    const at = this.decoded.map(() => 0);
    for (let i = 0; i < this.slices; ++i) {
      const level = this.decoded[depth[i]],
        k = at[depth[i]]++;
      level.begin[k] = begin[i];
      level.end[k] = end[i];
      level.region[k] = region[i];
    }
    return this.decoded;
  }
}

/** Messages with both ends in the page, by time of sending. */
export interface Messages {
  send: Float64Array;
  receive: Float64Array;
  /** rank * 65536 + thread */
  from: Float64Array;
  to: Float64Array;
  bytes: Float64Array;
  tag: Int32Array;
  /** The longest time between sending and receiving. */
  longest: number;
}

/** The reason `partner` alone. */
const PARTNER = 1 << 8;

export class Trace {
  /** By lane (see laneKey), in the order of time. */
  readonly pieces = new Map<number, Piece[]>();
  readonly leftOut = new Map<number, Piece[]>();
  readonly nodeOf = new Map<number, number>();
  /** Per rank: window -> the rank's entry in it. */
  readonly keptOf = new Map<number, Map<number, Kept>>();
  private packed?: Uint8Array;
  private unpacked?: Messages;

  constructor(
    readonly run: Run,
    readonly json: TraceJson
  ) {
    const bytes = () => (this.packed ??= this.element("events"));
    for (const [list, to] of [
      [json.pieces, this.pieces],
      [json.left_out, this.leftOut],
    ] as const)
      for (const row of list) {
        const piece = new Piece(row, bytes),
          key = laneKey(piece.rank, piece.thread),
          lane = to.get(key);
        lane ? lane.push(piece) : to.set(key, [piece]);
      }
    for (const lane of this.pieces.values()) lane.sort((a, b) => a.start - b.start);
    for (const [rank, node] of json.nodes) this.nodeOf.set(rank, node);
    json.windows.forEach((w, i) =>
      w.kept.forEach((kept) => {
        const of = this.keptOf.get(kept[0]) ?? new Map<number, Kept>();
        this.keptOf.set(kept[0], of.set(i, kept));
      })
    );
  }

  private element(part: string): Uint8Array {
    return bytesOf(document.getElementById(`effort-trace-${part}-${this.run.index}`)?.textContent ?? "");
  }

  get messages(): Messages {
    if (this.unpacked) return this.unpacked;
    const n = this.json.messages,
      numbers = () => new Float64Array(n);
    const m = {
      send: numbers(),
      receive: numbers(),
      from: numbers(),
      to: numbers(),
      bytes: numbers(),
      tag: new Int32Array(n),
      longest: 0,
    };
    const read = varints(this.element("messages"), "the messages of the trace");
    for (let i = 0, time = 0; i < n; ++i) {
      time += read();
      m.send[i] = time;
      m.receive[i] = time + read();
      m.from[i] = read() * 65536 + read();
      m.to[i] = read() * 65536 + read();
      m.bytes[i] = read();
      const tag = read();
      m.tag[i] = tag % 2 === 1 ? -(tag - 1) / 2 - 1 : tag / 2;
      m.longest = Math.max(m.longest, m.receive[i] - time);
    }
    return (this.unpacked = m);
  }

  reasonsOf(kept: Kept): string[] {
    return this.json.reasons.filter((_, i) => (kept[1] >> i) & 1);
  }
  /** Whether nothing but the messages with kept ranks is known. */
  messagesOnly(kept: Kept): boolean {
    return kept[1] === PARTNER;
  }
  /** The stratum of a rank: that of the snapshot's last window, or else the one in which it was kept last. */
  stratumOf(rank: number): number {
    const { lastStrata } = this.run;
    if (lastStrata) return lastStrata.stratum[rank] ?? -1;
    return [...(this.keptOf.get(rank)?.values() ?? [])].reduce((_, kept) => kept[3], -1);
  }
}

export const laneKey = (rank: number, thread: number) => rank * 65536 + thread;

const known = new Map<number, Trace>();

/** The trace of a run, if the page holds one; undefined too while the browser still reads the page. */
export function traceOf(run: Run): Trace | undefined {
  if (!known.has(run.index) && document.readyState !== "loading") {
    const text = document.getElementById(`effort-trace-${run.index}`)?.textContent;
    if (text) known.set(run.index, new Trace(run, JSON.parse(text) as TraceJson));
  }
  return known.get(run.index);
}

/** The text of a view that has no trace to show. */
export function noTrace(run: Run, head: Head): string {
  return head.traces[run.index] && document.readyState === "loading"
    ? "Reading the trace ..."
    : "This report was made without a trace of this run: pass the trace to effort report with the snapshot.";
}

/** Index of the first element that is greater than `value`. */
export function after(values: Float64Array, value: number): number {
  let low = 0,
    high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    values[middle] > value ? (high = middle) : (low = middle + 1);
  }
  return low;
}
