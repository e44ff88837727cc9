// The run, its balance, its rebalances, and the cost of measuring.

import { chart, Mark } from "../charts";
import { h, heading, unbroken } from "../dom";
import { bytes, count, middle, percent, seconds, amount } from "../format";
import { lossOf } from "../loss";
import { Run, Window } from "../model";
import { category } from "../palette";
import { State, Viewport, WHOLE } from "../state";

/** The share of time that ideal balance would save, and the time it is a share of. */
export function idealSaving(run: Run): { share: number; of: "time" | "path" } | undefined {
  const { criticalPath, meanPath } = run.load, saved = criticalPath - meanPath;
  if (!(criticalPath > 0)) return undefined;
  if (run.info.load_metric === "time" && run.info.wall_seconds > 0) return { share: Math.min(1, saved / run.info.wall_seconds), of: "time" };
  return { share: saved / criticalPath, of: "path" };
}

function verdict(run: Run): HTMLElement {
  const saving = idealSaving(run), done = run.info.windows.filter((w) => w.rebalanced).length, wanted = run.info.windows.filter((w) => w.rebalance).length;
  const { nrmse } = run.info;
  const facts = [
    `critical path ${amount(run.load.criticalPath, run.unit(run.loadMetric), 4)}, ideal ${amount(run.load.meanPath, run.unit(run.loadMetric), 4)}${run.load.exact ? "" : ` (from the compressed history${nrmse ? `, nrmse ${percent(nrmse)}` : ""}: peaks are lower than they were)`}`,
    done > 0 ? count(done, "rebalance") : wanted > 0 ? `${wanted} of ${run.info.windows.length} hints recommended a rebalance; none was done` : "no rebalance was recommended",
  ];
  return h("div", { class: "verdict" },
    h("p", { class: "lead", id: "ideal" }, run.info.ranks === 1 && saving ? "One rank: there is nothing to balance." : saving ? (saving.of === "time" ? `Ideal balance would run this in ${percent(saving.share)} less time.` : `Ideal balance would shorten the critical path by ${percent(saving.share)}.`) : "There is no load to balance."),
    saving ? h("p", { class: "quiet" }, facts.join("; "), ".") : null);
}

/** The first things to look at: how unbalanced, which region, which rank, when. */
function findings(state: State): HTMLElement | null {
  const { run } = state, loss = lossOf(run), unit = run.unit(run.loadMetric), { ranks, steps } = run.info;
  if (!loss) return null;
  const link = (text: string, title: string, act: () => void) => h("button", { class: "link", title, onclick: act }, unbroken(text));
  const show = (viewport: Viewport, region?: number) => {
    state.viewport = viewport;
    state.showLoad(region === undefined ? [] : [region], run.loadMetric);
  };
  const [region, second] = loss.regions, [rank, ...others] = loss.ranks, [first, last] = loss.stretch.what, name = (i: number) => middle(run.short(run.info.regions[i].name), 40);
  const near = Math.max(8, ranks / 40) / ranks, at = (rank.what + 0.5) / ranks, clamp = (v: number) => Math.min(1, Math.max(0, v));
  const entry = (what: string, value: string | HTMLElement, more: string) => h("div", {}, h("dt", {}, what), h("dd", {}, value), h("dd", { class: "quiet" }, unbroken(more)));
  return h("dl", { class: "findings", id: "findings" },
    entry("how unbalanced", percent(run.load.criticalPath / run.load.meanPath - 1), `largest load over mean load, less one; ${amount(run.load.criticalPath - run.load.meanPath, unit)} of ${run.info.load_metric} is lost to the slowest ranks`),
    region ? entry("which region", link(name(region.what), `shows its load: ${run.info.regions[region.what].name}`, () => show(WHOLE, region.what)), `the most unbalanced where ${percent(region.share)} of the loss arises${second ? `; then ${name(second.what)}, ${percent(second.share)}` : ""}`) : "",
    entry("which rank", link(`rank ${rank.what.toLocaleString("en")}`, "shows its load, and its neighbours'", () => show({ r0: clamp(at - near), r1: clamp(at + near), c0: 0, c1: 1 })), `the slowest in the steps where ${percent(rank.share)} of the loss arises${others.length > 0 ? `; then ${others.slice(0, 3).map((o) => `${o.what.toLocaleString("en")} (${percent(o.share)})`).join(", ")}` : ""}`),
    steps > 1 ? entry("when", link(`steps ${first.toLocaleString("en")} to ${last.toLocaleString("en")}`, "shows these steps", () => show({ r0: 0, r1: 1, c0: first / steps, c1: (last + 1) / steps })), `${percent(loss.stretch.share)} of the loss, in ${percent(loss.stretch.ofSteps)} of the steps`) : "");
}

function facts(run: Run): HTMLElement {
  const { info } = run, rankSeconds = info.wall_seconds * info.ranks, held = info.own_bytes_per_node.reduce((a, b) => a + b, 0);
  const entries: [string, string, string?][] = [
    ["ranks", info.ranks.toLocaleString("en"), `on ${count(info.nodes, "node")}`],
    ["steps", info.steps.toLocaleString("en"), `windows of ${info.window}, hints ${info.hint_lag} later`],
    ["elapsed", seconds(info.wall_seconds), info.steps > 0 ? `${seconds(info.wall_seconds / info.steps)} a step` : undefined],
    ["effort itself", rankSeconds > 0 ? percent(info.own_cpu_seconds / rankSeconds) : seconds(info.own_cpu_seconds), `${seconds(info.own_cpu_seconds)} CPU in the background, ${bytes(held)} held`],
    ["snapshot", bytes(info.bytes), info.nrmse === null ? "no history" : `history within an nrmse of ${percent(info.nrmse)}`],
  ];
  return h("dl", { class: "facts" }, entries.map(([name, value, more]) => h("div", {}, h("dt", {}, name), h("dd", {}, value), more ? h("dd", { class: "quiet" }, more) : null)));
}

export function marksOf(run: Run): Mark[] {
  return run.info.windows.flatMap((w): Mark[] => (w.rebalanced ? [{ step: w.rebalanced_at ?? w.last + 1, kind: "done" }] : w.rebalance ? [{ step: w.last + 1, kind: "wanted" }] : []));
}

/** The range of steps of all charts. */
export function domainOf({ info }: Run): [number, number] {
  return [0, Math.max(0, info.steps - 1)];
}

/** Imbalance per bin of steps, largest / mean - 1. */
export function imbalanceOf(run: Run): { steps: number[]; values: number[] } {
  const { mean, max, stepsPerBin } = run.load;
  return { steps: Array.from(mean, (_, i) => i * stepsPerBin), values: Array.from(mean, (m, i) => (m > 0 ? max[i] / m - 1 : 0)) };
}

function charts(state: State): HTMLElement[] {
  const { run } = state, { windows } = run.info, marks = marksOf(run), out: HTMLElement[] = [];
  const centres = windows.map((w) => (w.first + w.last) / 2), domain = domainOf(run);
  const zoom = (step: number) => {
    const share = step / Math.max(1, run.info.steps), half = 0.05;
    state.setViewport({ r0: 0, r1: 1, c0: Math.max(0, share - half), c1: Math.min(1, share + half) });
    state.go("load");
  };
  if (run.load.mean.length > 0) {
    const { steps, values } = imbalanceOf(run);
    out.push(chart({
      title: "Imbalance: largest load over mean load, less one", steps, domain, clip: true, format: percent, marks, onStep: zoom, least: 0.01,
      lines: [{ title: run.load.stepsPerBin > 1 ? `mean of ${run.load.stepsPerBin} steps` : "imbalance", values, colour: category(0) }],
    }));
    const unit = run.unit(run.loadMetric);
    out.push(chart({
      title: `Load of a step, ${run.info.load_metric}`, steps, domain, clip: true, format: (v) => amount(v, unit), marks, onStep: zoom,
      lines: [
        { title: "largest rank", values: Array.from(run.load.max), colour: category(5) },
        { title: "mean of ranks", values: Array.from(run.load.mean), colour: category(0), dash: 1 },
      ],
    }));
  }
  const known = (pick: (w: Window) => number | null) => windows.map(pick);
  if (windows.some((w) => w.load_balance !== null || w.parallel_efficiency !== null)) {
    out.push(chart({
      title: "Efficiencies (POP), per window", steps: centres, domain, format: percent, marks, range: [0, 1],
      lines: [
        { title: "load balance", values: known((w) => w.load_balance), colour: category(0) },
        { title: "communication", values: known((w) => w.communication_efficiency), colour: category(1), dash: 1 },
        { title: "parallel", values: known((w) => w.parallel_efficiency), colour: category(2), dash: 2, width: 2.5 },
      ].filter((line) => line.values.some((v) => v !== null)),
    }));
  }
  if (windows.some((w) => w.prediction_error !== null)) {
    out.push(chart({
      title: "Error of the predicted loads, relative to their mean", steps: centres, domain, format: percent, marks, least: 0.01,
      lines: [{ title: "error", values: known((w) => w.prediction_error), colour: category(3), points: windows.some((w) => w.prediction_error === null) }],
    }));
  }
  return out;
}

function rebalances(run: Run): HTMLElement | null {
  const rows = run.info.windows.map((w, i) => ({ w, i })).filter(({ w }) => w.rebalance || w.rebalanced);
  if (rows.length === 0) return null;
  return h("section", {},
    heading("Rebalances", "Windows whose hint recommended a rebalance, or after which the host rebalanced."),
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ["window", "recommended", "done at step", "price", "gain per step", "imbalance before", "after", "why"].map((t, i) => h("th", { class: i > 1 && i < 7 ? "number" : "" }, t)))),
      rebalanceRows(run, rows))));
}

const FIRST_REBALANCES = 10;

/** One line per rebalance: the first few, and the others on request. */
function rebalanceRows(run: Run, rows: { w: Window; i: number }[]): HTMLElement {
  const after = (i: number, at: number) => run.info.windows.slice(i + 1).find((w) => w.first > at)?.imbalance;
  const row = ({ w, i }: { w: Window; i: number }) => {
    const later = w.rebalanced ? after(i, w.rebalanced_at ?? w.last) : undefined;
    return h("tr", {}, h("td", {}, `${w.first}..${w.last}`), h("td", {}, w.rebalance ? "yes" : ""), h("td", { class: "number" }, w.rebalanced ? (w.rebalanced_at ?? "yes").toLocaleString("en") : "not done"),
      h("td", { class: "number" }, seconds(w.rebalance_cost)), h("td", { class: "number" }, seconds(w.gain_per_step)), h("td", { class: "number" }, percent(w.imbalance)),
      h("td", { class: "number" }, later === undefined ? "" : percent(later)), h("td", {}, w.advice.map((a) => a.replaceAll("_", " ")).join(", ")));
  };
  const body = h("tbody", {}, rows.slice(0, FIRST_REBALANCES).map(row));
  if (rows.length > FIRST_REBALANCES) {
    const more = h("tr", {}, h("td", { colspan: 8 }, h("button", { class: "link", onclick: () => more.replaceWith(...rows.slice(FIRST_REBALANCES).map(row)) }, `${rows.length - FIRST_REBALANCES} more`)));
    body.append(more);
  }
  return body;
}

function mostExpensive(state: State): HTMLElement | null {
  const { run } = state, metric = run.loadMetric;
  const rows = run.info.regions.map((r, i) => ({ r, i, n: run.numbers(i, metric) })).filter((row) => row.n !== undefined).sort((a, b) => b.n!.total - a.n!.total);
  const all = rows.reduce((sum, row) => sum + row.n!.total, 0);
  if (all <= 0) return null;
  const most = rows[0].n!.total;
  const several = new Set(run.info.regions.map((r) => r.phase)).size > 1;
  return h("section", {},
    heading("Where it goes", `Share of all ${run.info.metrics[metric]}, the most expensive regions first.`),
    h("ul", { class: "bars" }, rows.slice(0, 8).map(({ r, i, n }) =>
      h("li", {}, h("button", { class: "link name", title: r.name, onclick: () => state.showLoad([i], metric) }, r.phase && several ? `${r.phase}: ` : "", middle(run.short(r.name), 48)), h("span", { class: `kind ${r.kind}` }, r.kind),
        h("span", { class: "bar" }, h("span", { style: `width:${(100 * n!.total) / most}%` })), h("span", { class: "number" }, percent(n!.total / all)), h("span", { class: "number quiet" }, `imbalance ${percent(n!.imbalance)}${run.info.ranks > 1 ? `, rank ${n!.max_rank.toLocaleString("en")}` : ""}`)))),
    rows.length > 8 ? h("p", {}, h("button", { class: "link", onclick: () => state.go("regions") }, `all ${rows.length} regions`)) : null);
}

export function overview(state: State): HTMLElement {
  const { run } = state, { info } = run;
  const notes = [...info.notes];
  if (info.merged_steps > 0) notes.push(`${count(info.merged_steps, "step")} merged into later ones, because a buffer was full`);
  if (info.lost_snapshots > 0) notes.push(`${count(info.lost_snapshots, "earlier snapshot")} could not be written`);
  if (run.load.level > 0) notes.push(`steps and critical path are taken from an approximation that is ${2 ** run.load.level} times coarser`);
  if (run.exactLeftOut > 0) notes.push(`exact values of ${run.exactLeftOut} region${run.exactLeftOut === 1 ? "" : "s"} (by metric) are only in the snapshot: the page would become too large`);
  if (info.steps === 0) notes.push("The run ended before its first step.");
  return h("div", {},
    verdict(run), findings(state), facts(run), h("div", { class: "charts" }, charts(state)),
    marksOf(run).length > 0 ? h("p", { class: "quiet legend-marks" }, "\u25c6 rebalanced   \u25bd recommended, not done   (where there are many: long and short strokes along the upper edge)") : null,
    mostExpensive(state), rebalances(run),
    notes.length > 0 ? h("section", {}, heading("Notes"), h("ul", {}, notes.map((n) => h("li", {}, n)))) : null);
}
