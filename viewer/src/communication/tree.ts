// The dendrogram of the ranks by the time that they spend on each other, above a strip of their nodes.

import { h } from "../dom";
import { count } from "../format";
import { category, themed } from "../palette";
import { Tree } from "./data";
import { leavesOf } from "./order";
import { Sheet } from "./sheet";

const LEFT = 72,
  RIGHT = 12,
  TREE = 240,
  STRIP = 16,
  LABELS = 20,
  /** The least width of a group that is not opened. */
  TIP = 9;

/** Distances of pairs that never meet are one value, the largest. */
function meets(tree: Tree): { least: number; most: number } {
  const { distances } = tree;
  let least = Infinity,
    most = 0;
  for (const d of distances)
    if (d > 0) {
      least = Math.min(least, d);
      most = Math.max(most, d);
    }
  return { least: most > 0 ? least : 1, most: most > 0 ? most : 1 };
}

export class Dendrogram {
  readonly sheet: Sheet;
  private readonly leaves: Int32Array;
  private readonly n: number;
  /** Of each group: its first leaf, its number of leaves, and the share of the tree's height at which it was joined. */
  private readonly first: Float64Array;
  private readonly size: Float64Array;
  private readonly height: Float64Array;
  /** The group that is shown, those in it that are not opened, from left to right, and the middle of each group. */
  private root: number;
  private tips: number[] = [];
  private readonly middle = new Map<number, number>();
  private pointed = -1;

  constructor(
    private readonly tree: Tree,
    private readonly nodeOf: (rank: number) => number
  ) {
    const { merges, distances } = tree,
      n = (this.n = merges.length / 2 + 1),
      groups = 2 * n - 1,
      { least, most } = meets(tree),
      span = Math.log(most / least) || 1;
    this.leaves = leavesOf(tree);
    this.root = groups - 1;
    this.first = new Float64Array(groups);
    this.size = new Float64Array(groups).fill(1);
    this.height = new Float64Array(groups);
    this.leaves.forEach((rank, at) => (this.first[rank] = at));
    for (let i = 0; i < n - 1; ++i) {
      const a = merges[2 * i],
        b = merges[2 * i + 1],
        g = n + i;
      this.first[g] = Math.min(this.first[a], this.first[b]);
      this.size[g] = this.size[a] + this.size[b];
      this.height[g] = 0.08 + (0.92 * Math.log(Math.max(distances[i], least) / least)) / span;
    }
    this.sheet = new Sheet(
      `Dendrogram of ${n} ranks. Left and right choose a group, Enter shows it alone, 0 shows all.`,
      () => TREE + STRIP + LABELS + 8,
      (ctx, width) => this.draw(ctx, width),
      "dendrogram"
    );
    this.listen();
    this.describe();
  }

  private childrenOf(group: number): [number, number] {
    const { merges } = this.tree,
      i = 2 * (group - this.n);
    return [merges[i], merges[i + 1]];
  }

  /** Opens the groups that were joined last, as many as there is room for, and places all of them. */
  private layout(width: number): void {
    const most = Math.max(2, Math.floor((width - LEFT - RIGHT) / TIP)),
      open = new Set<number>(),
      tips = new Set([this.root]);
    // Merges are numbered by their distance, so the next group to open is the one with the largest number.
    for (let g = this.root; g >= this.n && tips.size < most; --g) {
      if (!tips.delete(g)) continue;
      open.add(g);
      for (const child of this.childrenOf(g)) tips.add(child);
    }
    this.tips = [...tips].sort((a, b) => this.first[a] - this.first[b]);
    this.middle.clear();
    const wide = (width - LEFT - RIGHT) / this.tips.length;
    this.tips.forEach((tip, i) => this.middle.set(tip, LEFT + (i + 0.5) * wide));
    for (const g of [...open].sort((a, b) => a - b)) {
      const [a, b] = this.childrenOf(g);
      this.middle.set(g, (this.middle.get(a)! + this.middle.get(b)!) / 2);
    }
  }

  private y(group: number): number {
    return 6 + (1 - this.height[group]) * (TREE - 6);
  }
  private isTip(group: number): boolean {
    return group < this.n || !this.middle.has(this.childrenOf(group)[0]);
  }

  private draw(ctx: CanvasRenderingContext2D, width: number): void {
    this.layout(width);
    ctx.strokeStyle = themed("--line");
    ctx.beginPath();
    for (const g of this.middle.keys()) if (!this.isTip(g)) this.branch(ctx, g);
    ctx.stroke();
    ctx.fillStyle = themed("--band");
    for (const tip of this.tips) if (tip >= this.n) this.closed(ctx, tip, width);
    if (this.middle.has(this.pointed)) {
      ctx.strokeStyle = ctx.fillStyle = themed("--mark");
      ctx.lineWidth = 2.5;
      if (this.isTip(this.pointed)) this.closed(ctx, this.pointed, width);
      else {
        ctx.beginPath();
        this.branch(ctx, this.pointed);
        ctx.stroke();
      }
      ctx.lineWidth = 1;
    }
    this.strip(ctx, width);
    this.axis(ctx, width);
    Object.assign(this.sheet.canvas.dataset, { groups: this.tips.length, ranks: this.size[this.root] });
  }

  private branch(ctx: CanvasRenderingContext2D, group: number): void {
    const [a, b] = this.childrenOf(group),
      y = this.y(group),
      xa = this.middle.get(a)!,
      xb = this.middle.get(b)!,
      end = (g: number) => (g < this.n ? TREE : this.y(g));
    ctx.moveTo(xa, end(a));
    ctx.lineTo(xa, y);
    ctx.lineTo(xb, y);
    ctx.lineTo(xb, end(b));
  }

  /** A group that is not opened is a triangle. */
  private closed(ctx: CanvasRenderingContext2D, tip: number, width: number): void {
    const x = this.middle.get(tip)!,
      half = Math.min(12, (0.42 * (width - LEFT - RIGHT)) / this.tips.length);
    ctx.beginPath();
    ctx.moveTo(x, this.y(tip));
    ctx.lineTo(x + half, TREE);
    ctx.lineTo(x - half, TREE);
    ctx.fill();
  }

  private members(group: number): Int32Array {
    return this.leaves.subarray(this.first[group], this.first[group] + this.size[group]);
  }

  /** The nodes of each group, by their numbers of ranks. */
  private strip(ctx: CanvasRenderingContext2D, width: number): void {
    const wide = (width - LEFT - RIGHT) / this.tips.length;
    this.tips.forEach((tip, i) => {
      const nodes = new Map<number, number>();
      for (const rank of this.members(tip)) nodes.set(this.nodeOf(rank), (nodes.get(this.nodeOf(rank)) ?? 0) + 1);
      let x = LEFT + i * wide;
      for (const [node, ranks] of [...nodes].sort(([a], [b]) => a - b)) {
        const part = (wide * ranks) / this.size[tip];
        ctx.fillStyle = category(Math.max(0, node));
        ctx.fillRect(x, TREE + 2, part, STRIP - 2);
        x += part;
      }
      ctx.fillStyle = themed("--page");
      if (wide > 4) ctx.fillRect(LEFT + i * wide, TREE + 2, 1, STRIP - 2);
    });
  }

  private axis(ctx: CanvasRenderingContext2D, width: number): void {
    const y = TREE + STRIP + 12,
      wide = (width - LEFT - RIGHT) / this.tips.length,
      names = this.tips.map((tip) => (tip < this.n ? String(tip) : `(${this.size[tip].toLocaleString("en")})`)),
      widest = Math.max(...names.map((name) => ctx.measureText(name).width)) + 6,
      every = Math.max(1, Math.ceil(widest / wide));
    ctx.fillStyle = themed("--quiet");
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillText("nodes", LEFT - 6, TREE + STRIP / 2 + 1);
    ctx.fillText("far", LEFT - 6, 10);
    ctx.fillText("near", LEFT - 6, TREE - 14);
    ctx.fillText("ranks", LEFT - 6, y);
    ctx.textAlign = "center";
    for (let i = every >> 1; i < names.length; i += every) ctx.fillText(names[i], LEFT + (i + 0.5) * wide, y);
  }

  /** The group at a place: one that is not opened, or the smallest whose branch is there. */
  private groupAt(p: { x: number; y: number }): number {
    const wide = (this.sheet.width - LEFT - RIGHT) / Math.max(1, this.tips.length),
      tip = this.tips[Math.floor((p.x - LEFT) / wide)];
    if (tip === undefined || p.y > TREE + STRIP + LABELS) return -1;
    if (p.y >= TREE || (tip >= this.n && p.y > this.y(tip))) return tip;
    let best = -1;
    for (const g of this.middle.keys()) {
      if (this.isTip(g) || p.y < this.y(g) - 4) continue;
      const [xa, xb] = this.childrenOf(g).map((child) => this.middle.get(child)!);
      if (p.x >= Math.min(xa, xb) - 4 && p.x <= Math.max(xa, xb) + 4 && (best < 0 || g < best)) best = g;
    }
    return best;
  }

  private show(group: number): void {
    if (group < this.n) return;
    this.root = group;
    this.pointed = -1;
    this.sheet.request();
    this.describe();
  }
  showAll(): void {
    this.show(2 * this.n - 2);
  }

  private point(group: number): void {
    if (group === this.pointed) return;
    this.pointed = group;
    this.describe();
    this.sheet.request();
  }

  private describe(): void {
    const g = this.pointed,
      { readout } = this.sheet;
    if (g < 0) {
      readout.replaceChildren(
        h(
          "span",
          { class: "quiet" },
          "Point at a group; click it to see it alone. In brackets: ranks of a closed group."
        )
      );
      return;
    }
    const members = this.members(g),
      nodes = new Set(Array.from(members, this.nodeOf));
    Object.assign(readout.dataset, { members: members.length, nodes: nodes.size });
    readout.replaceChildren(
      h("b", {}, `${count(members.length, "rank")} on ${count(nodes.size, "node")}`),
      h("span", {}, Array.from(members.slice().sort().slice(0, 12)).join(", ") + (members.length > 12 ? ", ..." : "")),
      g < this.n
        ? ""
        : h(
            "span",
            { class: "quiet" },
            `joined at a distance of ${this.tree.distances[g - this.n].toPrecision(3)} per ns`
          )
    );
  }

  private listen(): void {
    const { canvas } = this.sheet;
    canvas.addEventListener("pointermove", (event) => this.point(this.groupAt(this.sheet.place(event))));
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("click", (event) => this.show(this.groupAt(this.sheet.place(event))));
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const shown = [...this.middle.keys()].filter((g) => g >= this.n).sort((a, b) => a - b),
        at = shown.indexOf(this.pointed);
      if (event.key === "ArrowLeft") this.point(shown[Math.max(0, (at < 0 ? shown.length : at) - 1)] ?? -1);
      else if (event.key === "ArrowRight") this.point(shown[Math.min(shown.length - 1, at + 1)] ?? -1);
      else if (event.key === "Enter") this.show(this.pointed);
      else if (event.key === "0" || event.key === "Escape") this.showAll();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
