// Draws the timeline: rows with their slices, the axis, messages.

import { duration } from "../format";
import { Colours } from "./colours";
import { after, laneKey, Piece, Trace } from "./data";
import { kindShares, pictureOf } from "./picture";
import { Lane, LEVEL, Row, Rows } from "./rows";
import { TimeView } from "./view";

export const LABEL = 196,
  AXIS = 38;
/** Below this width a piece is a block of the shares of its kinds; above, it shows regions. */
const BLOCK = 20;
/** More messages would hide what they connect. */
const MOST_ARROWS = 1500;
/** Time for decoding in a frame, in ms; the rest follows in the next. */
const BUDGET = 10;

/** A slice, for the readout. */
export interface Found {
  lane: Lane;
  piece: Piece;
  depth: number;
  index: number;
}

export interface Painted {
  /** Whether everything visible was decoded in time. */
  done: boolean;
  /** Whether lanes became deeper, so that the rows move. */
  deeper: boolean;
  arrows: number;
  /** Messages in the visible time, drawn or not. */
  messages: number;
  slices: number;
}

export class Painter {
  /** A stretch of time that another part of the page pointed to. */
  marked?: { t0: number; t1: number };
  private readonly kinds: number[];
  private readonly shares = new Map<Piece, number[]>();
  private known?: Colours;
  /** Time spent on decoding in this frame, in ms. */
  private spent = 0;

  constructor(
    private readonly trace: Trace,
    private readonly rows: Rows
  ) {
    this.kinds = trace.json.regions.map(([, kind]) => kind);
  }

  private get colours(): Colours {
    return this.known!;
  }

  paint(
    ctx: CanvasRenderingContext2D,
    width: number,
    height: number,
    view: TimeView,
    selected: Found | undefined
  ): Painted {
    const out: Painted = { done: true, deeper: false, arrows: 0, messages: 0, slices: 0 };
    this.spent = 0;
    this.known ??= new Colours(ctx, this.kinds);
    ctx.clearRect(0, 0, width, height);
    ctx.font = "12px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, AXIS, width, height - AXIS);
    ctx.clip();
    const seen = this.rows.list.filter(
      (row) => row.y + row.height > view.scroll && row.y < view.scroll + height - AXIS
    );
    for (const row of seen) {
      const y = AXIS + row.y - view.scroll;
      this.label(ctx, row, y);
      for (const lane of row.lanes) this.lane(ctx, lane, AXIS + lane.y - view.scroll, width, view, out);
      ctx.fillStyle = this.colours.grid;
      ctx.fillRect(0, y + row.height - 1, width, 1);
    }
    this.messages(ctx, seen, width, view, out);
    if (selected) this.mark(ctx, selected, width, view);
    if (this.marked) this.stretch(ctx, this.marked, width, height, view);
    ctx.restore();
    this.axis(ctx, width, height, view);
    return out;
  }

  private stretch(
    ctx: CanvasRenderingContext2D,
    { t0, t1 }: { t0: number; t1: number },
    width: number,
    height: number,
    view: TimeView
  ): void {
    const x = (time: number) => LABEL + ((time - view.t0) / view.span) * (width - LABEL);
    ctx.strokeStyle = this.colours.text;
    ctx.setLineDash([4, 4]);
    for (const at of [x(t0), x(t1)]) {
      if (at < LABEL || at > width) continue;
      ctx.beginPath();
      ctx.moveTo(at, AXIS);
      ctx.lineTo(at, height);
      ctx.stroke();
    }
    ctx.setLineDash([]);
  }

  private label(ctx: CanvasRenderingContext2D, row: Row, y: number): void {
    const x = 6 + 14 * row.indent,
      middle = y + Math.min(row.height, 22) / 2;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, y, LABEL - 6, row.height);
    ctx.clip();
    ctx.fillStyle = this.colours.text;
    if (row.closable) {
      ctx.beginPath();
      if (row.open) {
        ctx.moveTo(x, middle - 3);
        ctx.lineTo(x + 8, middle - 3);
        ctx.lineTo(x + 4, middle + 3);
      } else {
        ctx.moveTo(x + 1, middle - 4);
        ctx.lineTo(x + 7, middle);
        ctx.lineTo(x + 1, middle + 4);
      }
      ctx.fill();
    }
    ctx.fillText(row.title, x + 13, middle);
    const wide = ctx.measureText(row.title).width;
    ctx.fillStyle = this.colours.quiet;
    ctx.fillText(row.note, x + 21 + wide, middle);
    ctx.restore();
  }

  private lane(
    ctx: CanvasRenderingContext2D,
    lane: Lane,
    y: number,
    width: number,
    view: TimeView,
    out: Painted
  ): void {
    const scale = (width - LABEL) / view.span,
      x = (time: number) => LABEL + (time - view.t0) * scale;
    ctx.save();
    ctx.beginPath();
    ctx.rect(LABEL, y, width - LABEL, lane.height);
    ctx.clip();
    ctx.fillStyle = this.colours.unknown;
    ctx.fillRect(LABEL, y, width - LABEL, lane.height);
    const box = (from: number, to: number, fill: string | CanvasPattern) => {
      ctx.fillStyle = fill;
      ctx.fillRect(x(from), y, Math.max(1, (to - from) * scale), lane.height);
    };
    const clear = (from: number, to: number) => box(from, to, this.colours.page);
    const kept = this.trace.keptOf.get(lane.rank);
    if (lane.thread === 0)
      for (const [index, of] of kept ?? []) {
        const w = this.trace.json.windows[index];
        if (w.end > view.t0 && w.start < view.t1 && !this.trace.messagesOnly(of)) clear(w.start, w.end);
      }
    const key = laneKey(lane.rank, lane.thread);
    for (const piece of this.trace.leftOut.get(key) ?? [])
      if (piece.end > view.t0 && piece.start < view.t1) {
        clear(piece.start, piece.end);
        box(piece.start, piece.end, this.colours.leftOut);
      }
    const pieces = this.trace.pieces.get(key) ?? [];
    for (const piece of pieces) {
      if (piece.end < view.t0 || piece.start > view.t1) continue;
      const of = kept?.get(piece.window);
      if (of && this.trace.messagesOnly(of)) continue;
      clear(piece.start, piece.end);
      if (!piece.ready) {
        if (this.spent > BUDGET) {
          out.done = false;
          continue;
        }
        const began = performance.now();
        piece.levels();
        this.spent += performance.now() - began;
      }
      if (this.rows.setDepth(lane.rank, lane.thread, piece.levels().length)) out.deeper = true;
      const wide = (piece.end - piece.start) * scale;
      if (wide < BLOCK) this.block(ctx, piece, lane, x(piece.start), y, Math.max(1, wide - 0.5));
      else this.slices(ctx, piece, lane, y, x, scale, view, out);
    }
    ctx.restore();
  }

  /** The shares of the kinds of regions, one above the other. */
  private block(ctx: CanvasRenderingContext2D, piece: Piece, lane: Lane, x: number, y: number, wide: number): void {
    let shares = this.shares.get(piece);
    if (!shares) this.shares.set(piece, (shares = kindShares(piece, (region) => this.kinds[region] ?? 0)));
    let top = y;
    shares.forEach((share, kind) => {
      ctx.fillStyle = this.colours.kinds[kind];
      ctx.fillRect(x, top, wide, share * lane.height);
      top += share * lane.height;
    });
  }

  private slices(
    ctx: CanvasRenderingContext2D,
    piece: Piece,
    lane: Lane,
    y: number,
    x: (time: number) => number,
    scale: number,
    view: TimeView,
    out: Painted
  ): void {
    const picture = pictureOf(piece, 1 / scale);
    if (picture) {
      const bin = (piece.end - piece.start) / picture.bins,
        first = Math.max(0, Math.floor((view.t0 - piece.start) / bin)),
        last = Math.min(picture.bins, Math.ceil((view.t1 - piece.start) / bin));
      picture.levels.slice(0, lane.depth).forEach((level, depth) => {
        for (let b = first; b < last;) {
          let next = b + 1;
          while (next < last && level[next] === level[b]) ++next;
          if (level[b] > 0) {
            ctx.fillStyle = this.colours.regions[level[b] - 1] ?? this.colours.bar;
            const left = x(piece.start + b * bin);
            ctx.fillRect(left, y + depth * LEVEL, x(piece.start + next * bin) - left + 0.3, LEVEL - 1);
          }
          b = next;
        }
      });
      return;
    }
    piece
      .levels()
      .slice(0, lane.depth)
      .forEach((level, depth) => {
        for (let i = Math.max(0, after(level.begin, view.t0) - 1); i < level.begin.length; ++i) {
          if (level.begin[i] > view.t1) break;
          if (level.end[i] < view.t0) continue;
          const region = level.region[i] >>> 2,
            left = Math.max(LABEL, x(level.begin[i])),
            wide = Math.min(ctx.canvas.width, x(level.end[i])) - left;
          ctx.fillStyle = this.colours.regions[region] ?? this.colours.bar;
          ctx.fillRect(left, y + depth * LEVEL, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), LEVEL - 1);
          ++out.slices;
          if (wide > 34) this.name(ctx, region, left, wide, y + depth * LEVEL);
        }
      });
  }

  private name(ctx: CanvasRenderingContext2D, region: number, x: number, wide: number, y: number): void {
    const name = this.trace.run.short(this.trace.json.regions[region]?.[0] ?? "?"),
      most = Math.floor((wide - 6) / 6.4);
    ctx.save();
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = this.colours.names[region] ?? this.colours.text;
    ctx.fillText(name.length <= most ? name : `${name.slice(0, Math.max(1, most - 1))}\u2026`, x + 3, y + LEVEL / 2);
    ctx.restore();
  }

  private messages(ctx: CanvasRenderingContext2D, seen: Row[], width: number, view: TimeView, out: Painted): void {
    const lanes = new Map<number, number>();
    for (const row of seen)
      for (const lane of row.lanes)
        lanes.set(laneKey(lane.rank, lane.thread), AXIS + lane.y - view.scroll + lane.height / 2);
    const m = this.trace.messages,
      scale = (width - LABEL) / view.span,
      x = (time: number) => LABEL + (time - view.t0) * scale;
    const found: number[] = [];
    for (let i = after(m.send, view.t0 - m.longest - 1); i < m.send.length && m.send[i] <= view.t1; ++i) {
      if (m.receive[i] < view.t0 || !lanes.has(m.from[i]) || !lanes.has(m.to[i])) continue;
      ++out.messages;
      if (found.length <= MOST_ARROWS) found.push(i);
    }
    if (found.length > MOST_ARROWS) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(LABEL, AXIS, width - LABEL, 1e5);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = this.colours.text;
    ctx.lineWidth = 1;
    ctx.globalAlpha = found.length > 200 ? 0.35 : 0.75;
    for (const i of found) {
      const from = { x: x(m.send[i]), y: lanes.get(m.from[i])! },
        to = { x: x(m.receive[i]), y: lanes.get(m.to[i])! };
      ctx.beginPath();
      ctx.moveTo(from.x, from.y);
      ctx.lineTo(to.x, to.y);
      ctx.stroke();
      const angle = Math.atan2(to.y - from.y, to.x - from.x);
      ctx.beginPath();
      ctx.moveTo(to.x, to.y);
      for (const side of [-0.4, 0.4]) ctx.lineTo(to.x - 7 * Math.cos(angle + side), to.y - 7 * Math.sin(angle + side));
      ctx.closePath();
      ctx.fill();
    }
    ctx.restore();
    out.arrows = found.length;
  }

  private mark(ctx: CanvasRenderingContext2D, { lane, piece, depth, index }: Found, width: number, view: TimeView) {
    const level = piece.levels()[depth],
      scale = (width - LABEL) / view.span,
      left = Math.max(LABEL, LABEL + (level.begin[index] - view.t0) * scale),
      right = LABEL + (level.end[index] - view.t0) * scale;
    if (right < LABEL) return;
    ctx.strokeStyle = this.colours.text;
    ctx.lineWidth = 2;
    ctx.strokeRect(left, AXIS + lane.y - view.scroll + depth * LEVEL, Math.max(2, right - left), LEVEL - 1);
  }

  /** Windows with their steps, and times. */
  private axis(ctx: CanvasRenderingContext2D, width: number, height: number, view: TimeView): void {
    const scale = (width - LABEL) / view.span,
      x = (time: number) => LABEL + (time - view.t0) * scale;
    ctx.fillStyle = this.colours.page;
    ctx.fillRect(0, 0, width, AXIS);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LABEL, 0, width - LABEL, height);
    ctx.clip();
    let free = LABEL;
    this.trace.json.windows.forEach((w, i) => {
      if (w.end < view.t0 || w.start > view.t1) return;
      const left = x(w.start),
        right = x(w.end);
      ctx.fillStyle = i % 2 === 0 ? this.colours.panel : this.colours.grid;
      ctx.fillRect(left, 0, Math.max(1, right - left), 17);
      const text = w.first === w.last ? `step ${w.first}` : `steps ${w.first}..${w.last}`,
        wide = ctx.measureText(text).width,
        at = Math.max(left, LABEL) + 4;
      ctx.fillStyle = this.colours.quiet;
      if (at >= free && at + wide < right) {
        ctx.fillText(text, at, 9);
        free = at + wide + 8;
      }
    });
    const step = tick(view.span / Math.max(2, (width - LABEL) / 110));
    for (let time = Math.ceil(view.t0 / step) * step; time <= view.t1; time += step) {
      ctx.fillStyle = this.colours.quiet;
      ctx.fillText(duration(time, step), x(time) + 3, 27);
      ctx.fillStyle = this.colours.grid;
      ctx.fillRect(x(time), 18, 1, AXIS - 18);
    }
    ctx.restore();
    ctx.fillStyle = this.colours.grid;
    ctx.fillRect(0, AXIS - 1, width, 1);
    const room = height - AXIS;
    if (this.rows.height > room) {
      ctx.fillStyle = this.colours.bar;
      ctx.fillRect(
        width - 4,
        AXIS + (view.scroll / this.rows.height) * room,
        3,
        Math.max(12, (room / this.rows.height) * room)
      );
    }
  }
}

/** A round number of ns that is at least `least`. */
function tick(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((f) => f * power).find((value) => value >= least) ?? 10 * power;
}
