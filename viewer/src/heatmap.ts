// Rank by step as a picture: coarse at first, then refined in the visible part.

import { h } from "./dom";
import { amount } from "./format";
import { levelFor } from "./grid";
import { Run, Series } from "./model";
import { colours, themed } from "./palette";
import { binned, coarse, profileOf, sumOfCoarse, ticks, withoutPeaks } from "./picture";
import { marksOf } from "./views/overview";
import { Panel, seriesOfPanel, State, titleOfPanel, Viewport, WHOLE } from "./state";

const LEFT = 64, BOTTOM = 34, RIGHT = 84, PROFILE = 54, GAP = 6;

export interface View {
  rows: number;
  cols: number;
  values: Float32Array;
  /** Ends of the scale, and the largest value, which is above it if peaks are rare. */
  low: number;
  high: number;
  most: number;
}

/** A small triangle with its tip at a point. */
function arrowUp(ctx: CanvasRenderingContext2D, x: number, y: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + 4, y + 7);
  ctx.lineTo(x - 4, y + 7);
  ctx.fill();
}

export class HeatMap {
  readonly element: HTMLElement;
  /** Called whenever there is a better picture. */
  onView: (view: View) => void = () => {};
  private readonly canvas = h("canvas", { class: "map", tabindex: 0, role: "img" });
  private readonly readout = h("output", { class: "readout", "aria-live": "polite" });
  private readonly status = h("span", { class: "quiet status" });
  private readonly series: Series[];
  /** Sum of the series' coarse pictures, and, once available, of those at screen resolution. */
  private coarse: { rows: number; cols: number; cells: Float32Array };
  private source: "coarse" | "screens to come" | "screen";
  private readonly order?: Int32Array;
  private readonly position?: Int32Array;
  private readonly stops: (() => void)[] = [];
  private view?: View;
  private image?: HTMLCanvasElement;
  private stopPicture = () => {};
  private drag?: { x: number; y: number; nowX: number; nowY: number };
  private width = 600;
  private onPaper = false;
  private valueTimer = 0;
  private frame = 0;

  constructor(private readonly state: State, readonly panel: Panel, readonly height: number) {
    const { run } = this;
    this.series = seriesOfPanel(run, panel);
    const picture = panel.regions.length === 0 && panel.metric === run.loadMetric && run.computeRegions.length > 0 ? run.loadPicture : undefined;
    this.source = picture ? "screen" : this.series.length > 0 && this.series.every((s) => s.screen) ? "screens to come" : "coarse";
    this.coarse = picture ?? sumOfCoarse(this.series);
    this.order = run.order(state.order);
    this.position = run.positions(state.order);
    this.element = h("div", { class: "heatmap" }, h("div", { class: "maptitle" }, h("b", {}, titleOfPanel(run, panel)), this.status), this.canvas, this.readout);
    this.canvas.setAttribute("aria-label", `Load by rank and step of ${titleOfPanel(run, panel)}. Arrow keys move the cursor, plus and minus zoom, 0 shows all.`);
    (this.element as HTMLElement & { redraw?: () => void }).redraw = () => this.print();
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    this.stops.push(() => observer.disconnect(), state.on("viewport", () => this.request()), state.on("cursor", () => this.cursorMoved()));
    this.listen();
  }

  get run(): Run {
    return this.state.report.runs[this.panel.run];
  }
  destroy(): void {
    this.stopPicture();
    clearTimeout(this.valueTimer);
    cancelAnimationFrame(this.frame);
    for (const stop of this.stops) stop();
  }

  /** Whole ranks and steps of the viewport. */
  private bounds(): { r0: number; r1: number; c0: number; c1: number } {
    const { viewport: v } = this.state, { ranks, steps } = this.run.info;
    const range = (from: number, to: number, n: number): [number, number] => {
      const low = Math.min(n - 1, Math.max(0, Math.floor(from * n + 1e-6)));
      return [low, Math.max(low + 1, Math.min(n, Math.ceil(to * n - 1e-6)))];
    };
    const [r0, r1] = range(v.r0, v.r1, ranks), [c0, c1] = range(v.c0, v.c1, steps);
    return { r0, r1, c0, c1 };
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (width < 80 || width === this.width && this.view) return;
    this.width = width;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    this.request();
  }

  /** For printing, without waiting for decoded histories. */
  private print(): void {
    this.onPaper = true;
    this.width = 0;
    this.resize();
    this.paint();
  }

  private plot() {
    return { x: LEFT, y: 4, w: Math.max(20, this.width - LEFT - RIGHT - GAP), h: Math.max(20, this.height - BOTTOM - PROFILE - GAP - 4) };
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
    const { r0, r1, c0, c1 } = this.bounds(), box = this.plot();
    const rows = Math.min(r1 - r0, Math.floor(box.h)), cols = Math.min(c1 - c0, Math.floor(box.w));
    if (this.source === "screen" && this.state.mode === "mean" && !this.position && r1 - r0 === ranks && c1 - c0 === steps) {
      // At screen resolution already: decoding histories would take many seconds and show the same.
      const toRows = Math.min(rows, this.coarse.rows), toCols = Math.min(cols, this.coarse.cols);
      this.take(binned(this.coarse, toRows, toCols), toRows, toCols);
      return this.finished(toRows, toCols);
    }
    const base = coarse(this.coarse.cells, this.coarse.rows, this.coarse.cols, this.run, { r0, r1, c0, c1, rows, cols }, this.position);
    this.take(base, rows, cols);
    if (this.onPaper) {
      const fine = this.coarse.rows === ranks && this.coarse.cols === steps;
      this.status.textContent = fine ? "a cell: one rank in one step" : `coarse: ${this.coarse.rows} x ${this.coarse.cols} cells of the run`;
      return;
    }
    this.status.textContent = "refining ...";
    this.element.dataset.done = "no";
    const failed = (error: Error) => {
      this.status.textContent = error.message;
    };
    if (this.source === "screens to come") {
      this.stopPicture = this.state.engine.screen(this.run, this.series, (screen) => {
        this.coarse = screen;
        this.source = "screen";
        this.request();
      }, failed);
      return;
    }
    const level = this.state.mode === "max" || this.position ? 0 : levelFor(r1 - r0, rows, c1 - c0, cols);
    this.stopPicture = this.state.engine.picture(this.run, this.series, { position: this.position, r0, r1, c0, c1, rows, cols, level, mode: this.state.mode }, (picture) => {
      const values = base.slice();
      picture.values.forEach((v, i) => {
        if (!Number.isNaN(v)) values[i] = v;
      });
      this.take(picture.done ? picture.values : values, rows, cols);
      if (picture.done) this.finished(rows, cols);
    }, failed);
  }

  private finished(rows: number, cols: number): void {
    const { r0, r1, c0, c1 } = this.bounds(), perCell = ((r1 - r0) / rows) * ((c1 - c0) / cols);
    this.element.dataset.done = "yes";
    this.status.textContent = perCell > 1.01 ? `a cell: ${this.state.mode === "max" ? "the largest rank" : "the mean"} of ${perCell < 10 ? perCell.toFixed(1) : Math.round(perCell).toLocaleString("en")} values` : "a cell: one rank in one step";
  }

  private take(values: Float32Array, rows: number, cols: number): void {
    let low = Infinity, high = -Infinity;
    for (const v of values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (!(low <= high)) low = high = 0;
    low = Math.max(0, low);
    if (this.state.scale === "zero") low = Math.min(0, low);
    const most = high;
    if (this.state.scale === "fit") high = withoutPeaks(values, cols, low, high);
    this.view = { rows, cols, values, low, high, most };
    Object.assign(this.canvas.dataset, { low, high, most });
    this.makeImage();
    this.onView(this.view);
    this.schedule();
  }

  /** Draws pixel by pixel, because browsers that stretch a small picture misalign the borders of its cells. */
  private makeImage(): void {
    const { rows, cols, values, low, high } = this.view!, table = colours(this.state.palette), scale = high > low ? 255 / (high - low) : 0;
    const ratio = devicePixelRatio || 1, box = this.plot(), width = Math.max(1, Math.round(box.w * ratio)), height = Math.max(1, Math.round(box.h * ratio));
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer), cell = new Uint32Array(cols), bytes = new Uint8Array(cell.buffer);
    for (let y = 0, last = -1; y < height; ++y) {
      const i = Math.floor((y * rows) / height);
      if (i === last) {
        pixels.copyWithin(y * width, (y - 1) * width, y * width);
        continue;
      }
      last = i;
      for (let j = 0; j < cols; ++j) {
        const v = values[i * cols + j], c = 3 * Math.min(255, Math.max(0, Math.round((v - low) * scale)));
        bytes.set([table[c], table[c + 1], table[c + 2], Number.isNaN(v) ? 0 : 255], 4 * j);
      }
      for (let x = 0; x < width; ++x) pixels[y * width + x] = cell[Math.floor((x * cols) / width)];
    }
    this.image = h("canvas", { width, height });
    this.image.getContext("2d")!.putImageData(image, 0, 0);
  }

  private schedule(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    const ctx = this.canvas.getContext("2d")!, ratio = devicePixelRatio || 1, box = this.plot();
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = themed("--quiet");
    if (!this.view || !this.image) {
      ctx.fillText(this.status.textContent || "", box.x, box.y + 20);
      return;
    }
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(this.image, box.x, box.y, box.w, box.h);
    ctx.strokeStyle = themed("--grid");
    ctx.strokeRect(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1);
    this.axes(ctx, box);
    this.scale(ctx, box);
    this.profile(ctx, box);
    this.rebalances(ctx, box);
    this.cursor(ctx, box);
    if (this.drag) {
      ctx.strokeStyle = themed("--text");
      ctx.setLineDash([4, 3]);
      ctx.strokeRect(Math.min(this.drag.x, this.drag.nowX), Math.min(this.drag.y, this.drag.nowY), Math.abs(this.drag.nowX - this.drag.x), Math.abs(this.drag.nowY - this.drag.y));
      ctx.setLineDash([]);
    }
  }

  private axes(ctx: CanvasRenderingContext2D, box: ReturnType<HeatMap["plot"]>): void {
    const { r0, r1, c0, c1 } = this.bounds();
    ctx.fillStyle = themed("--quiet");
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const r of ticks(r0, r1, Math.max(2, box.h / 40))) {
      const y = box.y + ((r + 0.5 - r0) / (r1 - r0)) * box.h;
      ctx.fillText(this.order ? `#${this.order[r]}` : r.toLocaleString("en"), box.x - 6, y);
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    const below = box.y + box.h + GAP + PROFILE + 4;
    for (const c of ticks(c0, c1, Math.max(2, box.w / 80))) ctx.fillText(c.toLocaleString("en"), box.x + ((c + 0.5 - c0) / (c1 - c0)) * box.w, below);
    ctx.fillText("step", box.x + box.w / 2, below + 15);
    ctx.save();
    ctx.translate(10, box.y + box.h / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(this.order ? "rank, reordered" : "rank", 0, -4);
    ctx.restore();
  }

  private scale(ctx: CanvasRenderingContext2D, box: ReturnType<HeatMap["plot"]>): void {
    const { low, high, most } = this.view!, table = colours(this.state.palette), x = box.x + box.w + GAP + 6, unit = this.run.unit(this.panel.metric);
    for (let i = 0; i < box.h; ++i) {
      const c = 3 * Math.round(255 * (1 - i / box.h));
      ctx.fillStyle = `rgb(${table[c]},${table[c + 1]},${table[c + 2]})`;
      ctx.fillRect(x, box.y + i, 10, 1.5);
    }
    ctx.fillStyle = themed("--quiet");
    ctx.textAlign = "left";
    for (const [share, base] of [[0, "bottom"], [0.5, "middle"], [1, "top"]] as const) {
      ctx.textBaseline = base;
      ctx.fillText(`${share === 1 && most > high ? "> " : ""}${amount(low + share * (high - low), unit)}`, x + 14, box.y + (1 - share) * box.h);
    }
    if (most > high) {
      ctx.textBaseline = "top";
      ctx.fillText("up to", x + 14, box.y + 16);
      ctx.fillText(amount(most, unit), x + 14, box.y + 30);
    }
  }

  /** Diamonds under the map at the steps at which the host rebalanced. */
  private rebalances(ctx: CanvasRenderingContext2D, box: ReturnType<HeatMap["plot"]>): void {
    const { c0, c1 } = this.bounds(), y = box.y + box.h + GAP / 2;
    ctx.fillStyle = themed("--mark");
    const done = marksOf(this.run).filter(({ step, kind }) => kind === "done" && step >= c0 && step < c1), dense = done.length * 15 > box.w;
    for (const { step } of done) {
      const x = box.x + ((step - c0) / (c1 - c0)) * box.w;
      ctx.fillRect(x - 0.5, box.y + box.h, 1, dense ? GAP : GAP + PROFILE);
      if (dense) continue;
      ctx.beginPath();
      ctx.moveTo(x, y - 5);
      ctx.lineTo(x + 4, y);
      ctx.lineTo(x, y + 5);
      ctx.lineTo(x - 4, y);
      ctx.fill();
    }
  }

  /** Mean and largest cell of every column, on the map's scale from zero; values above it end in a point. */
  private profile(ctx: CanvasRenderingContext2D, box: ReturnType<HeatMap["plot"]>): void {
    const { cols, high } = this.view!, { mean, max } = profileOf(this.view!), top = box.y + box.h + GAP, most = Math.max(high, 1e-300);
    const x = (j: number) => box.x + (j / cols) * box.w, y = (v: number) => top + PROFILE - (Math.min(v, most) / most) * (PROFILE - 2);
    ctx.fillStyle = themed("--band");
    for (let j = 0; j < cols; ++j) ctx.fillRect(x(j), y(max[j]), box.w / cols + 0.5, top + PROFILE - y(max[j]));
    ctx.fillStyle = themed("--mark");
    const above = Array.from(max.keys()).filter((j) => max[j] > 1.001 * most);
    for (const j of above) arrowUp(ctx, (x(j) + x(j + 1)) / 2, top + 1);
    this.canvas.dataset.above = String(above.length);
    ctx.strokeStyle = themed("--line");
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (let j = 0; j < cols; ++j) {
      ctx.lineTo(x(j), y(mean[j]));
      ctx.lineTo(x(j + 1), y(mean[j]));
    }
    ctx.stroke();
    ctx.lineWidth = 1;
    ctx.fillStyle = themed("--quiet");
    ctx.textAlign = "right";
    ctx.textBaseline = "top";
    ctx.fillText("largest,", box.x - 6, top + 4);
    ctx.fillText("mean", box.x - 6, top + 19);
    const unit = this.run.unit(this.panel.metric), beside = box.x + box.w + GAP + 20;
    ctx.textAlign = "left";
    ctx.fillText(`${above.length > 0 ? "\u25b4 " : ""}${amount(most, unit)}`, beside, top + 6);
    ctx.textBaseline = "bottom";
    ctx.fillText(amount(0, unit), beside, top + PROFILE);
  }

  private cursor(ctx: CanvasRenderingContext2D, box: ReturnType<HeatMap["plot"]>): void {
    const at = this.cell();
    if (!at) return;
    const { r0, r1, c0, c1 } = this.bounds();
    const x = box.x + ((at.step + 0.5 - c0) / (c1 - c0)) * box.w, y = box.y + ((at.position + 0.5 - r0) / (r1 - r0)) * box.h;
    if (x < box.x || x > box.x + box.w || y < box.y || y > box.y + box.h) return;
    for (const [colour, width] of [["#fff", 3], ["#000", 1]] as const) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.beginPath();
      ctx.moveTo(x, box.y);
      ctx.lineTo(x, box.y + box.h);
      ctx.moveTo(box.x, y);
      ctx.lineTo(box.x + box.w, y);
      ctx.globalAlpha = width === 3 ? 0.35 : 0.9;
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
    ctx.lineWidth = 1;
  }

  /** Position, rank and step under the cursor. */
  private cell(): { position: number; rank: number; step: number } | undefined {
    const { cursor } = this.state, { ranks, steps } = this.run.info;
    if (!cursor || steps === 0) return undefined;
    const position = Math.min(ranks - 1, Math.max(0, Math.floor(cursor.row * ranks + 1e-9))), step = Math.min(steps - 1, Math.max(0, Math.floor(cursor.step * steps + 1e-9)));
    return { position, rank: this.order ? this.order[position] : position, step };
  }

  /** The cell of the picture under the cursor. */
  private around(): number | undefined {
    const { cursor, viewport: v } = this.state;
    if (!cursor || !this.view) return undefined;
    const { rows, cols, values } = this.view, place = (share: number, n: number) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    return values[place((cursor.row - v.r0) / (v.r1 - v.r0), rows) * cols + place((cursor.step - v.c0) / (v.c1 - v.c0), cols)];
  }

  private cursorMoved(): void {
    this.schedule();
    clearTimeout(this.valueTimer);
    const at = this.cell(), { run } = this;
    if (!at) {
      this.readout.replaceChildren();
      return;
    }
    const where = `rank ${at.rank.toLocaleString("en")}, step ${at.step.toLocaleString("en")}`;
    const around = this.around();
    this.readout.replaceChildren(h("span", {}, where), around === undefined ? " " : h("span", { class: "quiet" }, `about ${amount(around, run.unit(this.panel.metric))}, decoding …`));
    const stratum = run.lastStrata?.stratum[at.rank];
    this.valueTimer = window.setTimeout(async () => {
      try {
        const { value, error } = await this.state.engine.value(run, this.series, at.rank, at.step);
        const unit = run.unit(this.panel.metric), now = this.cell();
        if (now?.rank !== at.rank || now.step !== at.step) return;
        this.readout.dataset.value = String(value);
        this.readout.dataset.error = String(error);
        this.readout.dataset.rank = String(at.rank);
        this.readout.dataset.step = String(at.step);
        const exact = run.exactValue(this.series, at.rank, at.step);
        this.readout.dataset.exact = exact === undefined ? "" : String(exact);
        this.readout.replaceChildren(h("span", {}, where), ...(exact === undefined
          ? [h("b", {}, amount(value, unit)), h("span", { class: "quiet" }, `decoded, measured within \u00b1${amount(error, unit)}`)]
          : [h("b", {}, amount(exact, unit, 9)), h("span", { class: "quiet" }, `exact; stored as ${amount(value, unit)}, off by ${amount(Math.abs(value - exact), unit)} of at most ${amount(error, unit)}`)]),
          h("span", { class: "quiet" }, `node ${run.nodeOfRank()[at.rank]}${stratum === undefined ? "" : `, stratum ${stratum}`}`));
      } catch (problem) {
        this.readout.textContent = problem instanceof Error ? problem.message : String(problem);
      }
    }, 60);
  }

  private listen(): void {
    const { canvas, state } = this;
    const point = (event: MouseEvent) => {
      const rect = canvas.getBoundingClientRect();
      return { x: event.clientX - rect.left, y: event.clientY - rect.top };
    };
    const share = (x: number, y: number) => {
      const box = this.plot(), { viewport: v } = state;
      return { step: v.c0 + (Math.min(1, Math.max(0, (x - box.x) / box.w))) * (v.c1 - v.c0), row: v.r0 + (Math.min(1, Math.max(0, (y - box.y) / box.h))) * (v.r1 - v.r0) };
    };
    canvas.addEventListener("pointermove", (event) => {
      const p = point(event);
      if (this.drag) {
        this.drag.nowX = p.x;
        this.drag.nowY = p.y;
      }
      const s = share(p.x, p.y);
      state.cursor = { ...s, from: this };
      state.emit("cursor");
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.drag) return;
      state.cursor = undefined;
      state.emit("cursor");
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const p = point(event);
      this.drag = { x: p.x, y: p.y, nowX: p.x, nowY: p.y };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => {
      const d = this.drag;
      this.drag = undefined;
      if (!d || Math.abs(d.nowX - d.x) < 5 || Math.abs(d.nowY - d.y) < 5) return this.schedule();
      const a = share(Math.min(d.x, d.nowX), Math.min(d.y, d.nowY)), b = share(Math.max(d.x, d.nowX), Math.max(d.y, d.nowY));
      this.zoomTo({ r0: a.row, r1: b.row, c0: a.step, c1: b.step });
    });
    canvas.addEventListener("dblclick", () => state.setViewport(WHOLE));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const p = point(event), s = share(p.x, p.y);
      this.zoomAround(s.row, s.step, event.deltaY > 0 ? 1.25 : 0.8);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const { state } = this, { ranks, steps } = this.run.info, v = state.viewport;
    const moves: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key];
    const cursor = state.cursor ?? { row: (v.r0 + v.r1) / 2, step: (v.c0 + v.c1) / 2 };
    if (move && event.shiftKey) {
      const dr = move[0] * (v.r1 - v.r0) * 0.25, dc = move[1] * (v.c1 - v.c0) * 0.25;
      this.zoomTo({ r0: v.r0 + dr, r1: v.r1 + dr, c0: v.c0 + dc, c1: v.c1 + dc });
    } else if (move) {
      const cellRow = Math.max(1, Math.round(((v.r1 - v.r0) * ranks) / 100)) / ranks, cellStep = Math.max(1, Math.round(((v.c1 - v.c0) * steps) / 100)) / steps;
      const inside = (value: number, n: number) => Math.min(1 - 0.5 / n, Math.max(0.5 / n, value));
      state.cursor = { row: inside(cursor.row + move[0] * cellRow, ranks), step: inside(cursor.step + move[1] * cellStep, steps), from: this };
      state.emit("cursor");
    } else if (event.key === "+" || event.key === "=") this.zoomAround(cursor.row, cursor.step, 0.5);
    else if (event.key === "-") this.zoomAround(cursor.row, cursor.step, 2);
    else if (event.key === "0" || event.key === "Escape") state.setViewport(WHOLE);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  zoomAround(row: number, step: number, factor: number): void {
    const { viewport: v } = this.state;
    this.zoomTo({ r0: row - (row - v.r0) * factor, r1: row + (v.r1 - row) * factor, c0: step - (step - v.c0) * factor, c1: step + (v.c1 - step) * factor });
  }

  /** Kept inside the run and no smaller than one rank and a few steps. */
  zoomTo(wanted: Viewport): void {
    const { ranks, steps } = this.run.info;
    const fit = (from: number, to: number, least: number): [number, number] => {
      let size = Math.min(1, Math.max(least, to - from)), low = (from + to) / 2 - size / 2;
      low = Math.min(1 - size, Math.max(0, low));
      return [low, low + size];
    };
    const [r0, r1] = fit(wanted.r0, wanted.r1, Math.min(1, 2 / ranks)), [c0, c1] = fit(wanted.c0, wanted.c1, Math.min(1, 4 / Math.max(1, steps)));
    this.state.setViewport({ r0, r1, c0, c1 });
  }
}
