// The canvas of the timeline: its pointer and key input, and the details under the pointer.

import { pathTree } from "../callpath";
import { h } from "../dom";
import { bytes, percent, seconds } from "../format";
import { after, Kept, laneKey, Trace } from "./data";
import { AXIS, Found, LABEL, Painter } from "./paint";
import { parentOf } from "./picture";
import { HEAD, Lane, LEVEL, Row, Rows } from "./rows";
import { Keys, TimeView } from "./view";

const TALLEST = 620,
  MOST_MESSAGES = 12;
const time = (ns: number) => seconds(ns * 1e-9, 5);

function whyKept(trace: Trace, window: number, kept?: Kept): string {
  if (!kept) return "not kept at this time: its activity is unknown";
  if (trace.messagesOnly(kept))
    return "a partner of kept ranks: of its activity, only its messages with them are known";
  const { first, last } = trace.json.windows[window];
  return (
    `kept in steps ${first}..${last}: ${trace.reasonsOf(kept).join(", ") || "all"}` +
    (kept[1] & 1 ? ` (drawn with probability ${percent(kept[2])})` : "") +
    (kept[6] ? "; rebuilt: some times are those of similar steps" : "")
  );
}

export class Timeline {
  readonly element: HTMLElement;
  readonly rows: Rows;
  private readonly canvas = h("canvas", { class: "timeline", tabindex: 0, role: "img" });
  private readonly status = h("p", { class: "quiet status" });
  private readonly readout = h("div", { class: "readout slice" });
  private readonly view: TimeView;
  private readonly painter: Painter;
  private readonly keys: Keys;
  private readonly stops: (() => void)[] = [];
  private width = 600;
  private height = 300;
  private frame = 0;
  private pointer?: { x: number; y: number };
  private drag?: { x: number; y: number; moved: boolean };
  private selected?: Found;

  constructor(private readonly trace: Trace) {
    this.rows = new Rows(trace);
    this.view = new TimeView(trace.json.duration);
    this.painter = new Painter(trace, this.rows);
    this.canvas.setAttribute(
      "aria-label",
      "Timeline of the ranks that were kept. W and S zoom, A and D move, up and down scroll, 0 shows the whole run."
    );
    this.element = h("div", { class: "tracks" }, this.status, this.canvas, this.readout);
    this.keys = new Keys(
      (key, amount) => this.move(key, amount),
      (key) => this.once(key)
    );
    (this.element as HTMLElement & { redraw?: () => void }).redraw = () => this.resize(true);
    const observer = new ResizeObserver(() => this.resize(false));
    observer.observe(this.element);
    this.stops.push(
      () => observer.disconnect(),
      () => this.keys.destroy(),
      () => cancelAnimationFrame(this.frame)
    );
    this.listen();
    this.describe(undefined);
  }
  destroy(): void {
    for (const stop of this.stops) stop();
  }

  /** Opens all groups, or closes them to their medoids. */
  openAll(open: boolean): void {
    this.rows.openAll(open);
    this.resize(true);
  }
  showAll(): void {
    this.view.showAll();
    this.schedule();
  }
  zoom(factor: number): void {
    this.view.zoom(this.timeAt(this.pointer?.x ?? (LABEL + this.width) / 2), factor);
    this.schedule();
  }

  /** Shows ranks and a stretch of time; the first rank is in view, the stretch marked. */
  reveal({ ranks, t0, t1 }: { ranks: number[]; t0: number; t1: number }): void {
    this.rows.reveal(ranks);
    const margin = 0.15 * (t1 - t0) + 20;
    this.view.show({ t0: t0 - margin, t1: t1 + margin });
    this.resize(true);
    const row = this.rows.list.find(({ kind, key }) => kind === "rank" && key === String(ranks[0]));
    this.view.scroll = 0;
    this.scrollBy(row ? row.y - 2 * HEAD : 0);
    this.painter.marked = { t0, t1 };
    this.schedule();
  }

  private resize(force: boolean): void {
    const width = this.element.clientWidth,
      height = Math.min(TALLEST, AXIS + Math.max(60, this.rows.height + 4));
    if (width < 80 || (!force && width === this.width && height === this.height)) return;
    this.width = width;
    this.height = height;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.height = `${height}px`;
    this.scrollBy(0);
    this.paint();
  }

  private schedule(): void {
    this.canvas.dataset.done = "no";
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    const ctx = this.canvas.getContext("2d")!,
      ratio = devicePixelRatio || 1,
      began = performance.now();
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const out = this.painter.paint(ctx, this.width, this.height, this.view, this.selected);
    if (out.deeper) {
      this.rows.layout();
      this.resize(false);
    }
    Object.assign(this.canvas.dataset, {
      done: out.done && !out.deeper ? "yes" : "no",
      arrows: out.arrows,
      messages: out.messages,
      slices: out.slices,
      t0: this.view.t0,
      t1: this.view.t1,
      ms: (performance.now() - began).toFixed(1),
    });
    this.status.textContent =
      `${time(this.view.shown)} of ${time(this.trace.json.duration)}` +
      (out.messages > out.arrows ? `; ${out.messages.toLocaleString("en")} messages or more, zoom in to see them` : "");
    if (!out.done || out.deeper) this.frame = requestAnimationFrame(() => this.paint());
  }

  private timeAt(x: number): number {
    const share = (Math.max(LABEL, x) - LABEL) / Math.max(1, this.width - LABEL);
    return this.view.t0 + share * this.view.span;
  }
  private scrollBy(pixels: number): void {
    const most = Math.max(0, this.rows.height + 4 - (this.height - AXIS));
    this.view.scroll = Math.min(most, Math.max(0, this.view.scroll + pixels));
  }

  private move(key: string, amount: number): void {
    if (key === "w" || key === "s") this.zoom(key === "w" ? 0.8 ** amount : 1.25 ** amount);
    else if (key === "a" || key === "arrowleft") this.view.pan(-0.12 * amount);
    else if (key === "d" || key === "arrowright") this.view.pan(0.12 * amount);
    else this.scrollBy((key === "arrowup" ? -48 : 48) * amount);
    this.schedule();
  }
  private once(key: string): boolean {
    if (key === "0") this.showAll();
    else if (key === "escape") this.select(undefined);
    else if (key === "+" || key === "=") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "f" && this.selected) {
      const { piece, depth, index } = this.selected,
        level = piece.levels()[depth],
        margin = 0.2 * (level.end[index] - level.begin[index]) + 5;
      this.view.show({ t0: level.begin[index] - margin, t1: level.end[index] + margin });
      this.schedule();
    } else return false;
    return true;
  }

  private listen(): void {
    const { canvas } = this;
    const place = (event: MouseEvent) => {
      const rect = canvas.getBoundingClientRect();
      return { x: event.clientX - rect.left, y: event.clientY - rect.top };
    };
    canvas.addEventListener("pointermove", (event) => {
      const p = place(event);
      if (this.drag) {
        const dx = p.x - this.drag.x,
          dy = p.y - this.drag.y;
        if (this.drag.moved || Math.abs(dx) + Math.abs(dy) > 3) {
          this.view.pan(-dx / Math.max(1, this.width - LABEL));
          this.scrollBy(-dy);
          this.drag = { ...p, moved: true };
          this.schedule();
        }
      } else if (!this.selected) this.describe(this.find(p));
      this.pointer = p;
    });
    canvas.addEventListener("pointerleave", () => (this.pointer = undefined));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.drag = { ...place(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      const dragged = this.drag?.moved;
      this.drag = undefined;
      if (dragged) return;
      const p = place(event),
        row = this.rowAt(p.y);
      if (p.x < LABEL && row?.closable) {
        this.rows.toggle(row);
        this.resize(true);
      } else this.select(this.find(p));
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        if (event.ctrlKey) this.view.zoom(this.timeAt(place(event).x), event.deltaY > 0 ? 1.25 : 0.8);
        else if (event.shiftKey) this.view.pan(event.deltaY / 1000);
        else this.scrollBy(event.deltaY);
        this.schedule();
      },
      { passive: false }
    );
  }

  private rowAt(y: number): Row | undefined {
    return y < AXIS ? undefined : this.rows.at(y - AXIS + this.view.scroll);
  }
  private laneAt(y: number): Lane | undefined {
    const at = y - AXIS + this.view.scroll;
    return this.rowAt(y)?.lanes.find((lane) => at >= lane.y - 2 && at < lane.y + lane.height + 2);
  }

  /** The slice at a place, or the time of the lane. */
  private find(p: { x: number; y: number }): { lane: Lane; time: number; slice?: Found } | undefined {
    const lane = this.laneAt(p.y);
    if (!lane || p.x < LABEL) return undefined;
    const at = this.timeAt(p.x),
      pieces = this.trace.pieces.get(laneKey(lane.rank, lane.thread)) ?? [],
      piece = pieces.find(({ start, end }) => at >= start && at <= end);
    if (!piece) return { lane, time: at };
    const levels = piece.levels(),
      slack = this.view.span / Math.max(1, this.width - LABEL);
    const wanted = Math.floor((p.y - AXIS + this.view.scroll - lane.y) / LEVEL);
    for (let depth = Math.min(levels.length - 1, Math.max(0, wanted)); depth >= 0; --depth) {
      const index = parentOf(levels[depth], at + slack / 2);
      if (index >= 0 && levels[depth].end[index] >= at - slack / 2)
        return { lane, time: at, slice: { lane, piece, depth, index } };
    }
    return { lane, time: at };
  }

  private select(found: ReturnType<Timeline["find"]>): void {
    this.selected = found?.slice;
    this.describe(found);
    this.schedule();
  }

  private describe(found: ReturnType<Timeline["find"]>): void {
    const { readout, trace } = this;
    for (const key of Object.keys(readout.dataset)) delete readout.dataset[key];
    if (!found) {
      readout.replaceChildren(h("span", { class: "quiet" }, "Point at a call, or click it to hold it."));
      return;
    }
    const { lane, slice } = found;
    Object.assign(readout.dataset, { rank: lane.rank, thread: lane.thread });
    const who = `rank ${lane.rank}${lane.thread > 0 ? `, thread ${lane.thread}` : ""}`;
    const windows = trace.json.windows,
      index = windows.findIndex((w) => found.time >= w.start && found.time <= w.end),
      kept = index >= 0 ? trace.keptOf.get(lane.rank)?.get(index) : undefined;
    const why = whyKept(trace, index, kept);
    readout.dataset.why = why;
    if (!slice) {
      readout.replaceChildren(h("b", {}, who), h("span", { class: "quiet" }, ` ${why}`));
      return;
    }
    const level = slice.piece.levels()[slice.depth],
      code = level.region[slice.index],
      [name] = trace.json.regions[code >>> 2] ?? ["?"],
      begin = level.begin[slice.index],
      end = level.end[slice.index];
    Object.assign(readout.dataset, { name, begin, end });
    readout.replaceChildren(
      h(
        "div",
        {},
        h("b", {}, trace.run.short(name)),
        ` ${code & 3 ? "at least " : ""}${time(end - begin)}, from ${time(begin)}, ${who} `,
        h("span", { class: "quiet" }, why)
      ),
      pathTree(trace.run.frames, name),
      this.messagesOf(slice, begin, end)
    );
  }

  /** Messages that the call sent or received. */
  private messagesOf({ lane }: Found, begin: number, end: number): HTMLElement {
    const m = this.trace.messages,
      key = laneKey(lane.rank, lane.thread),
      lines: string[] = [];
    for (let i = after(m.send, begin - m.longest - 1); i < m.send.length && m.send[i] <= end; ++i) {
      const what = `${bytes(m.bytes[i])}, tag ${m.tag[i]}, ${time(m.receive[i] - m.send[i])} under way`;
      if (m.from[i] === key && m.send[i] >= begin) lines.push(`to rank ${Math.floor(m.to[i] / 65536)}: ${what}`);
      else if (m.to[i] === key && m.receive[i] >= begin && m.receive[i] <= end)
        lines.push(`from rank ${Math.floor(m.from[i] / 65536)}: ${what}`);
    }
    const more = lines.length - MOST_MESSAGES;
    return h(
      "ul",
      { class: "messages" },
      lines.slice(0, MOST_MESSAGES).map((line) => h("li", {}, line)),
      more > 0 ? h("li", {}, `and ${more.toLocaleString("en")} more messages`) : null
    );
  }
}
