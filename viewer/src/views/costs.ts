// Costs of units of work, and slow nodes.

import { chart } from "../charts";
import { empty, h, heading } from "../dom";
import { amount, count, percent, seconds } from "../format";
import { category } from "../palette";
import { Run } from "../run";
import { State } from "../state";
import { domainOf, marksOf } from "../timeline";

export function costs(state: State): HTMLElement {
  const { run } = state;
  return h("div", {}, units(run), overTime(run), speeds(run), loadOfNodes(run));
}

function units(run: Run): HTMLElement {
  const { unit_costs: fitted } = run.info;
  if (fitted.length === 0)
    return h(
      "section",
      {},
      heading("Cost of a unit of work"),
      empty("The application reported no units of work (effort_work), so there are no costs.")
    );
  return h(
    "section",
    {},
    heading("Cost of a unit of work", "Fitted during the run; the error is the standard error of the fit."),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "unit"),
          h("th", { class: "number" }, "per unit"),
          h("th", { class: "number" }, "standard error"),
          h("th", { class: "number" }, "relative")
        )
      ),
      h(
        "tbody",
        {},
        fitted.map((u) =>
          h(
            "tr",
            {},
            h("td", {}, u.name),
            h("td", { class: "number" }, seconds(u.seconds_per_unit)),
            h("td", { class: "number" }, seconds(u.error)),
            h(
              "td",
              { class: "number" },
              u.seconds_per_unit && u.error !== null ? percent(u.error / u.seconds_per_unit) : "-"
            )
          )
        )
      )
    )
  );
}

/** The costs of units by window, if the snapshot has them. */
function overTime(run: Run): HTMLElement | null {
  const { windows } = run.info,
    names = [...new Set(windows.flatMap((w) => (w.unit_costs ?? []).map((u) => u.name)))];
  if (names.length === 0) return null;
  const steps = windows.map((w) => (w.first + w.last) / 2);
  return h(
    "section",
    {},
    heading("Over time", "With a band of one standard error on either side."),
    h(
      "div",
      { class: "charts" },
      names.map((name, i) => {
        const known = windows.map((w) => w.unit_costs?.find((u) => u.name === name)),
          value = known.map((u) => u?.seconds_per_unit ?? null);
        const off = (sign: number) =>
          known.map((u) =>
            u?.seconds_per_unit != null && u.error != null ? u.seconds_per_unit + sign * u.error : null
          );
        return chart({
          title: `Seconds per unit of ${name}`,
          steps,
          domain: domainOf(run),
          format: (v) => seconds(v),
          marks: marksOf(run),
          bands: [[0, 1]],
          lines: [
            { title: "+ standard error", values: off(1), colour: category(7), dash: 2, width: 1 },
            { title: "\u2212 standard error", values: off(-1), colour: category(7), dash: 2, width: 1 },
            { title: "cost", values: value, colour: category(i % 7), width: 2 },
          ],
        });
      })
    )
  );
}

const MOST_NODES = 40,
  SLOW = 1.05;

/** Nodes and ranks by their time for a unit of work. */
function speeds(run: Run): HTMLElement | null {
  const { speeds: runs, ranks, nodes } = run.info;
  if (runs.length === 0) return null;
  const time = new Float64Array(ranks);
  let at = 0;
  for (const s of runs) {
    time.fill(s.time, at, at + s.ranks);
    at += s.ranks;
  }
  const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 1;
  const list = Array.from({ length: nodes }, (_, node) => {
    const its = run.ranksOfNode(node);
    return { node, ranks: its.length, time: middle(Array.from(its, (r) => time[r])) };
  }).sort((a, b) => b.time - a.time || a.node - b.node);
  const of = run.nodeOfRank(),
    usual = new Map(list.map((n) => [n.node, n.time]));
  const odd = Array.from(time.keys())
    .filter((r) => Math.abs(time[r] / usual.get(of[r])! - 1) > SLOW - 1)
    .sort((a, b) => time[b] - time[a]);
  const slow = list.filter((n) => n.time > SLOW),
    most = Math.max(list[0].time, 1);
  const longer = `more than ${percent(SLOW - 1)} longer for a unit of work than the typical rank`;
  const verdict =
    slow.length > 0
      ? `${count(slow.length, "node")} ${slow.length === 1 ? "takes" : "take"} ${longer}.`
      : "All nodes are equally fast to within 5 %.";
  return h(
    "section",
    {},
    heading(
      "Speed of the nodes",
      `Time per unit of work in the last window, relative to the typical rank's. ${verdict}`
    ),
    h(
      "ul",
      { class: "bars nodes" },
      list
        .slice(0, MOST_NODES)
        .map((n) =>
          h(
            "li",
            { class: n.time > SLOW ? "slow" : "" },
            h("span", { class: "name" }, `node ${n.node}`),
            h("span", { class: "kind" }, count(n.ranks, "rank")),
            h("span", { class: "bar" }, h("span", { style: `width:${(100 * n.time) / most}%` })),
            h("span", { class: "number" }, `${n.time.toFixed(2)} x`),
            h("span", { class: "number quiet" }, n.time > SLOW ? "slow" : n.time < 1 / SLOW ? "fast" : "")
          )
        )
    ),
    list.length > MOST_NODES ? h("p", { class: "quiet" }, `and ${list.length - MOST_NODES} faster nodes`) : null,
    odd.length > 0
      ? h(
          "p",
          {},
          `Ranks that differ from the others of their node: ${odd
            .slice(0, 12)
            .map((r) => `rank ${r.toLocaleString("en")} (${time[r].toFixed(2)} x)`)
            .join(", ")}${odd.length > 12 ? ` and ${odd.length - 12} more` : ""}.`
        )
      : null
  );
}

function loadOfNodes(run: Run): HTMLElement {
  const warned = run.info.windows.filter((w) => w.advice.includes("slow_node"));
  const nodes = Array.from({ length: run.info.nodes }, (_, node) => {
    const ranks = run.ranksOfNode(node);
    return {
      node,
      ranks: ranks.length,
      mean: ranks.reduce((sum, r) => sum + run.load.rankTotal[r], 0) / Math.max(1, ranks.length),
    };
  });
  const all = nodes.reduce((sum, n) => sum + n.mean * n.ranks, 0) / Math.max(1, run.info.ranks),
    most = Math.max(...nodes.map((n) => n.mean), 1e-300);
  const unit = run.unit(run.loadMetric),
    listed = [...nodes].sort((a, b) => b.mean - a.mean);
  const verdict =
    warned.length > 0
      ? `In ${warned.length} of ${run.info.windows.length} windows, a node took longer than its work explains.`
      : run.info.unit_costs.length > 0
        ? "No node took longer than its work explains."
        : "Without units of work, a slow node looks like one with more work.";
  return h(
    "section",
    {},
    heading("Load of the nodes", `Per rank, over the whole run. ${verdict}`),
    run.info.nodes < 2
      ? h("p", { class: "quiet" }, "The run used one node.")
      : h(
          "ul",
          { class: "bars nodes" },
          listed
            .slice(0, 40)
            .map((n) =>
              h(
                "li",
                {},
                h("span", { class: "name" }, `node ${n.node}`),
                h("span", { class: "kind" }, `${n.ranks} ranks`),
                h("span", { class: "bar" }, h("span", { style: `width:${(100 * n.mean) / most}%` })),
                h("span", { class: "number" }, amount(n.mean, unit)),
                h(
                  "span",
                  { class: "number quiet" },
                  all > 0 ? `${n.mean >= all ? "+" : "\u2212"}${percent(Math.abs(n.mean / all - 1))}` : ""
                )
              )
            )
        ),
    listed.length > 40 ? h("p", { class: "quiet" }, `and ${listed.length - 40} nodes with less load`) : null
  );
}
