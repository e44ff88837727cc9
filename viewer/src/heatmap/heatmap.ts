// A heat map of loads by rank and step: first a coarse picture, then the visible part decoded.

import { h } from "../dom";
import { levelFor } from "../grid";
import { Cells } from "../packed";
import { themed } from "../palette";
import { Run, Series } from "../run";
import { Panel, seriesOfPanel, State, titleOfPanel } from "../state";
import { marksOf } from "../timeline";
import { Input } from "./input";
import { boxOf, imageOf, paint } from "./paint";
import { binned, cellAt, coarse, sumOfCoarse, View, viewOf } from "./picture";
import { Readout } from "./readout";
import { boundsOf } from "./viewport";

export class HeatMap {
  readonly element: HTMLElement;
  /** Called whenever there is a better picture. */
  onView: (view: View) => void = () => {};
  private readonly canvas = h("canvas", { class: "map", tabindex: 0, role: "img" });
  private readonly status = h("span", { class: "quiet status" });
  private readonly readout: Readout;
  private readonly input: Input;
  private readonly series: Series[];
  /** Sum of the series' coarse pictures, and, once available, of those at screen resolution. */
  private coarse: Cells;
  private source: "coarse" | "screens to come" | "screen";
  private readonly order?: Int32Array;
  private readonly position?: Int32Array;
  private readonly rebalanced: number[];
  private readonly stops: (() => void)[] = [];
  private view?: View;
  private image?: HTMLCanvasElement;
  private stopPicture = () => {};
  private width = 600;
  private onPaper = false;
  private frame = 0;

  constructor(
    private readonly state: State,
    readonly panel: Panel,
    readonly height: number
  ) {
    const { run } = this;
    this.series = seriesOfPanel(run, panel);
    const picture =
      panel.regions.length === 0 && panel.metric === run.loadMetric && run.computeRegions.length > 0
        ? run.loadPicture
        : undefined;
    this.source = picture
      ? "screen"
      : this.series.length > 0 && this.series.every((s) => s.screen)
        ? "screens to come"
        : "coarse";
    this.coarse = picture ?? sumOfCoarse(this.series);
    this.order = run.order(state.order);
    this.position = run.positions(state.order);
    this.rebalanced = marksOf(run)
      .filter(({ kind }) => kind === "done")
      .map(({ step }) => step);
    this.readout = new Readout(state.engine, run, this.series, this.unit);
    this.input = new Input(
      this.canvas,
      state,
      run.info,
      () => this.box(),
      () => this.schedule()
    );
    this.element = h(
      "div",
      { class: "heatmap" },
      h("div", { class: "maptitle" }, h("b", {}, titleOfPanel(run, panel)), this.status),
      this.canvas,
      this.readout.element
    );
    this.canvas.setAttribute(
      "aria-label",
      `Load by rank and step of ${titleOfPanel(run, panel)}. ` +
        "Arrow keys move the cursor, plus and minus zoom, 0 shows the whole run."
    );
    (this.element as HTMLElement & { redraw?: () => void }).redraw = () => this.print();
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    this.stops.push(
      () => observer.disconnect(),
      state.on("viewport", () => this.request()),
      state.on("cursor", () => this.cursorMoved())
    );
  }

  get run(): Run {
    return this.state.report.runs[this.panel.run];
  }
  private get unit(): string {
    return this.run.unit(this.panel.metric);
  }
  destroy(): void {
    this.stopPicture();
    this.readout.destroy();
    cancelAnimationFrame(this.frame);
    for (const stop of this.stops) stop();
  }

  private bounds() {
    return boundsOf(this.state.viewport, this.run.info);
  }
  private box() {
    return boxOf(this.width, this.height);
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (width < 80 || (width === this.width && this.view)) return;
    this.width = width;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    this.request();
  }

  /** Draws for paper, without waiting for decoded histories. */
  private print(): void {
    this.onPaper = true;
    this.width = 0;
    this.resize();
    this.paint();
  }

  /** Requests the picture of the viewport. */
  request(): void {
    this.stopPicture();
    this.stopPicture = () => {};
    const { ranks, steps } = this.run.info;
    if (this.series.length === 0 || steps === 0 || ranks === 0) {
      this.status.textContent = this.series.length === 0 ? "not measured" : "no steps";
      return this.paint();
    }
    const { r0, r1, c0, c1 } = this.bounds(),
      box = this.box();
    const rows = Math.min(r1 - r0, Math.floor(box.h)),
      cols = Math.min(c1 - c0, Math.floor(box.w));
    if (
      this.source === "screen" &&
      this.state.mode === "mean" &&
      !this.position &&
      r1 - r0 === ranks &&
      c1 - c0 === steps
    ) {
      // The picture has screen resolution already; decoding would take many seconds and show the same.
      const toRows = Math.min(rows, this.coarse.rows),
        toCols = Math.min(cols, this.coarse.cols);
      this.take(binned(this.coarse, toRows, toCols), toRows, toCols);
      return this.finished(toRows, toCols);
    }
    const base = coarse(this.coarse, this.run, { r0, r1, c0, c1, rows, cols }, this.position);
    this.take(base, rows, cols);
    if (this.onPaper) {
      const fine = this.coarse.rows === ranks && this.coarse.cols === steps;
      this.status.textContent = fine
        ? "a cell: one rank in one step"
        : `coarse: ${this.coarse.rows} x ${this.coarse.cols} cells of the run`;
      return;
    }
    this.status.textContent = "refining ...";
    this.element.dataset.done = "no";
    const failed = (error: Error) => {
      this.status.textContent = error.message;
    };
    if (this.source === "screens to come") {
      this.stopPicture = this.state.engine.screen(
        this.run,
        this.series,
        (screen) => {
          this.coarse = screen;
          this.source = "screen";
          this.request();
        },
        failed
      );
      return;
    }
    const level = this.state.mode === "max" || this.position ? 0 : levelFor(r1 - r0, rows, c1 - c0, cols);
    this.stopPicture = this.state.engine.picture(
      this.run,
      this.series,
      { position: this.position, r0, r1, c0, c1, rows, cols, level, mode: this.state.mode },
      (picture) => {
        const values = base.slice();
        picture.values.forEach((v, i) => {
          if (!Number.isNaN(v)) values[i] = v;
        });
        this.take(picture.done ? picture.values : values, rows, cols);
        if (picture.done) this.finished(rows, cols);
      },
      failed
    );
  }

  private finished(rows: number, cols: number): void {
    const { r0, r1, c0, c1 } = this.bounds(),
      perCell = ((r1 - r0) / rows) * ((c1 - c0) / cols);
    this.element.dataset.done = "yes";
    const values = perCell < 10 ? perCell.toFixed(1) : Math.round(perCell).toLocaleString("en");
    this.status.textContent =
      perCell > 1.01
        ? `a cell: ${this.state.mode === "max" ? "the largest rank" : "the mean"} of ${values} values`
        : "a cell: one rank in one step";
  }

  private take(values: Float32Array, rows: number, cols: number): void {
    const { state } = this,
      view = viewOf(values, rows, cols, state.scale);
    this.view = view;
    Object.assign(this.canvas.dataset, { low: view.low, high: view.high, most: view.most });
    this.image = imageOf(view, state.palette, this.box(), devicePixelRatio || 1);
    this.onView(view);
    this.schedule();
  }

  private schedule(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    const ctx = this.canvas.getContext("2d")!,
      ratio = devicePixelRatio || 1,
      box = this.box(),
      { view, image } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = themed("--quiet");
    if (!view || !image) return ctx.fillText(this.status.textContent || "", box.x, box.y + 20);
    const above = paint(ctx, {
      box,
      view,
      image,
      bounds: this.bounds(),
      palette: this.state.palette,
      unit: this.unit,
      order: this.order,
      rebalanced: this.rebalanced,
      cursor: this.cell(),
      drag: this.input.drag,
    });
    this.canvas.dataset.above = String(above);
  }

  /** Position, rank and step under the cursor. */
  private cell(): { position: number; rank: number; step: number } | undefined {
    const { cursor } = this.state,
      { ranks, steps } = this.run.info;
    if (!cursor || steps === 0) return undefined;
    const position = Math.min(ranks - 1, Math.max(0, Math.floor(cursor.row * ranks + 1e-9))),
      step = Math.min(steps - 1, Math.max(0, Math.floor(cursor.step * steps + 1e-9)));
    return { position, rank: this.order ? this.order[position] : position, step };
  }

  private cursorMoved(): void {
    const { cursor, viewport } = this.state;
    this.schedule();
    this.readout.show(this.cell(), cursor && this.view ? cellAt(this.view, viewport, cursor) : undefined);
  }
}
