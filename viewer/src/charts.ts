// Line charts over steps, drawn by uPlot in the page's colours.

import uPlot from "uplot";
import { h, svg } from "./dom";
import { DASHES, themed } from "./palette";

export interface Line {
  title: string;
  values: (number | null)[];
  colour: string;
  dash?: number;
  width?: number;
  stepped?: boolean;
  points?: boolean;
}

export interface Mark {
  step: number;
  /** "done": a full diamond and a line through the chart; "wanted": an open triangle. */
  kind: "done" | "wanted";
}

export interface Chart {
  title: string;
  steps: number[];
  lines: Line[];
  format: (value: number) => string;
  marks?: Mark[];
  /** Pairs of lines, by index, between which the area is filled: upper, lower. */
  bands?: [number, number][];
  height?: number;
  range?: [number, number | null];
  /** The first and the last step of the run, so that charts line up. */
  domain?: [number, number];
  /** Cuts off rare peaks; the title says so. */
  clip?: boolean;
  /** The scale reaches at least this value. */
  least?: number;
  onStep?: (step: number) => void;
}

function drawMarks(u: uPlot, marks: Mark[]): void {
  const { ctx, bbox } = u,
    size = 5 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = themed("--mark");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  const shown = marks
    .map(({ step, kind }) => ({ x: u.valToPos(step, "x", true), kind }))
    .filter(({ x }) => x >= bbox.left && x <= bbox.left + bbox.width);
  // Marks that would hide the lines become strokes along the upper edge, long if done and short if only wanted.
  const dense = shown.length * 3 * size > bbox.width;
  for (const { x, kind } of shown) {
    const y = bbox.top + size + 2;
    ctx.beginPath();
    if (dense) {
      ctx.fillRect(x - devicePixelRatio / 2, bbox.top, devicePixelRatio, kind === "done" ? 1.6 * size : 0.7 * size);
    } else if (kind === "done") {
      ctx.moveTo(x, y - size);
      ctx.lineTo(x + size, y);
      ctx.lineTo(x, y + size);
      ctx.lineTo(x - size, y);
      ctx.fill();
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x - devicePixelRatio / 2, y, devicePixelRatio, bbox.height - size);
      ctx.globalAlpha = 1;
    } else {
      ctx.moveTo(x, y + size);
      ctx.lineTo(x + size, y - size);
      ctx.lineTo(x - size, y - size);
      ctx.closePath();
      ctx.stroke();
    }
  }
  ctx.restore();
}

/** A chart as wide as its container; redrawn when the container or the theme changes. */
export function chart(options: Chart): HTMLElement {
  const peaks = options.clip ? rarePeaks(options.lines.map((l) => l.values)) : undefined;
  const host = h("div", {
    class: "chart",
    role: "img",
    tabindex: 0,
    "aria-label": `${options.title}: ${summary(options)}. Left and right move the cursor.`,
  });
  const figure = h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      options.title,
      peaks ? h("span", { class: "quiet" }, ` (peaks up to ${options.format(peaks.most)} are cut off)`) : null
    ),
    host
  );
  let plot: uPlot | undefined;
  const draw = () => {
    const width = host.clientWidth;
    if (width < 50) return;
    plot?.destroy();
    const text = themed("--quiet"),
      grid = themed("--grid"),
      font = "12px system-ui, sans-serif";
    plot = new uPlot(
      {
        width,
        height: options.height ?? 190,
        scales: {
          x: { time: false, range: (_, low, high) => domainOf(options.domain ?? [low, high]) },
          y: { range: (_, low, high) => rangeOf(options, low, peaks ? 1.25 * peaks.usual : high) },
        },
        legend: { live: true },
        cursor: { y: false, points: { size: 6 } },
        axes: [
          {
            stroke: text,
            grid: { stroke: grid, width: 1 },
            ticks: { stroke: grid, size: 4 },
            font,
            size: 26,
            label: "step",
            labelFont: font,
            labelSize: 18,
            labelGap: 0,
            values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) ? t.toLocaleString("en") : "")),
          },
          {
            stroke: text,
            grid: { stroke: grid, width: 1 },
            ticks: { stroke: grid },
            font,
            size: (_, labels) => Math.max(68, ...(labels ?? []).map((label) => 7 * label.length + 18)),
            values: (_, ticks) => withoutZeros(ticks.map((t) => options.format(t))),
          },
        ],
        series: [
          { label: "step", value: (_, v) => (v === null || v === undefined ? "" : Math.round(v).toLocaleString("en")) },
          ...options.lines.map((line): uPlot.Series => ({
            label: line.title,
            stroke: line.colour,
            width: line.width ?? 1.5,
            dash: DASHES[line.dash ?? 0],
            points: { show: line.points ?? options.steps.length === 1, size: 5 },
            paths: line.stepped ? uPlot.paths.stepped!({ align: 1 }) : undefined,
            value: (_, v) => (v === null || v === undefined ? "" : options.format(v)),
          })),
        ],
        bands: (options.bands ?? []).map(([upper, lower]) => ({
          series: [upper + 1, lower + 1],
          fill: themed("--band"),
        })),
        hooks: { draw: [(u) => drawMarks(u, options.marks ?? [])] },
      },
      [options.steps, ...options.lines.map((l) => l.values)] as uPlot.AlignedData,
      host
    );
    host
      .querySelectorAll(".u-series .u-marker")
      .forEach((marker, i) => i > 0 && marker.replaceChildren(sample(options.lines[i - 1])));
    plot.over.addEventListener("click", () => pick());
  };
  const pick = () => plot?.cursor.idx != null && options.onStep?.(options.steps[plot.cursor.idx]);
  host.addEventListener("keydown", (event) => {
    if (event.key === "Enter") return void pick();
    const last = options.steps.length - 1,
      at = plot?.cursor.idx,
      to = (
        { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last } as Record<string, number>
      )[event.key];
    if (!plot || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    plot.setCursor({ left: plot.valToPos(options.steps[Math.min(last, Math.max(0, to))], "x"), top: 1 });
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(host);
  (figure as HTMLElement & { redraw?: () => void }).redraw = draw;
  return figure;
}

function domainOf([first, last]: [number | null, number | null]): [number, number] {
  const from = first ?? 0,
    to = last ?? from;
  return from < to ? [from, to] : [from - 0.5, from + 0.5];
}

/** With fewer steps, one step is not rare. */
const FEW = 8;

/** The largest value, and a bound that nearly all steps stay below; undefined unless a few steps exceed it by far. */
function rarePeaks(lines: (number | null)[][]): { most: number; usual: number } | undefined {
  const ends = lines.map((values) => {
    const known = values.filter((v): v is number => v !== null).sort((a, b) => a - b),
      last = known.length - 1;
    return { most: known[last] ?? 0, usual: known[known.length < FEW ? last : Math.floor(0.97 * last)] ?? 0 };
  });
  const most = Math.max(...ends.map((e) => e.most)),
    usual = Math.max(...ends.map((e) => e.usual));
  return usual > 0 && most > 3 * usual ? { most, usual } : undefined;
}

/** "50 %", not "50.0 %", if all labels of an axis are integers. */
function withoutZeros(labels: string[]): string[] {
  return labels.every((label) => /^-?\d+\.0 %$/.test(label)) ? labels.map((label) => label.replace(".0", "")) : labels;
}

/** A piece of a line for the legend, with its dashes, because colours alone do not distinguish lines. */
function sample({ colour, dash, width }: Line): SVGElement {
  return svg(
    "svg",
    { width: 28, height: 8 },
    svg("line", {
      x1: 0,
      x2: 28,
      y1: 4,
      y2: 4,
      stroke: colour,
      "stroke-width": width ?? 1.5,
      "stroke-dasharray": DASHES[dash ?? 0].join(" "),
    })
  );
}

function rangeOf({ range, least }: Chart, low: number | null, high: number | null): [number, number] {
  const from = range ? range[0] : Math.min(0, low ?? 0),
    to = range?.[1] ?? Math.max(high ?? 0, least ?? 0, from + 1e-12);
  return [from, to === from ? from + 1 : range?.[1] != null ? to : from + (to - from) * 1.08];
}

/** A description of the chart for screen readers. */
function summary({ lines, format }: Chart): string {
  return lines
    .map(({ title, values }) => {
      const known = values.filter((v): v is number => v !== null);
      if (known.length === 0) return `${title} is not known`;
      const most = known.reduce((a, b) => Math.max(a, b));
      return `${title} from ${format(known[0])} to ${format(known[known.length - 1])}, at most ${format(most)}`;
    })
    .join("; ");
}

/** Draws every chart and heat map below an element immediately, for printing. */
export function redraw(root: ParentNode): void {
  for (const drawing of root.querySelectorAll("figure, .heatmap"))
    (drawing as HTMLElement & { redraw?: () => void }).redraw?.();
}

/** A sparkline over all steps: the mean as a line, the largest as a band behind it. */
export function spark(mean: Float32Array, max: Float32Array, width = 120, height = 24): HTMLCanvasElement {
  const canvas = h("canvas", {
    class: "spark",
    width: width * 2,
    height: height * 2,
    style: `width:${width}px;height:${height}px`,
    "aria-hidden": "true",
  });
  const ctx = canvas.getContext("2d");
  if (!ctx || mean.length === 0) return canvas;
  const top = Math.max(...max, 1e-300),
    y = (v: number) => 2 * (height - 1) - (v / top) * (2 * height - 4);
  const x = (i: number) => (mean.length > 1 ? (i / (mean.length - 1)) * (2 * width - 2) + 1 : width);
  ctx.fillStyle = themed("--band");
  ctx.beginPath();
  ctx.moveTo(x(0), 2 * height);
  max.forEach((v, i) => ctx.lineTo(x(i), y(v)));
  ctx.lineTo(x(mean.length - 1), 2 * height);
  ctx.fill();
  ctx.strokeStyle = themed("--line");
  ctx.lineWidth = 2.5;
  ctx.beginPath();
  mean.forEach((v, i) => (i === 0 ? ctx.moveTo(x(i), y(v)) : ctx.lineTo(x(i), y(v))));
  if (mean.length === 1) ctx.arc(x(0), y(mean[0]), 2, 0, 7);
  ctx.stroke();
  return canvas;
}
