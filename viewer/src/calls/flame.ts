// Calls by stack as a flame graph that grows downwards: a box for each context, as wide as its calls, or its time, with
// all below.

import { Sheet } from "../communication/sheet";
import { h } from "../dom";
import { amount, count, middle, percent } from "../format";
import { category, themed } from "../palette";
import { Calls, Contexts, View } from "./data";

const ROW = 20,
  /** Rows that are drawn; deeper ones appear when a box above them is opened. */
  MOST_ROWS = 60,
  LEAST_WIDTH = 0.6;

interface Box {
  context: number;
  x: number;
  wide: number;
  row: number;
}

/** The same colour for a function in every view. */
function colourOf(name: string): string {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return category((Math.imul(hash, 0x9e3779b1) >>> 16) % 7);
}

export class Flame {
  readonly sheet: Sheet;
  private root = 0;
  private pointed = 0;
  private wanted = "";
  private boxes: Box[] = [];

  constructor(
    private readonly calls: Calls,
    private view: View,
    /** Of the view: its calls or its times. */
    private contexts: Contexts,
    private readonly search: () => void
  ) {
    this.sheet = new Sheet(
      "Flame graph of function calls. Arrows move to callers, callees and neighbours, Enter shows a box alone, " +
        "0 shows all, / searches.",
      () => (Math.min(MOST_ROWS, this.rows()) + 1) * ROW + 2,
      (ctx, width) => this.draw(ctx, width),
      "flame"
    );
    this.listen();
    this.describe();
  }

  show(view: View, contexts: Contexts): void {
    this.view = view;
    this.contexts = contexts;
    this.open(0);
  }

  /** Marks the functions whose names contain a text; returns the width of the outermost of them, as a share. */
  mark(text: string): number {
    this.wanted = text.toLowerCase();
    this.sheet.request();
    if (this.wanted === "") return 0;
    const { total, children, text: texts } = this.contexts;
    let sum = 0;
    const walk = [0];
    for (let at = walk.pop(); at !== undefined; at = walk.pop()) {
      if (at > 0 && this.matches(texts[at])) sum += total[at];
      else walk.push(...children[at]);
    }
    return total[0] > 0 ? sum / total[0] : 0;
  }

  open(context: number): void {
    this.root = context;
    this.pointed = context;
    this.describe();
    this.sheet.request();
  }

  private matches(text: number): boolean {
    return this.wanted !== "" && this.calls.text(text).toLowerCase().includes(this.wanted);
  }

  private above(context: number): number[] {
    const out: number[] = [];
    for (let at = this.contexts.parent[context]; at >= 0; at = this.contexts.parent[at]) out.unshift(at);
    return out;
  }

  private rows(): number {
    const { children, depth } = this.contexts;
    let most = depth[this.root];
    const walk = [this.root];
    for (let at = walk.pop(); at !== undefined; at = walk.pop()) {
      most = Math.max(most, depth[at]);
      walk.push(...children[at]);
    }
    return most + 1;
  }

  private layout(width: number): void {
    const { total, children, depth } = this.contexts;
    this.boxes = this.above(this.root).map((context, row) => ({ context, x: 0, wide: width, row }));
    const scale = total[this.root] > 0 ? width / total[this.root] : 0,
      walk: [number, number][] = [[this.root, 0]];
    for (let next = walk.pop(); next; next = walk.pop()) {
      const [context, x] = next,
        wide = context === this.root ? width : total[context] * scale;
      if (wide < LEAST_WIDTH || depth[context] >= MOST_ROWS) continue;
      this.boxes.push({ context, x, wide, row: depth[context] });
      let at = x;
      for (const child of children[context]) {
        walk.push([child, at]);
        at += total[child] * scale;
      }
    }
  }

  private draw(ctx: CanvasRenderingContext2D, width: number): void {
    this.layout(width);
    const page = themed("--page"),
      text = themed("--text"),
      found = themed("--here"),
      mark = themed("--mark"),
      quiet = themed("--panel");
    ctx.textBaseline = "middle";
    let matched = 0;
    for (const { context, x, wide, row } of this.boxes) {
      const name = this.nameOf(context),
        hit = context > 0 && this.matches(this.contexts.text[context]),
        y = row * ROW + 1;
      matched += hit ? 1 : 0;
      ctx.fillStyle = page;
      ctx.fillRect(x, y, wide, ROW);
      ctx.globalAlpha = hit ? 1 : row < this.contexts.depth[this.root] ? 0.25 : this.wanted !== "" ? 0.2 : 0.5;
      ctx.fillStyle = context === 0 ? quiet : hit ? found : colourOf(name);
      ctx.fillRect(x, y, Math.max(0.4, wide - (wide > 3 ? 1 : 0)), ROW - 1);
      ctx.globalAlpha = 1;
      if (hit || context === this.pointed) {
        ctx.strokeStyle = mark;
        ctx.lineWidth = context === this.pointed ? 2 : 1;
        ctx.strokeRect(x + 1, y + 0.5, Math.max(1, wide - 3), ROW - 2);
      }
      if (wide < 24) continue;
      const fit = Math.floor((wide - 8) / 6.6);
      ctx.fillStyle = text;
      if (fit >= 3) ctx.fillText(middle(name, fit), x + 4, y + ROW / 2, wide - 6);
    }
    ctx.lineWidth = 1;
    Object.assign(this.sheet.canvas.dataset, {
      boxes: this.boxes.length,
      matched,
      root: this.nameOf(this.root),
      pointed: this.nameOf(this.pointed),
    });
  }

  private nameOf(context: number): string {
    return context === 0 ? this.view.ranks : this.calls.text(this.contexts.text[context]);
  }

  private describe(): void {
    const { own, total, depth } = this.contexts,
      calls = this.view.contexts.own,
      at = this.pointed,
      { readout } = this.sheet;
    const byTime = this.contexts !== this.view.contexts;
    const width = (n: number) => (byTime ? amount(n * 1e-6, "s") : count(n, "call"));
    Object.assign(readout.dataset, { calls: calls[at], own: own[at], total: total[at], name: this.nameOf(at) });
    readout.replaceChildren(
      h("b", {}, this.nameOf(at)),
      h("span", {}, at === 0 ? "" : count(calls[at], "call")),
      h("span", {}, byTime && at !== 0 ? `own time ${width(own[at])}` : ""),
      h("span", {}, `with all below: ${width(total[at])} (${percent(total[at] / (total[0] || 1))})`),
      h("span", { class: "quiet" }, at === 0 ? "Point at a box; click it to see it alone." : `depth ${depth[at]}`)
    );
  }

  private point(context: number | undefined): void {
    if (context === undefined || context === this.pointed) return;
    this.pointed = context;
    this.describe();
    this.sheet.request();
  }

  private boxAt({ x, y }: { x: number; y: number }): number | undefined {
    const row = Math.floor((y - 1) / ROW);
    return this.boxes.find((b) => b.row === row && x >= b.x && x < b.x + b.wide)?.context;
  }

  /** The next context beside the pointed one, in the same row. */
  private beside(step: number): number | undefined {
    const row = this.contexts.depth[this.pointed],
      line = this.boxes.filter((b) => b.row === row).sort((a, b) => a.x - b.x),
      at = line.findIndex((b) => b.context === this.pointed);
    return line[at + step]?.context;
  }

  private listen(): void {
    const { canvas } = this.sheet;
    canvas.addEventListener("pointermove", (event) => this.point(this.boxAt(this.sheet.place(event))));
    canvas.addEventListener("pointerleave", () => this.point(this.root));
    canvas.addEventListener("click", (event) => {
      const context = this.boxAt(this.sheet.place(event));
      if (context !== undefined) this.open(context);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const { parent, children, total } = this.contexts;
      if (event.key === "ArrowUp") this.point(Math.max(0, parent[this.pointed]));
      else if (event.key === "ArrowDown")
        this.point([...children[this.pointed]].sort((a, b) => total[b] - total[a])[0]);
      else if (event.key === "ArrowLeft") this.point(this.beside(-1));
      else if (event.key === "ArrowRight") this.point(this.beside(1));
      else if (event.key === "Enter") this.open(this.pointed);
      else if (event.key === "Backspace") this.open(Math.max(0, parent[this.root]));
      else if (event.key === "0" || event.key === "Escape") this.open(0);
      else if (event.key === "/") this.search();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
