// Points on a canvas, in groups of their own shape and colour, with lines such as a fit.

import { h } from "../dom";
import { category, themed } from "../palette";
import { Sheet } from "./sheet";

const LEFT = 76,
  RIGHT = 14,
  TOP = 10,
  BOTTOM = 44;

export interface Group {
  title: string;
  /** Index of a category of colours. */
  colour: number;
  /** "line" joins the points in their order. */
  shape: "dot" | "cross" | "square" | "line";
}

export interface Axis {
  title: string;
  format: (value: number) => string;
  /** Base of a logarithmic axis. */
  log?: 2 | 10;
}

export interface Scatter {
  label: string;
  x: Axis;
  y: Axis;
  groups: Group[];
  points: { x: number; y: number; group: number }[];
  lines?: { title: string; y: (x: number) => number }[];
  height?: number;
  /** A sentence on a point. */
  describe: (index: number) => string;
  pick?: (index: number) => void;
}

interface Scale {
  low: number;
  high: number;
  log: boolean;
  share: (value: number) => number;
  ticks: number[];
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(span: number, ticks: number): number {
  const raw = span / ticks,
    power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5].find((m) => m * power >= raw) ?? 10) * power;
}

function scaleOf(values: number[], log: 2 | 10 | undefined, ticks: number): Scale {
  let low = Infinity,
    high = -Infinity;
  for (const v of values)
    if (Number.isFinite(v) && (!log || v > 0)) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  if (low > high) [low, high] = [0, 1];
  if (log && low > 0) {
    const power = (v: number) => Math.log(v) / Math.log(log),
      from = Math.floor(power(low * 0.9)),
      to = Math.max(from + 1, Math.ceil(power(high * 1.1))),
      every = Math.max(1, Math.ceil((to - from) / ticks)),
      marks: number[] = [];
    for (let e = from; e <= to; e += every) marks.push(log ** e);
    return {
      low: log ** from,
      high: log ** to,
      log: true,
      share: (v) => (power(Math.max(v, log ** from)) - from) / (to - from),
      ticks: marks,
    };
  }
  const from = Math.min(0, low),
    end = high > from ? high : from + 1,
    step = niceStep(end - from, ticks),
    to = Math.ceil((end * 1.02) / step) * step,
    marks: number[] = [];
  for (let v = from; v <= to + step / 2; v += step) marks.push(v);
  return { low: from, high: to, log: false, share: (v) => (v - from) / (to - from), ticks: marks };
}

export function scatter(options: Scatter): HTMLElement {
  const { points, groups } = options;
  let pointed = -1,
    x: Scale,
    y: Scale;
  const sheet = new Sheet(
    `${options.label}, ${points.length} points. Left and right choose a point, Enter shows it.`,
    () => options.height ?? 260,
    (ctx, width, height) => draw(ctx, width, height),
    "scatter"
  );
  const px = (v: number) => LEFT + x.share(v) * (sheet.width - LEFT - RIGHT),
    py = (v: number) => sheet.height - BOTTOM - y.share(v) * (sheet.height - BOTTOM - TOP);

  const draw = (ctx: CanvasRenderingContext2D, width: number, height: number) => {
    x = scaleOf(
      points.map((p) => p.x),
      options.x.log,
      Math.max(2, Math.floor((width - LEFT) / 110))
    );
    y = scaleOf(
      points.map((p) => p.y),
      options.y.log,
      5
    );
    axes(ctx, width, height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
    ctx.clip();
    (options.lines ?? []).forEach((line, k) => {
      ctx.strokeStyle = themed("--text");
      ctx.setLineDash(k === 0 ? [] : [5, 4]);
      ctx.beginPath();
      for (let i = 0; i <= 200; ++i) {
        const at = x.log ? x.low * (x.high / x.low) ** (i / 200) : x.low + ((x.high - x.low) * i) / 200;
        ctx.lineTo(px(at), py(line.y(at)));
      }
      ctx.stroke();
      ctx.setLineDash([]);
    });
    ctx.restore();
    groups.forEach(({ colour, shape }, g) => {
      ctx.fillStyle = ctx.strokeStyle = category(colour);
      ctx.globalAlpha = points.length > 600 && shape === "dot" ? 0.5 : 0.9;
      ctx.beginPath();
      for (const p of points) if (p.group === g) mark(ctx, px(p.x), py(p.y), shape);
      shape === "cross" || shape === "line" ? ctx.stroke() : ctx.fill();
    });
    ctx.globalAlpha = 1;
    if (pointed >= 0) {
      ctx.strokeStyle = themed("--mark");
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(px(points[pointed].x), py(points[pointed].y), 7, 0, 7);
      ctx.stroke();
      ctx.lineWidth = 1;
    }
    sheet.canvas.dataset.points = String(points.length);
  };

  const axes = (ctx: CanvasRenderingContext2D, width: number, height: number) => {
    ctx.textBaseline = "middle";
    for (const v of y.ticks) {
      ctx.fillStyle = themed("--grid");
      ctx.fillRect(LEFT, py(v), width - LEFT - RIGHT, 1);
      ctx.fillStyle = themed("--quiet");
      ctx.textAlign = "right";
      ctx.fillText(options.y.format(v), LEFT - 6, py(v));
    }
    for (const v of x.ticks) {
      ctx.fillStyle = themed("--grid");
      ctx.fillRect(px(v), TOP, 1, height - TOP - BOTTOM);
      ctx.fillStyle = themed("--quiet");
      ctx.textAlign = "center";
      ctx.fillText(options.x.format(v), Math.min(width - 24, px(v)), height - BOTTOM + 12);
    }
    ctx.fillText(options.x.title, LEFT + (width - LEFT - RIGHT) / 2, height - 10);
    ctx.save();
    ctx.translate(10, TOP + (height - TOP - BOTTOM) / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(options.y.title, 0, 0);
    ctx.restore();
    ctx.textAlign = "left";
  };

  const nearest = (event: MouseEvent): number => {
    const p = sheet.place(event);
    let best = -1,
      least = 14 ** 2;
    points.forEach((q, i) => {
      const d = (px(q.x) - p.x) ** 2 + (py(q.y) - p.y) ** 2;
      if (d < least) {
        least = d;
        best = i;
      }
    });
    return best;
  };
  const point = (index: number) => {
    if (index === pointed) return;
    pointed = index;
    describe();
    sheet.request();
  };
  const describe = () =>
    sheet.readout.replaceChildren(
      h(
        "span",
        { class: pointed < 0 ? "quiet" : "" },
        pointed < 0
          ? options.pick
            ? "Point at one; click it to see it on the timeline."
            : "Point at one."
          : options.describe(pointed)
      )
    );
  describe();
  sheet.canvas.addEventListener("pointermove", (event) => point(nearest(event)));
  sheet.canvas.addEventListener("pointerleave", () => point(-1));
  sheet.canvas.addEventListener("click", (event) => {
    const at = nearest(event);
    if (at >= 0) options.pick?.(at);
  });
  const byX = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || a - b);
  sheet.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || byX.length === 0) return;
    const at = byX.indexOf(pointed);
    if (event.key === "ArrowLeft") point(byX[Math.max(0, (at < 0 ? byX.length : at) - 1)]);
    else if (event.key === "ArrowRight") point(byX[Math.min(byX.length - 1, at + 1)]);
    else if (event.key === "Enter" && pointed >= 0) options.pick?.(pointed);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  sheet.element.prepend(legend(options));
  return sheet.element;
}

function mark(ctx: CanvasRenderingContext2D, x: number, y: number, shape: Group["shape"]): void {
  if (shape === "line") ctx.lineTo(x, y);
  else if (shape === "dot") {
    ctx.moveTo(x + 3, y);
    ctx.arc(x, y, 3, 0, 7);
  } else if (shape === "square") ctx.rect(x - 3, y - 3, 6, 6);
  else {
    ctx.moveTo(x - 4, y - 4);
    ctx.lineTo(x + 4, y + 4);
    ctx.moveTo(x + 4, y - 4);
    ctx.lineTo(x - 4, y + 4);
  }
}

const SIGNS = { line: "\u2014", dot: "\u25cf", square: "\u25a0", cross: "\u00d7" };

function legend({ groups, lines, points }: Scatter): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    groups.map(({ title, colour, shape }, g) =>
      points.some((p) => p.group === g)
        ? h("li", {}, h("span", { class: "sign", style: `color:${category(colour)}` }, SIGNS[shape]), title)
        : null
    ),
    (lines ?? []).map(({ title }, k) => h("li", {}, h("span", { class: "sign" }, k === 0 ? "\u2014" : "- -"), title))
  );
}
