// A dendrogram of the regions whose loads have a similar shape.

import { h, heading, svg } from "../dom";
import { middle } from "../format";
import { State } from "../state";

interface Node {
  height: number;
  size: number;
  children: Node[];
  leaf?: number;
  y: number;
}

const MOST_LEAVES = 60;

/** Regions clustered by the shape of their load over ranks and steps. */
export function dendrogram(state: State): HTMLElement {
  const { run } = state,
    { series, merges } = run.shapes;
  const nodes: Node[] = series.map((_, i) => ({ height: 0, size: 1, children: [], leaf: i, y: 0 }));
  for (const [a, b, height, size] of merges) nodes.push({ height, size, children: [nodes[a], nodes[b]], y: 0 });
  const root = nodes[nodes.length - 1],
    tips: Node[] = [];
  const cut = merges.length >= MOST_LEAVES ? merges[merges.length - MOST_LEAVES][2] : -1;
  const collect = (node: Node) =>
    node.children.length === 0 || node.height <= cut ? tips.push(node) : node.children.forEach(collect);
  collect(root);
  tips.forEach((tip, i) => (tip.y = 16 + 18 * i));
  const width = 900,
    tree = 380,
    x = (height: number) => 8 + tree * (1 - height / Math.max(root.height, 1e-12)),
    lines: SVGElement[] = [];
  const isTip = new Set(tips);
  const draw = (node: Node): void => {
    if (isTip.has(node)) return;
    node.children.forEach(draw);
    node.y = (node.children[0].y + node.children[1].y) / 2;
    const [a, b] = node.children,
      at = x(node.height),
      end = (c: Node) => (isTip.has(c) ? 8 + tree : x(c.height));
    lines.push(
      svg(
        "path",
        { class: "branch", d: `M${end(a)} ${a.y}H${at}V${b.y}H${end(b)}` },
        svg("title", {}, `correlation ${(1 - node.height ** 2 / 2).toFixed(2)}`)
      )
    );
  };
  draw(root);
  const first = (node: Node): Node =>
    node.leaf !== undefined ? node : node.children.map(first).reduce((a, b) => (a.leaf! < b.leaf! ? a : b));
  const labels = tips.map((tip) => {
    const region = run.series[series[first(tip).leaf!]].region,
      members: number[] = [],
      walk = (n: Node): unknown =>
        n.leaf !== undefined ? members.push(run.series[series[n.leaf]].region) : n.children.forEach(walk);
    walk(tip);
    const name = run.short(run.info.regions[region].name);
    return svg(
      "text",
      {
        x: 8 + tree + 8,
        y: tip.y + 4,
        class: "link",
        tabindex: 0,
        role: "link",
        onclick: () => state.showLoad(members, run.loadMetric),
        onkeydown: (e: KeyboardEvent) => e.key === "Enter" && state.showLoad(members, run.loadMetric),
      },
      `${middle(name, 60)}${tip.size > 1 ? ` and ${tip.size - 1} alike` : ""}`
    );
  });
  const bottom = 16 + 18 * tips.length,
    axis = [1, 0.75, 0.5, 0]
      .filter((r) => Math.sqrt(2 - 2 * r) <= root.height * 1.001)
      .map((r) =>
        svg(
          "g",
          {},
          svg("line", { class: "axis", x1: x(Math.sqrt(2 - 2 * r)), x2: x(Math.sqrt(2 - 2 * r)), y1: 6, y2: bottom }),
          svg("text", { x: x(Math.sqrt(2 - 2 * r)), y: bottom + 14, "text-anchor": "middle" }, String(r))
        )
      );
  return h(
    "section",
    {},
    heading(
      "Regions of similar shape",
      "Clustered by the correlation of their loads over ranks and steps (average linkage). " +
        "Regions that join far to the right rise and fall together, on the same ranks at the same time."
    ),
    h(
      "div",
      { class: "scroll" },
      svg(
        "svg",
        {
          class: "diagram dendrogram",
          viewBox: `0 0 ${width} ${bottom + 34}`,
          role: "img",
          "aria-label": "dendrogram of regions",
        },
        axis,
        lines,
        labels,
        svg("text", { x: 8, y: bottom + 30 }, "correlation")
      )
    )
  );
}
