// Requests pictures and values of loads from workers, or from this thread if the browser starts no worker.

import { GridRequest } from "./grid";
import { bytesOf } from "./packed";
import { Run, Series } from "./run";
import { FromWorker, answerer, ToWorker } from "./worker";

declare const WORKER_SOURCE: string;

/** Limit of the decoded values that all workers together keep, in bytes. */
const KEEP = 104 << 20;

export interface Picture {
  rows: number;
  cols: number;
  /** Mean or largest per rank and step; NaN where not decoded yet. */
  values: Float32Array;
  done: boolean;
}

type Handler = (message: FromWorker) => void;

/** Several workers, each holding the histories of some nodes. */
export class Engine {
  private readonly posts: ((message: ToWorker) => void)[] = [];
  private readonly handlers = new Map<number, Handler>();
  private readonly sent = new Set<string>();
  private next = 0;
  /** Called with a sentence when histories cannot be read. */
  onProblem: (sentence: string) => void = () => {};

  constructor() {
    const wanted = Math.min(8, Math.max(2, (navigator.hardwareConcurrency || 2) - 1));
    try {
      const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
      for (let i = 0; i < wanted; ++i) {
        const worker = new Worker(url);
        worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
        worker.onerror = (event) => this.onProblem(`The decoder stopped: ${event.message}.`);
        this.posts.push((message) => worker.postMessage(message));
        worker.postMessage({ kind: "keep", bytes: KEEP / wanted } satisfies ToWorker);
      }
    } catch {
      const answer = answerer((message) => setTimeout(() => this.receive(message)));
      this.posts.push((message) => setTimeout(() => answer(message)));
    }
  }

  private receive(message: FromWorker): void {
    if (message.kind === "failed") this.onProblem(`The loads of this run cannot be decoded: ${message.problem}.`);
    this.handlers.get(message.id)?.(message);
  }

  private key(run: Run, series: Series): string {
    return `${run.index}/${series.index}`;
  }

  /** One worker holds all histories of a node and sums them.  Every worker holds the histories that all nodes share,
   *  and decodes its part of their tiles. */
  private workerOf(node: number): number {
    return node % this.posts.length;
  }

  /** Resolves when the page has read all its histories. */
  private static loaded(): Promise<void> {
    if (document.readyState !== "loading") return Promise.resolve();
    return new Promise((resume) => document.addEventListener("DOMContentLoaded", () => resume(), { once: true }));
  }

  /** Sends a series' histories to the workers, unless they have them already. */
  private async ensure(run: Run, series: Series): Promise<void> {
    const key = this.key(run, series);
    if (this.sent.has(key)) return;
    const id = `effort-data-${run.index}-${series.index}`;
    if (
      !document.getElementById("effort-end") &&
      !document.getElementById(`effort-data-${run.index}-${series.index + 1}`)
    )
      await Engine.loaded();
    if (this.sent.has(key)) return;
    this.sent.add(key);
    const all = bytesOf(document.getElementById(id)?.textContent ?? "");
    const needed = series.histories.reduce((sum, [, , bytes]) => sum + bytes, 0);
    if (all.length !== needed)
      throw new Error("The report is cut short: some of its histories are missing. Write it again with effort report.");
    const lists: Extract<ToWorker, { kind: "add" }>["histories"][] = this.posts.map(() => []);
    let at = 0;
    series.histories.forEach(([node, firstStep, bytes]) => {
      const history = { ranks: run.ranksOfNode(node), firstStep, bytes: all.slice(at, at + bytes) };
      if (node < 0) lists.forEach((list) => list.push(history));
      else lists[this.workerOf(node)].push(history);
      at += bytes;
    });
    lists.forEach((histories, i) => this.posts[i]({ kind: "add", key, histories }));
  }

  /** Requests a picture of a sum of series and calls `show` with ever better ones.  Returns a function that cancels. */
  picture(
    run: Run,
    series: Series[],
    request: Omit<GridRequest, "series">,
    show: (picture: Picture) => void,
    failed: (error: Error) => void
  ): () => void {
    const id = this.next++;
    let stopped = false;
    const shared = sharesTiles(series);
    // Of shared histories, a worker decodes some steps of every rank.  That suffices for means; the largest rank needs
    // all series of a rank and step on one worker.
    const asked = shared && request.mode === "max" ? this.posts.slice(0, 1) : this.posts;
    const parts: (Extract<FromWorker, { kind: "grid" }> | undefined)[] = asked.map(() => undefined);
    const stop = () => {
      stopped = true;
      for (const [i] of asked.entries()) this.handlers.delete(id * 64 + i);
      asked.forEach((post, i) => post({ kind: "cancel", id: id * 64 + i }));
    };
    const begin = async () => {
      for (const s of series) {
        await this.ensure(run, s);
        if (stopped) return;
      }
      asked.forEach((post, i) => {
        this.handlers.set(id * 64 + i, (message) => {
          if (message.kind !== "grid" || stopped) return;
          parts[i] = message;
          if (message.done) this.handlers.delete(id * 64 + i);
          if (!shared || parts.every((part) => part?.done)) show(merge(parts, request, shared));
        });
        post({
          kind: "grid",
          id: id * 64 + i,
          request: {
            ...request,
            series: series.map((s) => this.key(run, s)),
            share: shared && asked.length > 1 ? [i, asked.length] : undefined,
          },
        });
      });
    };
    begin().catch(failed);
    return stop;
  }

  /** Requests the sum of some series over the whole run at screen resolution, from the page's pictures of each.
   *  Returns a function that cancels. */
  screen(
    run: Run,
    series: Series[],
    show: (picture: { rows: number; cols: number; cells: Float32Array }) => void,
    failed: (error: Error) => void
  ): () => void {
    const base = this.next++ * 64,
      { rows, cols } = series[0].screen!,
      request = { r0: 0, r1: rows, c0: 0, c1: cols, rows, cols, level: 0, mode: "mean" as const };
    // Every worker adds up some of the series.
    const lists = this.posts.map((_, w) => series.filter((s) => s.index % this.posts.length === w)),
      busy = [...lists.keys()].filter((w) => lists[w].length > 0);
    const parts: Extract<FromWorker, { kind: "grid" }>[] = [];
    let stopped = false;
    const begin = async () => {
      for (const s of series) await this.ensureScreen(run, s);
      if (stopped) return;
      for (const w of busy) {
        this.handlers.set(base + w, (message) => {
          if (message.kind === "failed") failed(new Error(message.problem));
          if (message.kind !== "grid" || !message.done) return;
          this.handlers.delete(base + w);
          parts.push(message);
          if (parts.length === busy.length && !stopped) show({ rows, cols, cells: merge(parts, request, true).values });
        });
        this.posts[w]({
          kind: "grid",
          id: base + w,
          request: { ...request, series: lists[w].map((s) => `${this.key(run, s)}/screen`) },
        });
      }
    };
    begin().catch(failed);
    return () => {
      stopped = true;
      for (const w of busy) {
        this.handlers.delete(base + w);
        this.posts[w]({ kind: "cancel", id: base + w });
      }
    };
  }

  /** Sends a series' picture to the worker that adds it up, unless it has it already. */
  private async ensureScreen(run: Run, series: Series): Promise<void> {
    const key = `${this.key(run, series)}/screen`,
      find = () => document.getElementById(`effort-screen-${run.index}-${series.index}`);
    if (!find()) await Engine.loaded();
    if (this.sent.has(key)) return;
    this.sent.add(key);
    const ranks = Int32Array.from({ length: series.screen!.rows }, (_, i) => i);
    this.posts[series.index % this.posts.length]({
      kind: "add",
      key,
      histories: [{ ranks, firstStep: 0, bytes: bytesOf(find()?.textContent ?? "") }],
    });
  }

  /** The sum of some series at one rank and step, and a bound of its error. */
  async value(run: Run, series: Series[], rank: number, step: number): Promise<{ value: number; error: number }> {
    for (const s of series) await this.ensure(run, s);
    const keys = series.map((s) => this.key(run, s)),
      base = this.next++ * 64;
    const shared = sharesTiles(series),
      workers = shared ? this.posts.map((_, i) => i) : [this.workerOf(run.nodeOfRank()[rank])];
    // One worker decodes the tile of a shared history; the others answer 0.
    const answers = await Promise.all(
      workers.map(
        (worker) =>
          new Promise<{ value: number; error: number }>((resolve, reject) => {
            const id = base + worker;
            this.handlers.set(id, (message) => {
              this.handlers.delete(id);
              if (message.kind === "value") resolve(message);
              else if (message.kind === "failed") reject(new Error(message.problem));
            });
            this.posts[worker]({
              kind: "value",
              id,
              series: keys,
              rank,
              step,
              share: shared ? [worker, this.posts.length] : undefined,
            });
          })
      )
    );
    return answers.reduce((sum, { value, error }) => ({ value: sum.value + value, error: sum.error + error }), {
      value: 0,
      error: 0,
    });
  }
}

/** Whether all nodes' histories are stored as one. */
function sharesTiles(series: Series[]): boolean {
  return series.some((s) => s.histories.some(([node]) => node < 0));
}

function merge(
  parts: (Extract<FromWorker, { kind: "grid" }> | undefined)[],
  { rows, cols, mode }: Omit<GridRequest, "series">,
  shared: boolean
): Picture {
  const values = new Float32Array(rows * cols),
    covered = new Float32Array(rows);
  for (const part of parts) {
    if (!part) continue;
    for (let r = 0; r < rows; ++r) {
      if (!part.covered[r]) continue;
      covered[r] = shared ? Math.max(covered[r], part.covered[r]) : covered[r] + part.covered[r];
      for (let k = r * cols; k < (r + 1) * cols; ++k)
        values[k] = mode === "max" ? Math.max(values[k], part.values[k]) : values[k] + part.values[k];
    }
  }
  for (let r = 0; r < rows; ++r) {
    for (let k = r * cols; k < (r + 1) * cols; ++k) {
      if (!covered[r]) values[k] = NaN;
      else if (mode === "mean") values[k] /= covered[r];
    }
  }
  return { rows, cols, values, done: parts.every((part) => part?.done) };
}
