// Runs side by side: what got better and worse, also with different numbers of ranks.

import { shortName } from "../callpath";
import { chart } from "../charts";
import { h, heading, select } from "../dom";
import { amount, change, percent, seconds } from "../format";
import { Run } from "../model";
import { category } from "../palette";
import { State } from "../state";
import { idealSaving, imbalanceOf } from "./overview";

export function compare(state: State): HTMLElement {
  const { runs } = state.report;
  let a = 0, b = 1;
  const host = h("div");
  const draw = () => host.replaceChildren(headline(runs[a], runs[b]), curves(runs), byRegion(state, runs[a], runs[b]));
  const options = runs.map((r, i) => ({ value: String(i), title: r.label === runs[(i + 1) % runs.length].label ? r.file : r.label }));
  draw();
  return h("div", {}, h("div", { class: "toolbar" },
    select("before", options, "0", (v) => {
      a = Number(v);
      draw();
    }), select("after", options, "1", (v) => {
      b = Number(v);
      draw();
    })), host);
}

function headline(a: Run, b: Run): HTMLElement {
  const unit = a.unit(a.loadMetric), rows: [string, number | undefined, number | undefined, (v: number) => string][] = [
    ["ranks", a.info.ranks, b.info.ranks, String], ["steps", a.info.steps, b.info.steps, String], ["elapsed", a.info.wall_seconds, b.info.wall_seconds, seconds],
    ["elapsed per step", a.info.wall_seconds / a.info.steps, b.info.wall_seconds / b.info.steps, seconds],
    ["critical path", a.load.criticalPath, b.load.criticalPath, (v) => amount(v, unit)], ["work of all ranks", a.load.meanPath * a.info.ranks, b.load.meanPath * b.info.ranks, (v) => amount(v, unit)],
    ["imbalance", a.load.criticalPath / a.load.meanPath - 1, b.load.criticalPath / b.load.meanPath - 1, percent], ["ideal balance would save", idealSaving(a)?.share, idealSaving(b)?.share, percent],
    ["rebalances", a.info.windows.filter((w) => w.rebalanced).length, b.info.windows.filter((w) => w.rebalanced).length, String],
  ];
  return h("section", {}, heading("Runs"), h("table", {}, h("thead", {}, h("tr", {}, h("th"), h("th", { class: "number" }, a.label), h("th", { class: "number" }, b.label), h("th", { class: "number" }, "change"))),
    h("tbody", {}, rows.map(([name, x, y, text]) => h("tr", {}, h("td", {}, name), h("td", { class: "number" }, known(x, text)), h("td", { class: "number" }, known(y, text)),
      h("td", { class: "number" }, x && y !== undefined && Number.isFinite(y / x) ? change(y / x - 1) : ""))))));
}

const known = (v: number | undefined, text: (v: number) => string) => (v === undefined || !Number.isFinite(v) ? "-" : text(v));

function curves(runs: Run[]): HTMLElement {
  const steps = [...new Set(runs.flatMap((r) => imbalanceOf(r).steps))].sort((x, y) => x - y);
  return chart({ title: "Imbalance over steps", steps, format: percent, height: 220, lines: runs.map((run, i) => {
    const { steps: own, values } = imbalanceOf(run), at = new Map(own.map((s, k) => [s, values[k]]));
    return { title: `${i + 1}: ${run.label}`, values: steps.map((s) => at.get(s) ?? null), colour: category(i % 7), dash: i % 4 };
  }) });
}

interface Row {
  name: string;
  raw: string;
  x?: { mean: number; imbalance: number };
  y?: { mean: number; imbalance: number };
}

/** Per region the mean per rank and step, and the imbalance; largest changes of the whole first. */
function byRegion(state: State, a: Run, b: Run): HTMLElement {
  const key = (run: Run, i: number) => `${run.info.regions[i].phase}\0${run.info.regions[i].name}`;
  const of = (run: Run, i: number) => {
    const n = run.numbers(i, run.loadMetric);
    return n && { mean: n.total / Math.max(1, run.info.steps), imbalance: n.imbalance };
  };
  const rows = new Map<string, Row>();
  a.info.regions.forEach((r, i) => rows.set(key(a, i), { name: `${r.phase ? `${r.phase}: ` : ""}${shortName(state.report.head, r.name)}`, raw: r.name, x: of(a, i) }));
  b.info.regions.forEach((r, i) => rows.set(key(b, i), { ...(rows.get(key(b, i)) ?? { name: `${r.phase ? `${r.phase}: ` : ""}${shortName(state.report.head, r.name)}`, raw: r.name }), y: of(b, i) }));
  const delta = (row: Row) => (row.y?.mean ?? 0) - (row.x?.mean ?? 0), unit = a.unit(a.loadMetric);
  const sorted = [...rows.values()].sort((p, q) => Math.abs(delta(q)) - Math.abs(delta(p)));
  return h("section", {}, heading("Regions", "Work of all ranks per step, so that runs on different numbers of ranks compare; the largest changes first."), h("div", { class: "scroll" }, h("table", { class: "compare" },
    h("thead", {}, h("tr", {}, h("th", {}, "region"), h("th", { class: "number" }, "before"), h("th", { class: "number" }, "after"), h("th", { class: "number" }, "change"), h("th", { class: "number" }, "share"), h("th", { class: "number" }, "imbalance before"), h("th", { class: "number" }, "after"), h("th", {}, ""))),
    h("tbody", {}, sorted.slice(0, 400).map((row) => h("tr", {}, h("td", { class: "name", title: row.raw }, row.name), h("td", { class: "number" }, row.x ? amount(row.x.mean, unit) : "-"), h("td", { class: "number" }, row.y ? amount(row.y.mean, unit) : "-"),
      h("td", { class: "number" }, row.x && row.y ? amountChange(delta(row), unit) : ""), h("td", { class: "number" }, row.x && row.y && row.x.mean > 0 ? change(row.y.mean / row.x.mean - 1) : ""),
      h("td", { class: "number" }, row.x ? percent(row.x.imbalance) : "-"), h("td", { class: "number" }, row.y ? percent(row.y.imbalance) : "-"), h("td", {}, verdict(row)))))),
    sorted.length > 400 ? h("p", { class: "quiet" }, `and ${sorted.length - 400} regions with smaller changes`) : null));
}

const amountChange = (v: number, unit: string) => `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${amount(Math.abs(v), unit)}`;

function verdict({ x, y }: Row): string {
  if (!x) return "new";
  if (!y) return "gone";
  const share = x.mean > 0 ? y.mean / x.mean - 1 : 0;
  const work = share < -0.05 ? "\u25be less work" : share > 0.05 ? "\u25b4 more work" : "", balance = y.imbalance - x.imbalance < -0.05 ? "better balanced" : y.imbalance - x.imbalance > 0.05 ? "worse balanced" : "";
  return [work, balance].filter(Boolean).join(", ");
}
