// The state of the page, shared by all views.

import { Engine } from "./engine";
import { Report } from "./report";
import { Run } from "./run";

/** The contents of a heat map. */
export interface Panel {
  run: number;
  /** The regions to sum; empty: all compute regions. */
  regions: number[];
  metric: number;
}

/** Shares of the whole, so that runs of different sizes stay linked. */
export interface Viewport {
  r0: number;
  r1: number;
  c0: number;
  c1: number;
}

export const WHOLE: Viewport = { r0: 0, r1: 1, c0: 0, c1: 1 };

/** The contents of the page on communication. */
export interface CommunicationView {
  source?: "snapshot" | "trace";
  quantity?: string;
  order: string;
  /** 0: the whole run, else one more than the index of the windows. */
  window: number;
  pair?: [number, number];
  depth?: number;
}

/** Ranks and a stretch of time, in ns since the trace's first. */
export interface Focus {
  ranks: number[];
  t0: number;
  t1: number;
}

type Topic = "run" | "viewport" | "cursor" | "tab";

export class State {
  run: Run;
  /** Regions marked in the browser of `run`. */
  selection = new Set<number>();
  panels: Panel[];
  viewport = WHOLE;
  /** Position in the order and step under the cursor, as shares; undefined: none. */
  cursor?: { row: number; step: number };
  order = "id";
  mode: "mean" | "max" = "mean";
  palette = "viridis";
  /** "fit" cuts rare peaks, "whole" does not, "zero" begins at zero. */
  scale: "fit" | "whole" | "zero" = "fit";
  shape: "map" | "surface" | "both" = "map";
  tab = "overview";
  /** The region whose source is shown, by name. */
  sourceRegion?: string;
  communication: CommunicationView = { order: "id", window: 0 };
  /** The contents of the timeline when it is opened. */
  focus?: Focus;
  private readonly listeners = new Map<Topic, Set<() => void>>();

  constructor(
    readonly report: Report,
    readonly engine: Engine
  ) {
    this.run = report.runs[0];
    this.panels = [this.defaultPanel(this.run)];
  }

  defaultPanel(run: Run): Panel {
    return { run: run.index, regions: [], metric: run.loadMetric };
  }
  on(topic: Topic, listener: () => void): () => void {
    const set = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, set.add(listener));
    return () => set.delete(listener);
  }
  emit(topic: Topic): void {
    for (const listener of [...(this.listeners.get(topic) ?? [])]) listener();
  }
  setRun(run: Run): void {
    this.run = run;
    this.selection.clear();
    this.panels = [this.defaultPanel(run)];
    if (!run.orders().some(({ key }) => key === this.order)) this.order = "id";
    this.viewport = WHOLE;
    this.communication = { order: "id", window: 0 };
    this.emit("run");
  }
  setViewport(viewport: Viewport): void {
    this.viewport = viewport;
    this.emit("viewport");
  }
  /** Shows the load of some regions. */
  showLoad(regions: number[], metric: number): void {
    this.panels = [{ run: this.run.index, regions, metric }];
    this.go("load");
  }
  /** Shows the load of a rank and its neighbours. */
  showRank(rank: number): void {
    const { ranks } = this.run.info,
      half = Math.max(8, ranks / 40) / ranks,
      at = (rank + 0.5) / ranks;
    this.order = "id";
    this.cursor = { row: at, step: 0.5 };
    this.viewport = { r0: Math.max(0, at - half), r1: Math.min(1, at + half), c0: 0, c1: 1 };
    this.showLoad([], this.run.loadMetric);
  }
  /** Shows ranks on the timeline, around a stretch of time. */
  showTime(ranks: number[], t0: number, t1: number): void {
    this.focus = { ranks, t0, t1 };
    this.go("timeline");
  }
  showSource(region: string): void {
    this.sourceRegion = region;
    this.go("source");
  }
  go(tab: string): void {
    this.tab = tab;
    this.emit("tab");
  }
}

/** The series that are summed in the picture of a panel. */
export function seriesOfPanel(run: Run, panel: Panel) {
  const regions =
    panel.regions.length > 0
      ? panel.regions
      : run.computeRegions.length > 0
        ? run.computeRegions
        : run.info.regions.map((_, i) => i);
  return regions.flatMap((r) =>
    run.seriesOf[r][panel.metric] >= 0 ? [run.series[run.seriesOf[r][panel.metric]]] : []
  );
}

export function titleOfPanel(run: Run, panel: Panel): string {
  const names = panel.regions.map((r) => run.short(run.info.regions[r].name));
  const what = names.length === 0 ? "all computing regions" : names.length === 1 ? names[0] : `${names.length} regions`;
  return `${what}, ${run.info.metrics[panel.metric] ?? ""}`;
}
