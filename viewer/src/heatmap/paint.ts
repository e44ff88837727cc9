// Paints a heat map on a canvas: cells, axes, colour scale, profile over the steps, rebalances, cursor.

import { h } from "../dom";
import { amount } from "../format";
import { colours, themed } from "../palette";
import { profileOf, ticks, View } from "./picture";
import { Bounds } from "./viewport";

const LEFT = 64,
  BOTTOM = 34,
  RIGHT = 84,
  PROFILE = 54,
  GAP = 6;

/** The rectangle of the cells, in CSS pixels. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A rectangle that the pointer drags, in CSS pixels. */
export interface Drag {
  x: number;
  y: number;
  nowX: number;
  nowY: number;
}

export interface Drawing {
  box: Box;
  bounds: Bounds;
  view: View;
  image: HTMLCanvasElement;
  palette: string;
  unit: string;
  /** The rank at each position; undefined: by id. */
  order?: Int32Array;
  /** Steps at which the host rebalanced. */
  rebalanced: number[];
  cursor?: { position: number; step: number };
  drag?: Drag;
}

/** The place of the cells in a canvas of this size. */
export function boxOf(width: number, height: number): Box {
  return {
    x: LEFT,
    y: 4,
    w: Math.max(20, width - LEFT - RIGHT - GAP),
    h: Math.max(20, height - BOTTOM - PROFILE - GAP - 4),
  };
}

/** Draws pixel by pixel, because browsers that stretch a small picture misalign the borders of its cells. */
export function imageOf(
  { rows, cols, values, low, high }: View,
  palette: string,
  box: Box,
  ratio: number
): HTMLCanvasElement {
  const table = colours(palette),
    scale = high > low ? 255 / (high - low) : 0;
  const width = Math.max(1, Math.round(box.w * ratio)),
    height = Math.max(1, Math.round(box.h * ratio));
  const image = new ImageData(width, height),
    pixels = new Uint32Array(image.data.buffer),
    cell = new Uint32Array(cols),
    bytes = new Uint8Array(cell.buffer);
  for (let y = 0, last = -1; y < height; ++y) {
    const i = Math.floor((y * rows) / height);
    if (i === last) {
      pixels.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    last = i;
    for (let j = 0; j < cols; ++j) {
      const v = values[i * cols + j],
        c = 3 * Math.min(255, Math.max(0, Math.round((v - low) * scale)));
      bytes.set([table[c], table[c + 1], table[c + 2], Number.isNaN(v) ? 0 : 255], 4 * j);
    }
    for (let x = 0; x < width; ++x) pixels[y * width + x] = cell[Math.floor((x * cols) / width)];
  }
  const canvas = h("canvas", { width, height });
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas;
}

/** Paints the whole map.  Returns the number of columns with values above the scale. */
export function paint(ctx: CanvasRenderingContext2D, drawing: Drawing): number {
  const { box, image, drag } = drawing;
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(image, box.x, box.y, box.w, box.h);
  ctx.strokeStyle = themed("--grid");
  ctx.strokeRect(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1);
  paintAxes(ctx, drawing);
  paintScale(ctx, drawing);
  const above = paintProfile(ctx, drawing);
  paintRebalances(ctx, drawing);
  paintCursor(ctx, drawing);
  if (drag) {
    ctx.strokeStyle = themed("--text");
    ctx.setLineDash([4, 3]);
    ctx.strokeRect(
      Math.min(drag.x, drag.nowX),
      Math.min(drag.y, drag.nowY),
      Math.abs(drag.nowX - drag.x),
      Math.abs(drag.nowY - drag.y)
    );
    ctx.setLineDash([]);
  }
  return above;
}

function paintAxes(ctx: CanvasRenderingContext2D, { box, bounds, order }: Drawing): void {
  const { r0, r1, c0, c1 } = bounds;
  ctx.fillStyle = themed("--quiet");
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const r of ticks(r0, r1, Math.max(2, box.h / 40))) {
    const y = box.y + ((r + 0.5 - r0) / (r1 - r0)) * box.h;
    ctx.fillText(order ? `#${order[r]}` : r.toLocaleString("en"), box.x - 6, y);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const below = box.y + box.h + GAP + PROFILE + 4;
  for (const c of ticks(c0, c1, Math.max(2, box.w / 80)))
    ctx.fillText(c.toLocaleString("en"), box.x + ((c + 0.5 - c0) / (c1 - c0)) * box.w, below);
  ctx.fillText("step", box.x + box.w / 2, below + 15);
  ctx.save();
  ctx.translate(10, box.y + box.h / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(order ? "rank, reordered" : "rank", 0, -4);
  ctx.restore();
}

function paintScale(ctx: CanvasRenderingContext2D, { box, view, palette, unit }: Drawing): void {
  const { low, high, most } = view,
    table = colours(palette),
    x = box.x + box.w + GAP + 6;
  for (let i = 0; i < box.h; ++i) {
    const c = 3 * Math.round(255 * (1 - i / box.h));
    ctx.fillStyle = `rgb(${table[c]},${table[c + 1]},${table[c + 2]})`;
    ctx.fillRect(x, box.y + i, 10, 1.5);
  }
  ctx.fillStyle = themed("--quiet");
  ctx.textAlign = "left";
  for (const [share, base] of [
    [0, "bottom"],
    [0.5, "middle"],
    [1, "top"],
  ] as const) {
    ctx.textBaseline = base;
    ctx.fillText(
      `${share === 1 && most > high ? "> " : ""}${amount(low + share * (high - low), unit)}`,
      x + 14,
      box.y + (1 - share) * box.h
    );
  }
  if (most > high) {
    ctx.textBaseline = "top";
    ctx.fillText("up to", x + 14, box.y + 16);
    ctx.fillText(amount(most, unit), x + 14, box.y + 30);
  }
}

/** Diamonds under the map at the steps at which the host rebalanced, or strokes if there are many. */
function paintRebalances(ctx: CanvasRenderingContext2D, { box, bounds, rebalanced }: Drawing): void {
  const { c0, c1 } = bounds,
    y = box.y + box.h + GAP / 2;
  ctx.fillStyle = themed("--mark");
  const done = rebalanced.filter((step) => step >= c0 && step < c1),
    dense = done.length * 15 > box.w;
  for (const step of done) {
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

/** A small triangle with its tip at a point. */
function arrowUp(ctx: CanvasRenderingContext2D, x: number, y: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + 4, y + 7);
  ctx.lineTo(x - 4, y + 7);
  ctx.fill();
}

/** Mean and largest cell of every column, on the map's scale from zero; larger values end in a point.  Returns the
 *  number of columns with larger values. */
function paintProfile(ctx: CanvasRenderingContext2D, { box, view, unit }: Drawing): number {
  const { cols, high } = view,
    { mean, max } = profileOf(view),
    top = box.y + box.h + GAP,
    most = Math.max(high, 1e-300);
  const x = (j: number) => box.x + (j / cols) * box.w,
    y = (v: number) => top + PROFILE - (Math.min(v, most) / most) * (PROFILE - 2);
  ctx.fillStyle = themed("--band");
  for (let j = 0; j < cols; ++j) ctx.fillRect(x(j), y(max[j]), box.w / cols + 0.5, top + PROFILE - y(max[j]));
  ctx.fillStyle = themed("--mark");
  const above = Array.from(max.keys()).filter((j) => max[j] > 1.001 * most);
  for (const j of above) arrowUp(ctx, (x(j) + x(j + 1)) / 2, top + 1);
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
  const beside = box.x + box.w + GAP + 20;
  ctx.textAlign = "left";
  ctx.fillText(`${above.length > 0 ? "\u25b4 " : ""}${amount(most, unit)}`, beside, top + 6);
  ctx.textBaseline = "bottom";
  ctx.fillText(amount(0, unit), beside, top + PROFILE);
  return above.length;
}

function paintCursor(ctx: CanvasRenderingContext2D, { box, bounds, cursor }: Drawing): void {
  if (!cursor) return;
  const { r0, r1, c0, c1 } = bounds;
  const x = box.x + ((cursor.step + 0.5 - c0) / (c1 - c0)) * box.w,
    y = box.y + ((cursor.position + 0.5 - r0) / (r1 - r0)) * box.h;
  if (x < box.x || x > box.x + box.w || y < box.y || y > box.y + box.h) return;
  for (const [colour, width] of [
    ["#fff", 3],
    ["#000", 1],
  ] as const) {
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
