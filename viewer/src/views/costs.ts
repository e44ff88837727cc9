// What a unit of work costs, and nodes that take longer for it.

import { chart } from "../charts";
import { empty, h, heading } from "../dom";
import { amount, percent, seconds } from "../format";
import { Run } from "../model";
import { category } from "../palette";
import { State } from "../state";

export function costs(state: State): HTMLElement {
  const { run } = state;
  return h("div", {}, units(run), overTime(run), slowNodes(run));
}

function units(run: Run): HTMLElement {
  const { unit_costs: fitted } = run.info;
  if (fitted.length === 0) return h("section", {}, heading("Cost of a unit of work"), empty("The application declared no units of work (effort_work), so none has a price."));
  return h("section", {}, heading("Cost of a unit of work", "Fitted while the run went on; the error is the standard error of the fit."),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "unit"), h("th", { class: "number" }, "per unit"), h("th", { class: "number" }, "standard error"), h("th", { class: "number" }, "relative"))),
      h("tbody", {}, fitted.map((u) => h("tr", {}, h("td", {}, u.name), h("td", { class: "number" }, seconds(u.seconds_per_unit)), h("td", { class: "number" }, seconds(u.error)),
        h("td", { class: "number" }, u.seconds_per_unit && u.error !== null ? percent(u.error / u.seconds_per_unit) : "-"))))));
}

/** Where the windows of the snapshot say what a unit cost in each. */
function overTime(run: Run): HTMLElement | null {
  const { windows } = run.info, names = [...new Set(windows.flatMap((w) => (w.unit_costs ?? []).map((u) => u.name)))];
  if (names.length === 0) return null;
  const steps = windows.map((w) => (w.first + w.last) / 2);
  return h("section", {}, heading("Over time", "With a band of one standard error on either side."), names.map((name, i) => {
    const known = windows.map((w) => w.unit_costs?.find((u) => u.name === name)), value = known.map((u) => u?.seconds_per_unit ?? null);
    const off = (sign: number) => known.map((u) => (u?.seconds_per_unit != null && u.error != null ? u.seconds_per_unit + sign * u.error : null));
    return chart({ title: `Seconds per ${name}`, steps, format: seconds, lines: [
      { title: "cost", values: value, colour: category(i % 7), width: 2 }, { title: "+ error", values: off(1), colour: category(i % 7), dash: 2, width: 1 }, { title: "\u2212 error", values: off(-1), colour: category(i % 7), dash: 2, width: 1 }] });
  }));
}

function slowNodes(run: Run): HTMLElement {
  const warned = run.info.windows.filter((w) => w.advice.includes("slow_node"));
  const nodes = Array.from({ length: run.info.nodes }, (_, node) => {
    const ranks = run.ranksOfNode(node);
    return { node, ranks: ranks.length, mean: ranks.reduce((sum, r) => sum + run.load.rankTotal[r], 0) / Math.max(1, ranks.length) };
  });
  const all = nodes.reduce((sum, n) => sum + n.mean * n.ranks, 0) / Math.max(1, run.info.ranks), most = Math.max(...nodes.map((n) => n.mean), 1e-300);
  const unit = run.unit(run.loadMetric), listed = [...nodes].sort((a, b) => b.mean - a.mean);
  return h("section", {}, heading("Nodes", warned.length > 0 ? `In ${warned.length} of ${run.info.windows.length} windows a node took longer than its work explains.` : "No node took longer than its work explains."),
    run.info.nodes < 2 ? h("p", { class: "quiet" }, "The run used one node.") : h("ul", { class: "bars" }, listed.slice(0, 40).map((n) => h("li", {}, h("span", { class: "name" }, `node ${n.node}`), h("span", { class: "kind" }, `${n.ranks} ranks`),
      h("span", { class: "bar" }, h("span", { style: `width:${(100 * n.mean) / most}%` })), h("span", { class: "number" }, amount(n.mean, unit)), h("span", { class: "number quiet" }, all > 0 ? `${n.mean >= all ? "+" : "\u2212"}${percent(Math.abs(n.mean / all - 1))}` : "")))),
    listed.length > 40 ? h("p", { class: "quiet" }, `and ${listed.length - 40} nodes with less`) : null);
}
