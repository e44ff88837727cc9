// A diagram of the ranks that move between strata.

import { chart } from "../charts";
import { h, heading, svg } from "../dom";
import { count } from "../format";
import { category } from "../palette";
import { State } from "../state";
import { domainOf, marksOf } from "../timeline";

/** Bands of ranks from stratum to stratum, between windows spread over the run. */
export function movement(state: State): HTMLElement {
  const { run } = state,
    { windows, flows, first, last, moved, movers } = run.movement,
    height = 260,
    bar = 12,
    gap = 6;
  const width = Math.max(640, 40 + 45 * (windows.length - 1) + 40),
    every = Math.ceil((48 * windows.length) / width);
  const x = (w: number) => 30 + (w * (width - 80)) / Math.max(1, windows.length - 1);
  const tops = windows.map(({ sizes }) => {
    const room = height - 40 - gap * (sizes.length - 1);
    let y = 10;
    return sizes.map((size) => {
      const top = y,
        tall = (size / run.info.ranks) * Math.max(10, room);
      y += tall + gap;
      return { top, tall };
    });
  });
  const left = tops.map((t) => t.map(() => 0)),
    right = tops.map((t) => t.map(() => 0));
  const bands = flows.map(([w, i, j, ranks]) => {
    const a = windows[w],
      b = windows[w + 1],
      ta = tops[w][i],
      tb = tops[w + 1][j],
      ha = (ranks / a.sizes[i]) * ta.tall,
      hb = (ranks / b.sizes[j]) * tb.tall;
    const y0 = ta.top + left[w][i],
      y1 = tb.top + right[w + 1][j],
      xa = x(w) + bar,
      xb = x(w + 1),
      middle = (xa + xb) / 2;
    left[w][i] += ha;
    right[w + 1][j] += hb;
    const upper = `M${xa} ${y0}C${middle} ${y0} ${middle} ${y1} ${xb} ${y1}`;
    const lower = `V${y1 + hb}C${middle} ${y1 + hb} ${middle} ${y0 + ha} ${xa} ${y0 + ha}Z`;
    return svg(
      "path",
      {
        class: `flow${i === j ? "" : " moved"}`,
        style: `--c:${category(i % 7)}`,
        d: upper + lower,
      },
      svg(
        "title",
        {},
        `${count(ranks, "rank")} from stratum ${i} (steps ${a.first}..${a.last}) to ${j} (steps ${b.first}..${b.last})`
      )
    );
  });
  const bars = windows.flatMap((w, k) => [
    ...w.sizes.map((size, i) =>
      svg(
        "rect",
        {
          class: "stratum",
          x: x(k),
          y: tops[k][i].top,
          width: bar,
          height: size > 0 ? Math.max(1, tops[k][i].tall) : 0,
        },
        svg("title", {}, `stratum ${i}, steps ${w.first}..${w.last}: ${count(size, "rank")}`)
      )
    ),
    ...(k === 0 || k === windows.length - 1
      ? w.sizes.map((size, i) =>
          size > 0 && tops[k][i].tall > 9
            ? svg(
                "text",
                {
                  x: k === 0 ? x(k) - 6 : x(k) + bar + 6,
                  y: tops[k][i].top + tops[k][i].tall / 2 + 4,
                  "text-anchor": k === 0 ? "end" : "start",
                },
                String(i)
              )
            : svg("g")
        )
      : []),
    k % every === 0
      ? svg("text", { x: x(k) + bar / 2, y: height - 8, "text-anchor": "middle" }, w.first.toLocaleString("en"))
      : svg("g"),
  ]);
  const all = moved.reduce((a, b) => a + b, 0);
  const list = movers
    .slice(0, 12)
    .map(([rank, times], i) => [
      i > 0 ? ", " : "",
      h(
        "button",
        { class: "link", title: "shows this rank in the heat map", onclick: () => state.showRank(rank) },
        rank.toLocaleString("en")
      ),
      ` (${times})`,
    ]);
  const drawn = windows.length < moved.length + 1 ? `, of which ${windows.length} are drawn` : "";
  return h(
    "section",
    {},
    heading(
      "Movement of ranks between strata",
      `${count(all, "move")} between ${count(moved.length + 1, "window")}${drawn}. ` +
        "A stratum keeps its number as long as it keeps most of its ranks; bands that cross are ranks that moved. " +
        "The numbers of the strata stand beside the first and the last window, the windows' first steps below."
    ),
    h(
      "div",
      { class: "scroll" },
      svg(
        "svg",
        {
          class: "diagram",
          style: `width:${width}px; max-width: none`,
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": `${all} moves of ranks between strata`,
        },
        bands,
        bars
      )
    ),
    chart({
      title: "Ranks that changed stratum, per window",
      steps: first.map((f, i) => (f + last[i]) / 2),
      domain: domainOf(run),
      format: (v) => (Number.isInteger(v) ? v.toLocaleString("en") : ""),
      height: 130,
      marks: marksOf(run),
      least: 1,
      lines: [{ title: "ranks", values: moved, colour: category(1), stepped: true }],
    }),
    movers.length > 0 ? h("p", {}, "Moved most often: rank ", list, ".") : null
  );
}
