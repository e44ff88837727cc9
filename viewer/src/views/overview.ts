// The run, its balance, its rebalances, and the cost of measuring.

import { chart } from "../charts";
import { h, heading } from "../dom";
import { bytes, count, middle, percent, seconds, amount } from "../format";
import { Window } from "../model";
import { category } from "../palette";
import { Run } from "../run";
import { State } from "../state";
import { domainOf, imbalanceOf, marksOf } from "../timeline";
import { findings, verdict } from "./findings";
import { rebalances } from "./rebalances";

function facts(run: Run): HTMLElement {
  const { info } = run,
    held = info.own_bytes_per_node.reduce((a, b) => a + b, 0);
  const entries: [string, string, string?][] = [
    ["ranks", info.ranks.toLocaleString("en"), `on ${count(info.nodes, "node")}`],
    [
      "steps",
      info.steps.toLocaleString("en"),
      info.window > 0
        ? `windows of ${count(info.window, "step")}, hints ${count(info.hint_lag, "step")} later`
        : "hints as often as they pay",
    ],
    [
      "elapsed",
      seconds(info.wall_seconds),
      info.steps > 0 ? `${seconds(info.wall_seconds / info.steps)} per step` : undefined,
    ],
    [
      "effort itself",
      info.own_cpu_share === null ? seconds(info.own_cpu_seconds) : percent(info.own_cpu_share),
      (info.own_cpu_share === null
        ? "of CPU time in the background, "
        : `of what the ranks computed: ${seconds(info.own_cpu_seconds)} of CPU time in the background, `) +
        `${bytes(held)} of memory`,
    ],
    [
      "snapshot",
      bytes(info.bytes),
      info.nrmse === null ? "no history" : `history within an nrmse of ${percent(info.nrmse)}`,
    ],
  ];
  return h(
    "dl",
    { class: "facts" },
    entries.map(([name, value, more]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value), more ? h("dd", { class: "quiet" }, more) : null)
    )
  );
}

function charts(state: State): HTMLElement[] {
  const { run } = state,
    { windows } = run.info,
    marks = marksOf(run),
    out: HTMLElement[] = [];
  const centres = windows.map((w) => (w.first + w.last) / 2),
    domain = domainOf(run);
  const zoom = (step: number) => {
    const share = step / Math.max(1, run.info.steps),
      half = 0.05;
    state.setViewport({ r0: 0, r1: 1, c0: Math.max(0, share - half), c1: Math.min(1, share + half) });
    state.go("load");
  };
  if (run.load.max.some((load) => load > 0)) {
    const { steps, values } = imbalanceOf(run);
    out.push(
      chart({
        title: "Imbalance: largest load over mean load, minus one",
        steps,
        domain,
        clip: true,
        format: percent,
        marks,
        onStep: zoom,
        least: 0.01,
        lines: [
          {
            title: run.load.stepsPerBin > 1 ? `mean of ${run.load.stepsPerBin} steps` : "imbalance",
            values,
            colour: category(0),
          },
        ],
      })
    );
    const unit = run.unit(run.loadMetric);
    out.push(
      chart({
        title: `Load per step, ${run.info.load_metric}`,
        steps,
        domain,
        clip: true,
        format: (v) => amount(v, unit),
        marks,
        onStep: zoom,
        lines: [
          { title: "largest rank", values: Array.from(run.load.max), colour: category(5) },
          { title: "mean of ranks", values: Array.from(run.load.mean), colour: category(0), dash: 1 },
        ],
      })
    );
  }
  const known = (pick: (w: Window) => number | null) => windows.map(pick);
  if (windows.some((w) => w.load_balance !== null || w.parallel_efficiency !== null)) {
    out.push(
      chart({
        title: "Efficiencies (POP), per window",
        steps: centres,
        domain,
        format: percent,
        marks,
        range: [0, 1],
        lines: [
          { title: "load balance", values: known((w) => w.load_balance), colour: category(0) },
          { title: "communication", values: known((w) => w.communication_efficiency), colour: category(1), dash: 1 },
          { title: "parallel", values: known((w) => w.parallel_efficiency), colour: category(2), dash: 2, width: 2.5 },
        ].filter((line) => line.values.some((v) => v !== null)),
      })
    );
  }
  if (windows.some((w) => w.prediction_error !== null)) {
    out.push(
      chart({
        title: "Error of the predicted loads, relative to their mean",
        steps: centres,
        domain,
        format: percent,
        marks,
        least: 0.01,
        lines: [
          {
            title: "error",
            values: known((w) => w.prediction_error),
            colour: category(3),
            points: windows.some((w) => w.prediction_error === null),
          },
        ],
      })
    );
  }
  return out;
}

function mostExpensive(state: State): HTMLElement | null {
  const { run } = state,
    metric = run.loadMetric;
  const rows = run.info.regions
    .map((r, i) => ({ r, i, n: run.numbers(i, metric) }))
    .filter((row) => row.n !== undefined)
    .sort((a, b) => b.n!.total - a.n!.total);
  const all = rows.reduce((sum, row) => sum + row.n!.total, 0);
  if (all <= 0) return null;
  const most = rows[0].n!.total;
  const several = new Set(run.info.regions.map((r) => r.phase)).size > 1;
  return h(
    "section",
    {},
    heading("Most expensive regions", `Their shares of all ${run.info.metrics[metric]}.`),
    h(
      "ul",
      { class: "bars" },
      rows
        .slice(0, 8)
        .map(({ r, i, n }) =>
          h(
            "li",
            {},
            h(
              "button",
              { class: "link name", title: r.name, onclick: () => state.showLoad([i], metric) },
              r.phase && several ? `${r.phase}: ` : "",
              middle(run.short(r.name), 48)
            ),
            h("span", { class: `kind ${r.kind}` }, r.kind),
            h("span", { class: "bar" }, h("span", { style: `width:${(100 * n!.total) / most}%` })),
            h("span", { class: "number" }, percent(n!.total / all)),
            h(
              "span",
              { class: "number quiet" },
              `imbalance ${percent(n!.imbalance)}`,
              run.info.ranks > 1 ? `, rank ${n!.max_rank.toLocaleString("en")}` : ""
            )
          )
        )
    ),
    rows.length > 8
      ? h("p", {}, h("button", { class: "link", onclick: () => state.go("regions") }, `all ${rows.length} regions`))
      : null
  );
}

export function overview(state: State): HTMLElement {
  const { run } = state,
    { info } = run;
  const notes = [...info.notes];
  if (info.merged_steps > 0)
    notes.push(`${count(info.merged_steps, "step")} merged into later ones because a buffer was full`);
  if (info.lost_snapshots > 0) notes.push(`${count(info.lost_snapshots, "earlier snapshot")} could not be written`);
  if (run.load.level > 0)
    notes.push(`steps and critical path come from a ${2 ** run.load.level} times coarser approximation`);
  if (run.exactLeftOut > 0)
    notes.push(
      `exact values of ${count(run.exactLeftOut, "region")} (counted per metric) are only in the snapshot, ` +
        "because they would make the page too large"
    );
  if (info.steps === 0) notes.push("The run ended before its first step.");
  return h(
    "div",
    {},
    verdict(run),
    findings(state),
    facts(run),
    h("div", { class: "charts" }, charts(state)),
    marksOf(run).length > 0
      ? h(
          "p",
          { class: "quiet legend-marks" },
          "\u25c6 rebalanced   \u25bd recommended, not done   ",
          "(if there are many: long and short strokes along the upper edge)"
        )
      : null,
    mostExpensive(state),
    rebalances(run),
    notes.length > 0
      ? h(
          "section",
          {},
          heading("Notes"),
          h(
            "ul",
            {},
            notes.map((n) => h("li", {}, n))
          )
        )
      : null
  );
}
