// Groups of ranks that behave alike, how ranks move between them, and regions of similar shape.

import { chart } from "../charts";
import { empty, h, heading, select, svg } from "../dom";
import { amount, count, middle, percent } from "../format";
import { category } from "../palette";
import { State } from "../state";
import { domainOf, marksOf } from "./overview";

export function strata(state: State): HTMLElement {
  const { run } = state;
  const out = h("div");
  if (run.info.strata.length === 0) out.append(empty("No strata were formed: the run ended before its first window."));
  else out.append(profiles(state));
  if (run.info.windows.length > 1) {
    out.append(chart({
      title: "Number of strata, per window", steps: run.info.windows.map((w) => (w.first + w.last) / 2), domain: domainOf(run), format: (v) => (Number.isInteger(v) ? String(v) : ""), height: 130, marks: marksOf(run),
      lines: [{ title: "strata", values: run.info.windows.map((w) => w.strata), colour: category(0), stepped: true }],
    }));
  }
  if (run.movement.windows.length > 1) out.append(movement(state));
  if (run.shapes.series.length > 1) out.append(dendrogram(state));
  return out;
}

/** Bars of the regions' shares; hatching distinguishes them without colours. */
function profiles(state: State): HTMLElement {
  const { run } = state, kept = run.info.strata;
  let at = kept.length - 1;
  const host = h("div");
  const draw = () => {
    const s = kept[at], totals = s.stratum_region_load.map((row) => row.reduce((a, b) => a + b, 0)), most = Math.max(...totals, 1e-300);
    const weight = s.regions.map((_, r) => s.stratum_region_load.reduce((sum, row, k) => sum + row[r] * s.sizes[k], 0));
    const shown = weight.map((_, r) => r).sort((a, b) => weight[b] - weight[a]).slice(0, 7);
    const parts = (k: number) => [...shown.map((r) => s.stratum_region_load[k][r]), totals[k] - shown.reduce((sum, r) => sum + s.stratum_region_load[k][r], 0)];
    const names = [...shown.map((r) => middle(run.short(s.regions[r]), 44)), count(s.regions.length - shown.length, "other region")];
    host.replaceChildren(
      h("ul", { class: "legend" }, names.map((name, i) => (i < shown.length || s.regions.length > shown.length ? h("li", { title: i < shown.length ? s.regions[shown[i]] : undefined }, h("span", { class: `swatch hatch${i}`, style: `--c:${category(i)}` }), name) : null))),
      h("div", { class: "scroll" }, h("table", { class: "strata" },
        h("thead", {}, h("tr", {}, h("th", {}, "stratum"), h("th", { class: "number" }, "ranks"), h("th", { class: "number" }, "medoid rank"), h("th", { class: "number" }, "load per step"), h("th", {}, "profile by region"))),
        h("tbody", {}, s.medoid_rank.map((medoid, k) => h("tr", {},
          h("td", {}, String(k)), h("td", { class: "number" }, s.sizes[k].toLocaleString("en"), h("span", { class: "quiet" }, ` ${percent(s.sizes[k] / run.info.ranks)}`)),
          h("td", { class: "number" }, h("button", { class: "link", title: "shows this rank in the heat map", onclick: () => showRank(state, medoid) }, medoid.toLocaleString("en"))),
          h("td", { class: "number" }, amount(totals[k], run.unit(run.loadMetric))),
          h("td", {}, h("div", { class: "stack", style: `width:${Math.max(1, (100 * totals[k]) / most)}%`, role: "img", "aria-label": names.map((n, i) => `${n} ${amount(parts(k)[i], run.unit(run.loadMetric))}`).join(", ") },
            parts(k).map((v, i) => (v > 0 ? h("span", { class: `hatch${i}`, style: `flex:${(100 * v) / totals[k]} 0 0;--c:${category(i)}`, title: `${names[i]}: ${amount(v, run.unit(run.loadMetric))}` }) : null))))))))));
  };
  draw();
  return h("section", {}, heading("Strata", "Groups of ranks with similar loads per region; the medoid stands for its group. Look into these few ranks, or trace them, instead of all."),
    kept.length > 1 ? h("div", { class: "toolbar" }, select("window", kept.map((s, i) => ({ value: String(i), title: `steps ${s.first}..${s.last}` })), String(at), (v) => {
      at = Number(v);
      draw();
    })) : h("p", { class: "quiet" }, `Window of steps ${kept[at].first}..${kept[at].last}.`), host);
}

function showRank(state: State, rank: number): void {
  const { run } = state, half = Math.max(8, run.info.ranks / 40) / run.info.ranks;
  state.order = "id";
  const at = (rank + 0.5) / run.info.ranks;
  state.cursor = { row: at, step: 0.5 };
  state.viewport = { r0: Math.max(0, at - half), r1: Math.min(1, at + half), c0: 0, c1: 1 };
  state.showLoad([], run.loadMetric);
}

/** Ranks that went from one stratum to another, between windows spread over the run. */
function movement(state: State): HTMLElement {
  const { run } = state, { windows, flows, first, last, moved, movers } = run.movement, height = 260, bar = 12, gap = 6;
  const width = Math.max(640, 40 + 45 * (windows.length - 1) + 40), every = Math.ceil((48 * windows.length) / width);
  const x = (w: number) => 30 + (w * (width - 80)) / Math.max(1, windows.length - 1);
  const tops = windows.map(({ sizes }) => {
    const room = height - 40 - gap * (sizes.length - 1);
    let y = 10;
    return sizes.map((size) => {
      const top = y, tall = (size / run.info.ranks) * Math.max(10, room);
      y += tall + gap;
      return { top, tall };
    });
  });
  const left = tops.map((t) => t.map(() => 0)), right = tops.map((t) => t.map(() => 0));
  const bands = flows.map(([w, i, j, ranks]) => {
    const a = windows[w], b = windows[w + 1], ta = tops[w][i], tb = tops[w + 1][j], ha = (ranks / a.sizes[i]) * ta.tall, hb = (ranks / b.sizes[j]) * tb.tall;
    const y0 = ta.top + left[w][i], y1 = tb.top + right[w + 1][j], xa = x(w) + bar, xb = x(w + 1), middle = (xa + xb) / 2;
    left[w][i] += ha;
    right[w + 1][j] += hb;
    return svg("path", { class: `flow${i === j ? "" : " moved"}`, style: `--c:${category(i % 7)}`, d: `M${xa} ${y0}C${middle} ${y0} ${middle} ${y1} ${xb} ${y1}V${y1 + hb}C${middle} ${y1 + hb} ${middle} ${y0 + ha} ${xa} ${y0 + ha}Z` },
      svg("title", {}, `${count(ranks, "rank")} from stratum ${i} (steps ${a.first}..${a.last}) to ${j} (steps ${b.first}..${b.last})`));
  });
  const bars = windows.flatMap((w, k) => [
    ...w.sizes.map((size, i) => svg("rect", { class: "stratum", x: x(k), y: tops[k][i].top, width: bar, height: size > 0 ? Math.max(1, tops[k][i].tall) : 0 }, svg("title", {}, `stratum ${i}, steps ${w.first}..${w.last}: ${count(size, "rank")}`))),
    ...(k === 0 || k === windows.length - 1 ? w.sizes.map((size, i) => (size > 0 && tops[k][i].tall > 9 ? svg("text", { x: k === 0 ? x(k) - 6 : x(k) + bar + 6, y: tops[k][i].top + tops[k][i].tall / 2 + 4, "text-anchor": k === 0 ? "end" : "start" }, String(i)) : svg("g"))) : []),
    k % every === 0 ? svg("text", { x: x(k) + bar / 2, y: height - 8, "text-anchor": "middle" }, w.first.toLocaleString("en")) : svg("g")]);
  const all = moved.reduce((a, b) => a + b, 0);
  const list = movers.slice(0, 12).map(([rank, times], i) => [i > 0 ? ", " : "", h("button", { class: "link", title: "shows this rank in the heat map", onclick: () => showRank(state, rank) }, rank.toLocaleString("en")), ` (${times})`]);
  return h("section", {}, heading("Movement of ranks between strata", `${count(all, "move")} between ${count(moved.length + 1, "window")}${windows.length < moved.length + 1 ? `, of which ${windows.length} are drawn` : ""}. A stratum keeps its number as long as it keeps most of its ranks; what crosses changed sides. Beside the first and the last window: the strata; below: the windows' first steps.`),
    h("div", { class: "scroll" }, svg("svg", { class: "diagram", style: `width:${width}px; max-width: none`, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${all} moves of ranks between strata` }, bands, bars)),
    chart({ title: "Ranks that changed stratum, per window", steps: first.map((f, i) => (f + last[i]) / 2), domain: domainOf(run), format: (v) => (Number.isInteger(v) ? v.toLocaleString("en") : ""), height: 130, marks: marksOf(run), least: 1,
      lines: [{ title: "ranks", values: moved, colour: category(1), stepped: true }] }),
    movers.length > 0 ? h("p", {}, "Most often: rank ", list, ".") : null);
}

interface Node {
  height: number;
  size: number;
  children: Node[];
  leaf?: number;
  y: number;
}

const MOST_LEAVES = 60;

/** Regions clustered by the shape of their load over ranks and steps. */
function dendrogram(state: State): HTMLElement {
  const { run } = state, { series, merges } = run.shapes;
  const nodes: Node[] = series.map((_, i) => ({ height: 0, size: 1, children: [], leaf: i, y: 0 }));
  for (const [a, b, height, size] of merges) nodes.push({ height, size, children: [nodes[a], nodes[b]], y: 0 });
  const root = nodes[nodes.length - 1], tips: Node[] = [];
  const cut = merges.length >= MOST_LEAVES ? merges[merges.length - MOST_LEAVES][2] : -1;
  const collect = (node: Node) => (node.children.length === 0 || node.height <= cut ? tips.push(node) : node.children.forEach(collect));
  collect(root);
  tips.forEach((tip, i) => (tip.y = 16 + 18 * i));
  const width = 900, tree = 380, x = (height: number) => 8 + tree * (1 - height / Math.max(root.height, 1e-12)), lines: SVGElement[] = [];
  const isTip = new Set(tips);
  const draw = (node: Node): void => {
    if (isTip.has(node)) return;
    node.children.forEach(draw);
    node.y = (node.children[0].y + node.children[1].y) / 2;
    const [a, b] = node.children, at = x(node.height), end = (c: Node) => (isTip.has(c) ? 8 + tree : x(c.height));
    lines.push(svg("path", { class: "branch", d: `M${end(a)} ${a.y}H${at}V${b.y}H${end(b)}` }, svg("title", {}, `correlation ${(1 - node.height ** 2 / 2).toFixed(2)}`)));
  };
  draw(root);
  const first = (node: Node): Node => (node.leaf !== undefined ? node : node.children.map(first).reduce((a, b) => (a.leaf! < b.leaf! ? a : b)));
  const labels = tips.map((tip) => {
    const region = run.series[series[first(tip).leaf!]].region, members: number[] = [], walk = (n: Node): unknown => (n.leaf !== undefined ? members.push(run.series[series[n.leaf]].region) : n.children.forEach(walk));
    walk(tip);
    const name = run.short(run.info.regions[region].name);
    return svg("text", { x: 8 + tree + 8, y: tip.y + 4, class: "link", tabindex: 0, role: "link", onclick: () => state.showLoad(members, run.loadMetric), onkeydown: (e: KeyboardEvent) => e.key === "Enter" && state.showLoad(members, run.loadMetric) },
      `${middle(name, 60)}${tip.size > 1 ? ` and ${tip.size - 1} alike` : ""}`);
  });
  const bottom = 16 + 18 * tips.length, axis = [1, 0.75, 0.5, 0].filter((r) => Math.sqrt(2 - 2 * r) <= root.height * 1.001).map((r) => svg("g", {},
    svg("line", { class: "axis", x1: x(Math.sqrt(2 - 2 * r)), x2: x(Math.sqrt(2 - 2 * r)), y1: 6, y2: bottom }), svg("text", { x: x(Math.sqrt(2 - 2 * r)), y: bottom + 14, "text-anchor": "middle" }, String(r))));
  return h("section", {}, heading("Regions of similar shape", "Clustered by the correlation of their loads over ranks and steps (average linkage): regions that join far to the right rise and fall together, on the same ranks at the same time."),
    h("div", { class: "scroll" }, svg("svg", { class: "diagram dendrogram", viewBox: `0 0 ${width} ${bottom + 34}`, role: "img", "aria-label": "dendrogram of regions" }, axis, lines, labels, svg("text", { x: 8, y: bottom + 30 }, "correlation"))));
}
