// The function calls in the page: what `effort calls` found, packed by tools/report/report_calls.cpp.

import { h } from "../dom";
import { middle } from "../format";
import { bytesOf } from "../packed";

/** [function, body, runs, iterations of all runs, least, most] */
type LoopJson = [number, number[], number, number, number, number];

interface ViewJson {
  /** [first, last] rank of each stretch of equal ones; none: all ranks. */
  ranks?: [number, number][];
  calls: number;
  contexts: string;
  /** The same with microseconds instead of calls, if some calls have time stamps. */
  times?: string;
  functions: string;
  edges: string;
  loops?: LoopJson[];
  loop_count: number;
}

interface SourceJson {
  file: string;
  calls: number;
  depth: number;
  notes: string[];
  hot: number[];
  /** [rank, thread, calls, depth, left out, stray returns, open calls] */
  streams: [number, number, number, number, number, number, number[]][];
  stream_count: number;
  functions: number[];
  function_count: number;
  contexts: string;
  context_count: number;
  edges: string;
  edge_count: number;
  views: ViewJson[];
  /** [rank, its view, seconds in all calls, times] of single ranks, if some calls have time stamps. */
  rank_times?: [number, number, number, string][];
}

interface DifferenceJson {
  rank_a: number;
  rank_b: number;
  thread: number;
  first_difference: { event: number; a: number; b: number; stack: number[] };
  loops: { stack: number[]; body: number[]; a: number; b: number }[];
  calls: { stack: number[]; a: number; b: number }[];
  open_a: number[];
  open_b: number[];
}

export interface PairJson {
  /** [source, view] */
  a: [number, number];
  b: [number, number];
  streams: number;
  differ: DifferenceJson[];
}

interface CallsJson {
  texts: string[];
  sources: SourceJson[];
  pairs: PairJson[];
  ranks_left_out: number;
  problem?: string;
}

/** Contexts of a view: a function as it was called through a stack of others.  Parents come before children. */
export interface Contexts {
  parent: Int32Array;
  text: Uint32Array;
  depth: Uint16Array;
  own: Float64Array;
  /** With all calls below. */
  total: Float64Array;
  children: number[][];
}

export interface Edge {
  caller: number;
  callee: number;
  calls: number;
}

export interface Loop {
  caller: number;
  body: number[];
  runs: number;
  iterations: number;
  least: number;
  most: number;
}

export class View {
  private byCalls?: Contexts;
  private byTime?: Contexts;
  constructor(
    readonly source: Source,
    readonly index: number,
    readonly json: ViewJson,
    /** In all calls, of a single rank. */
    readonly seconds?: number
  ) {}

  get ranks(): string {
    const { ranks } = this.json;
    if (!ranks) return "all ranks";
    const parts = ranks.slice(0, 6).map(([a, b]) => (a === b ? `${a}` : `${a} to ${b}`));
    const one = ranks.length === 1 && ranks[0][0] === ranks[0][1];
    return `${one ? "rank" : "ranks"} ${parts.join(", ")}${ranks.length > 6 ? ", ..." : ""}`;
  }
  has(rank: number): boolean {
    return this.json.ranks?.some(([a, b]) => a <= rank && rank <= b) ?? false;
  }
  /** Context 0 stands for everything outside of calls. */
  get contexts(): Contexts {
    return (this.byCalls ??= this.unpack(this.json.contexts));
  }
  /** Microseconds by context, if they are known. */
  get times(): Contexts | undefined {
    return (this.byTime ??= this.json.times === undefined ? undefined : this.unpack(this.json.times));
  }
  private unpack(column: string): Contexts {
    const shape = numbersOf(this.source.json.contexts),
      values = numbersOf(column),
      n = shape.length / 2 + 1;
    const c: Contexts = {
      parent: new Int32Array(n).fill(-1),
      text: new Uint32Array(n),
      depth: new Uint16Array(n),
      own: new Float64Array(n),
      total: new Float64Array(n),
      children: Array.from({ length: n }, () => []),
    };
    for (let i = 1, at = 0; i < n; ++i) {
      const back = shape[2 * i - 2];
      c.parent[i] = back === 0 ? 0 : i - back;
      c.text[i] = shape[2 * i - 1];
      c.depth[i] = c.depth[c.parent[i]] + 1;
      const value = values[at++];
      c.own[i] = Math.floor(value / 2);
      c.total[i] = c.own[i] + (value % 2 === 1 ? values[at++] : 0);
    }
    for (let i = n - 1; i > 0; --i) c.total[c.parent[i]] += c.total[i];
    for (let i = 1; i < n; ++i) if (c.total[i] > 0) c.children[c.parent[i]].push(i);
    return c;
  }
  /** Functions of the same name, such as overloads, are one. */
  get functions(): { text: number; calls: number }[] {
    const calls = numbersOf(this.json.functions),
      sums = new Map<number, number>();
    this.source.json.functions.forEach((text, i) => sums.set(text, (sums.get(text) ?? 0) + calls[i]));
    return [...sums]
      .map(([text, sum]) => ({ text, calls: sum }))
      .filter((f) => f.calls > 0)
      .sort((a, b) => b.calls - a.calls);
  }
  get edges(): Edge[] {
    const ends = numbersOf(this.source.json.edges),
      sums = new Map<string, Edge>();
    numbersOf(this.json.edges).forEach((calls, i) => {
      const edge = { caller: ends[2 * i], callee: ends[2 * i + 1], calls },
        key = `${edge.caller} ${edge.callee}`,
        known = sums.get(key);
      if (known) known.calls += calls;
      else if (calls > 0) sums.set(key, edge);
    });
    return [...sums.values()];
  }
  get loops(): Loop[] {
    return (this.json.loops ?? []).map(([caller, body, runs, iterations, least, most]) => ({
      caller,
      body,
      runs,
      iterations,
      least,
      most,
    }));
  }
}

export class Source {
  /** Of all ranks, and of each group of ranks with equal calls. */
  readonly views: View[];
  /** Of single ranks, with their times. */
  readonly ranks: View[];
  constructor(
    readonly index: number,
    readonly json: SourceJson
  ) {
    this.views = json.views.map((view, i) => new View(this, i, view));
    const ranks = [...(json.rank_times ?? [])].sort((a, b) => a[0] - b[0]);
    this.ranks = ranks.map(
      ([rank, view, seconds, times]) =>
        new View(this, view, { ...json.views[view], ranks: [[rank, rank]], times }, seconds)
    );
  }
}

export class Calls {
  readonly sources: Source[];
  constructor(readonly json: CallsJson) {
    this.sources = json.sources.map((source, i) => new Source(i, source));
  }
  text(i: number): string {
    return this.json.texts[i] ?? "";
  }
  stack(list: number[]): string {
    return list.map((i) => this.text(i)).join(" > ");
  }
  /** A stack on a few lines, with the whole names on demand. */
  line(list: number[]): HTMLElement {
    const names = list.map((i) => middle(this.text(i), 60));
    return h("span", { class: "stackline", title: this.stack(list) }, names.join(" > "));
  }
  /** The comparison of two views, and whether its sides are the other way round. */
  pair(a: View, b: View): { json: PairJson; swapped: boolean } | undefined {
    const is = (of: [number, number], view: View) => of[0] === view.source.index && of[1] === view.index;
    for (const json of this.json.pairs) {
      if (is(json.a, a) && is(json.b, b)) return { json, swapped: false };
      if (is(json.a, b) && is(json.b, a)) return { json, swapped: true };
    }
    return undefined;
  }
}

/** Varints (unsigned LEB128). */
function numbersOf(base64: string): number[] {
  const out: number[] = [];
  let value = 0,
    scale = 1;
  for (const byte of bytesOf(base64)) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte >= 0x80) continue;
    out.push(value);
    value = 0;
    scale = 1;
  }
  return out;
}

let read: Calls | undefined;

/** Undefined until the browser has read them. */
export function callsOfPage(): Calls | undefined {
  const text = read ? undefined : document.getElementById("effort-calls")?.textContent;
  if (text) read = new Calls(JSON.parse(text));
  return read;
}
