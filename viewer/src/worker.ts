// A worker that decodes histories and answers with pictures; see engine.ts for the other side.

import { GridPart, GridRequest, GridSource, HistoryInput, Share } from "./grid";

export type ToWorker =
  | { kind: "keep"; bytes: number }
  | { kind: "add"; key: string; histories: HistoryInput[] }
  | { kind: "grid"; id: number; request: GridRequest }
  | { kind: "value"; id: number; series: string[]; rank: number; step: number; share?: Share }
  | { kind: "cancel"; id: number };

export type FromWorker =
  | { kind: "grid"; id: number; values: Float32Array; covered: Float32Array; done: boolean }
  | { kind: "value"; id: number; value: number; error: number }
  | { kind: "failed"; id: number; problem: string };

/** How long a worker computes before it reads its messages, and before it sends a partial picture. */
const SLICE_MS = 60,
  SHOW_MS = 240;

export function answerer(post: (message: FromWorker) => void): (message: ToWorker) => void {
  let source = new GridSource();
  const cancelled = new Set<number>();
  const failure = (error: unknown) => (error instanceof Error ? error.message : String(error));

  async function grid(id: number, request: GridRequest): Promise<void> {
    try {
      let draw = (): GridPart => ({
        ...request,
        values: new Float32Array(request.rows * request.cols),
        covered: new Float32Array(request.rows),
      });
      let since = performance.now(),
        shown = since,
        fresh = false;
      const send = (done: boolean) => {
        const { values, covered } = draw();
        post({ kind: "grid", id, values, covered, done });
      };
      for (const better of source.compose(request)) {
        if (better) {
          draw = better;
          fresh = true;
        }
        if (performance.now() - since < SLICE_MS) continue;
        if (fresh && performance.now() - shown >= SHOW_MS) {
          send(false);
          fresh = false;
          shown = performance.now();
        }
        await new Promise((resume) => setTimeout(resume));
        if (cancelled.delete(id)) return;
        since = performance.now();
      }
      send(true);
    } catch (error) {
      post({ kind: "failed", id, problem: failure(error) });
    }
  }

  return (message) => {
    if (message.kind === "keep") {
      source = new GridSource(message.bytes);
    } else if (message.kind === "add") {
      try {
        source.add(message.key, message.histories);
      } catch (error) {
        post({ kind: "failed", id: -1, problem: failure(error) });
      }
    } else if (message.kind === "grid") {
      void grid(message.id, message.request);
    } else if (message.kind === "cancel") {
      cancelled.add(message.id);
    } else {
      try {
        post({
          kind: "value",
          id: message.id,
          ...source.value(message.series, message.rank, message.step, message.share),
        });
      } catch (error) {
        post({ kind: "failed", id: message.id, problem: failure(error) });
      }
    }
  };
}

if (typeof document === "undefined" && typeof self !== "undefined") {
  const answer = answerer((message) => (self as unknown as Worker).postMessage(message));
  self.onmessage = (event: MessageEvent<ToWorker>) => answer(event.data);
}
