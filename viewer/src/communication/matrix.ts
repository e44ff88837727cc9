// The communication matrix: senders by receivers, drawn at screen resolution.

import { h } from "../dom";
import { amount, bytes, count, seconds } from "../format";
import { colours, themed } from "../palette";
import { Quantity, Sparse } from "./data";
import { RankOrder } from "./order";
import { Part, Raster, raster, rangeOf } from "./raster";
import { Sheet } from "./sheet";

const LEFT = 72,
  TOP = 24,
  BAR = 46,
  LARGEST = 640,
  MOST_LINES = 66;

export interface Shown {
  matrix: Sparse;
  quantity: Quantity;
  order: RankOrder;
  palette: string;
  /** Ranks that a row stands for. */
  block: number;
  nodeOf: (rank: number) => number;
  /** The largest value of a cell; undefined: that of what is in view. */
  high?: number;
}

export function quantityText(quantity: Quantity, value: number): string {
  if (quantity === "bytes") return bytes(Math.round(value));
  return quantity === "messages" ? amount(value, "") : seconds(value);
}

interface Cell {
  row: number;
  column: number;
}

export class MatrixMap {
  readonly sheet: Sheet;
  onPair: (a: number, b: number) => void = () => {};
  private part: Part;
  private picture?: Raster;
  /** The picture in its colours; undefined: it must be made anew. */
  private pixels?: HTMLCanvasElement;
  private range = { low: 0, high: 0 };
  private cursor?: Cell;
  private drag?: { x: number; y: number; nowX: number; nowY: number };
  private side = 0;

  constructor(private shown: Shown) {
    this.part = this.whole();
    this.sheet = new Sheet(
      "Communication matrix, senders by receivers. Arrow keys move the cursor, plus and minus zoom, 0 shows all, " +
        "Enter shows the pair.",
      (width) => TOP + this.sideFor(width) + BAR,
      (ctx) => this.draw(ctx),
      "matrix"
    );
    this.listen();
    this.describe();
  }

  show(shown: Shown): void {
    const same = shown.order === this.shown.order;
    this.shown = shown;
    this.look(same ? this.part : this.whole());
  }
  showAll(): void {
    this.look(this.whole());
  }
  private look(part: Part): void {
    this.part = part;
    this.pixels = undefined;
    this.cursor = undefined;
    this.sheet.request();
    this.describe();
  }
  zoom(factor: number): void {
    const { r0, r1, c0, c1 } = this.part,
      { rows, columns } = this.picture ?? { rows: 1, columns: 1 },
      at = this.cursor ?? { row: rows / 2, column: columns / 2 };
    const axis = (from: number, to: number, middle: number): [number, number] => {
      const size = Math.min(this.n, Math.max(4, Math.round((to - from) * factor))),
        first = Math.min(this.n - size, Math.max(0, Math.round(middle - size / 2)));
      return [first, first + size];
    };
    const [a0, a1] = axis(r0, r1, r0 + ((at.row + 0.5) / rows) * (r1 - r0)),
      [b0, b1] = axis(c0, c1, c0 + ((at.column + 0.5) / columns) * (c1 - c0));
    this.look({ r0: a0, r1: a1, c0: b0, c1: b1 });
  }

  private get n(): number {
    return this.shown.order.ranks.length;
  }
  private whole(): Part {
    const n = this.shown.order.ranks.length;
    return { r0: 0, r1: n, c0: 0, c1: n };
  }
  private sideFor(width: number): number {
    return Math.max(60, Math.min(width - LEFT - 8, LARGEST));
  }

  private draw(ctx: CanvasRenderingContext2D): void {
    const side = this.sideFor(this.sheet.width);
    if (side !== this.side) this.pixels = undefined;
    this.side = side;
    const pixels = (this.pixels ??= this.render());
    ctx.fillStyle = themed("--panel");
    ctx.fillRect(LEFT, TOP, side, side);
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(pixels, LEFT, TOP, side, side);
    this.lines(ctx);
    this.axes(ctx);
    this.bar(ctx, colours(this.shown.palette));
    if (this.cursor) this.mark(ctx, this.cursor);
    if (this.drag) {
      const { x, y, nowX, nowY } = this.drag;
      ctx.strokeStyle = themed("--text");
      ctx.strokeRect(Math.min(x, nowX), Math.min(y, nowY), Math.abs(nowX - x), Math.abs(nowY - y));
    }
  }

  /** Sums and colours of the part in view. */
  private render(): HTMLCanvasElement {
    const { matrix, quantity, order, palette, high } = this.shown,
      most = Math.round(this.side * (devicePixelRatio || 1)),
      picture = (this.picture = raster(matrix, quantity, order, this.part, most)),
      top = Math.max(high ?? 0, picture.high),
      low = Math.min(picture.low || top, top),
      span = Math.log(top / low) || 1,
      table = colours(palette),
      image = new ImageData(picture.columns, picture.rows);
    this.range = { low, high: top };
    let cells = 0,
      pairs = 0;
    for (let i = 0; i < picture.sums.length; ++i) {
      if (picture.sums[i] <= 0) continue;
      const level = 3 * (top > low ? 40 + Math.round((215 * Math.log(picture.sums[i] / low)) / span) : 255);
      for (let c = 0; c < 3; ++c) image.data[4 * i + c] = table[level + c];
      image.data[4 * i + 3] = 255;
      ++cells;
      pairs += picture.pairs[i];
    }
    const pixels = h("canvas", { width: picture.columns, height: picture.rows });
    pixels.getContext("2d")!.putImageData(image, 0, 0);
    Object.assign(this.sheet.canvas.dataset, { rows: picture.rows, columns: picture.columns, cells, pairs, high: top });
    return pixels;
  }

  /** Lines between nodes, if few enough are in view. */
  private lines(ctx: CanvasRenderingContext2D): void {
    const { order, nodeOf, block } = this.shown,
      { r0, r1, c0, c1 } = this.part;
    if (!order.byNode) return;
    const between = (from: number, to: number) => {
      const out: number[] = [];
      for (let p = from + 1; p < to && out.length <= MOST_LINES; ++p)
        if (nodeOf(order.ranks[p] * block) !== nodeOf(order.ranks[p - 1] * block)) out.push(p);
      return out.length > MOST_LINES ? [] : out;
    };
    ctx.strokeStyle = themed("--quiet");
    ctx.globalAlpha = 0.35;
    ctx.beginPath();
    for (const p of between(r0, r1)) {
      const y = TOP + ((p - r0) / (r1 - r0)) * this.side;
      ctx.moveTo(LEFT, y);
      ctx.lineTo(LEFT + this.side, y);
    }
    for (const p of between(c0, c1)) {
      const x = LEFT + ((p - c0) / (c1 - c0)) * this.side;
      ctx.moveTo(x, TOP);
      ctx.lineTo(x, TOP + this.side);
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  private axes(ctx: CanvasRenderingContext2D): void {
    const { r0, r1, c0, c1 } = this.part,
      { order, block, quantity } = this.shown,
      name = (p: number) => (order.ranks[p] * block).toLocaleString("en");
    ctx.strokeStyle = themed("--grid");
    ctx.strokeRect(LEFT + 0.5, TOP + 0.5, this.side - 1, this.side - 1);
    ctx.fillStyle = themed("--quiet");
    ctx.textBaseline = "middle";
    const ticks = Math.max(2, Math.min(6, Math.floor(this.side / 100)));
    for (let i = 0; i <= ticks; ++i) {
      const share = i / ticks,
        r = Math.min(r1 - 1, Math.round(r0 + share * (r1 - r0))),
        c = Math.min(c1 - 1, Math.round(c0 + share * (c1 - c0)));
      ctx.textAlign = "right";
      ctx.fillText(name(r), LEFT - 6, Math.min(TOP + this.side - 6, Math.max(TOP + 6, TOP + share * this.side)));
      ctx.textAlign = i === 0 ? "left" : i === ticks ? "right" : "center";
      ctx.fillText(name(c), LEFT + share * this.side, TOP - 10);
    }
    ctx.save();
    ctx.translate(9, TOP + this.side / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "center";
    ctx.fillText(quantity === "waiting" ? "waited for" : "from rank", 0, 0);
    ctx.restore();
    ctx.textAlign = "left";
    ctx.fillText(quantity === "waiting" ? "who waits" : "to rank", 8, TOP - 10);
  }

  private bar(ctx: CanvasRenderingContext2D, table: Uint8Array): void {
    const { low, high } = this.range,
      y = TOP + this.side + 14,
      wide = Math.min(260, this.side);
    ctx.textAlign = "left";
    ctx.fillStyle = themed("--quiet");
    if (high <= 0) return void ctx.fillText("nothing in view", LEFT, y + 5);
    for (let x = 0; x < wide; ++x) {
      const level = 40 + Math.round((215 * x) / wide);
      ctx.fillStyle = `rgb(${table[3 * level]} ${table[3 * level + 1]} ${table[3 * level + 2]})`;
      ctx.fillRect(LEFT + x, y, 1.5, 10);
    }
    ctx.fillStyle = themed("--quiet");
    ctx.fillText(quantityText(this.shown.quantity, low), LEFT, y + 20);
    ctx.textAlign = "right";
    ctx.fillText(quantityText(this.shown.quantity, high), LEFT + wide, y + 20);
    ctx.textAlign = "left";
    ctx.fillText("logarithmic", LEFT + wide + 10, y + 5);
  }

  private mark(ctx: CanvasRenderingContext2D, { row, column }: Cell): void {
    const { rows, columns } = this.picture!,
      tall = this.side / rows,
      wide = this.side / columns,
      edge = 3;
    ctx.strokeStyle = themed("--mark");
    ctx.lineWidth = 1.5;
    ctx.strokeRect(
      LEFT + column * wide - edge / 2,
      TOP + row * tall - edge / 2,
      Math.max(wide, 2) + edge,
      Math.max(tall, 2) + edge
    );
    ctx.lineWidth = 1;
  }

  private cellAt({ x, y }: { x: number; y: number }): Cell | undefined {
    const { rows, columns } = this.picture ?? { rows: 0, columns: 0 },
      row = Math.floor(((y - TOP) / this.side) * rows),
      column = Math.floor(((x - LEFT) / this.side) * columns);
    return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : undefined;
  }

  /** The nearest cell with traffic within a few pixels: single cells are small where ranks are many. */
  private near(at: Cell | undefined): Cell | undefined {
    if (!at || !this.picture) return at;
    const { rows, columns, pairs } = this.picture,
      reach = Math.floor((4 * columns) / this.side);
    let best = at,
      least = Infinity;
    for (let dr = -reach; dr <= reach; ++dr)
      for (let dc = -reach; dc <= reach; ++dc) {
        const row = at.row + dr,
          column = at.column + dc;
        if (row < 0 || row >= rows || column < 0 || column >= columns || pairs[row * columns + column] === 0) continue;
        if (dr * dr + dc * dc < least) {
          least = dr * dr + dc * dc;
          best = { row, column };
        }
      }
    return best;
  }

  private ranksOf({ row, column }: Cell): { a: [number, number]; b: [number, number] } {
    const { r0, r1, c0, c1 } = this.part,
      { rows, columns } = this.picture!;
    return { a: rangeOf(row, r0, r1, rows), b: rangeOf(column, c0, c1, columns) };
  }

  /** Shows the pair of a cell, or zooms into a cell of several. */
  private enter(cell: Cell): void {
    const { a, b } = this.ranksOf(cell),
      { ranks } = this.shown.order;
    if (this.shown.block === 1 && a[0] === a[1] && b[0] === b[1]) return this.onPair(ranks[a[0]], ranks[b[0]]);
    this.cursor = cell;
    this.zoom(1 / 8);
  }

  private describe(): void {
    const { readout } = this.sheet,
      cell = this.cursor;
    if (!cell || !this.picture) {
      readout.replaceChildren(
        h("span", { class: "quiet" }, "Point at a cell; click to zoom in, or to show the pair of a single cell.")
      );
      return;
    }
    const { order, block, quantity, nodeOf } = this.shown,
      { a, b } = this.ranksOf(cell),
      i = cell.row * this.picture.columns + cell.column;
    const who = ([from, to]: [number, number]) => {
      const first = order.ranks[from] * block;
      if (from === to && block === 1) return `rank ${first.toLocaleString("en")} (node ${nodeOf(first)})`;
      const ranks = count((to - from + 1) * block, "rank");
      return `${ranks} from ${first.toLocaleString("en")}`;
    };
    const verb = quantity === "waiting" ? " waited for by " : " to ";
    Object.assign(readout.dataset, { value: this.picture.sums[i], pairs: this.picture.pairs[i] });
    readout.replaceChildren(
      h("b", {}, `${who(a)}${verb}${who(b)}`),
      h(
        "span",
        {},
        this.picture.pairs[i] === 0
          ? "nothing"
          : `${quantityText(quantity, this.picture.sums[i])}${
              this.picture.pairs[i] > 1 ? ` of ${count(this.picture.pairs[i], block > 1 ? "cell" : "pair")}` : ""
            }`
      )
    );
  }

  private listen(): void {
    const { canvas } = this.sheet;
    const move = (cell: Cell | undefined) => {
      if (cell?.row === this.cursor?.row && cell?.column === this.cursor?.column) return;
      this.cursor = cell;
      this.describe();
      this.sheet.request();
    };
    canvas.addEventListener("pointermove", (event) => {
      const p = this.sheet.place(event);
      if (!this.drag) return move(this.near(this.cellAt(p)));
      this.drag.nowX = p.x;
      this.drag.nowY = p.y;
      this.sheet.request();
    });
    canvas.addEventListener("pointerleave", () => !this.drag && move(undefined));
    canvas.addEventListener("pointerdown", (event) => {
      const p = this.sheet.place(event);
      if (event.button !== 0 || !this.cellAt(p)) return;
      this.drag = { ...p, nowX: p.x, nowY: p.y };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      const d = this.drag;
      this.drag = undefined;
      if (!d) return;
      if (Math.abs(d.nowX - d.x) < 5 || Math.abs(d.nowY - d.y) < 5) {
        const cell = this.near(this.cellAt(this.sheet.place(event)));
        return cell ? this.enter(cell) : undefined;
      }
      this.zoomTo(d);
    });
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private zoomTo(d: { x: number; y: number; nowX: number; nowY: number }): void {
    const { r0, r1, c0, c1 } = this.part;
    const axis = (from: number, to: number, a: number, b: number): [number, number] => {
      const share = (v: number) => Math.min(1, Math.max(0, v / this.side)),
        first = Math.floor(from + share(Math.min(a, b)) * (to - from)),
        end = Math.ceil(from + share(Math.max(a, b)) * (to - from));
      return [Math.min(first, this.n - 1), Math.min(this.n, Math.max(end, first + 1))];
    };
    const [a0, a1] = axis(r0, r1, d.y - TOP, d.nowY - TOP),
      [b0, b1] = axis(c0, c1, d.x - LEFT, d.nowX - LEFT);
    this.look({ r0: a0, r1: a1, c0: b0, c1: b1 });
  }

  private key(event: KeyboardEvent): void {
    const { rows, columns } = this.picture ?? { rows: 1, columns: 1 },
      at = this.cursor ?? { row: rows >> 1, column: columns >> 1 },
      by = Math.max(1, Math.round(columns / 100)),
      moves: Record<string, [number, number]> = {
        ArrowLeft: [0, -by],
        ArrowRight: [0, by],
        ArrowUp: [-by, 0],
        ArrowDown: [by, 0],
      },
      step = moves[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step) {
      const inside = (v: number, n: number) => Math.min(n - 1, Math.max(0, v));
      this.cursor = { row: inside(at.row + step[0], rows), column: inside(at.column + step[1], columns) };
      this.describe();
      this.sheet.request();
    } else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0" || event.key === "Escape") this.showAll();
    else if (event.key === "Enter" && this.cursor) this.enter(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
