// The phases of the communication: the tree of cuts down to a chosen depth, over the time of the run.

import { h, heading } from "../../dom";
import { count, seconds } from "../../format";
import { PhaseJson, Side } from "../../communication/data";
import { Sheet } from "../../communication/sheet";
import { category, themed } from "../../palette";
import { State } from "../../state";
import { table, timeLink } from "./tables";

const ROW = 20,
  LEFT = 8,
  AXIS = 22;
const time = (ns: number) => seconds(ns * 1e-9);

/** The phases at a level of the tree, in order. */
function phasesAt(list: PhaseJson[], level: number): PhaseJson[] {
  return list.filter((p) => p.from <= level && (p.to === null || p.to > level)).sort((a, b) => a.first - b.first);
}

function describe(phase: PhaseJson): string {
  const cut =
    phase.strength === undefined
      ? ""
      : `; cut before instance ${phase.split?.toLocaleString("en")}: divergence ${phase.divergence?.toPrecision(3)}, ` +
        `strength ${phase.strength.toPrecision(3)}`;
  return (
    `instances ${phase.first.toLocaleString("en")}..${(phase.end - 1).toLocaleString("en")}, ` +
    `${time(phase.start)} to ${time(phase.stop)}: ${phase.contents}` +
    (phase.slow > 0 ? `; ${phase.slow.toLocaleString("en")} slow` : "") +
    cut
  );
}

export function phasesOf(state: State, side: Side): HTMLElement | null {
  const phases = side.found?.phases;
  if (!phases || !side.found) return null;
  const view = state.communication,
    { list, levels } = phases,
    deepest = levels - 1,
    listHost = h("div");
  view.depth = Math.min(view.depth ?? phases.shown, deepest);
  const colourOf = new Map<string, number>();
  for (const { contents } of list) {
    const main = contents.replace(/ \(.*/, "");
    if (!colourOf.has(main)) colourOf.set(main, colourOf.size);
  }
  const start = Math.min(...list.map((p) => p.start)),
    stop = Math.max(...list.map((p) => p.stop));
  let pointed: { phase: PhaseJson; level: number } | undefined;
  const x = (t: number) => LEFT + ((t - start) / Math.max(1, stop - start)) * (sheet.width - 2 * LEFT);
  const sheet: Sheet = new Sheet(
    "Phases, one row for each level of the tree of cuts. Left and right choose a phase of the last row, Enter shows " +
      "it on the timeline.",
    () => ROW * (view.depth! + 1) + AXIS,
    (ctx, width, height) => {
      for (let level = 0; level <= view.depth!; ++level) {
        for (const phase of phasesAt(list, level)) {
          const from = x(phase.start),
            to = Math.max(from + 1, x(phase.stop)),
            y = ROW * level;
          ctx.fillStyle = category(colourOf.get(phase.contents.replace(/ \(.*/, "")) ?? 0);
          ctx.globalAlpha = level === view.depth ? 1 : 0.45;
          ctx.fillRect(from, y + 1, to - from, ROW - 2);
          ctx.globalAlpha = 1;
          ctx.fillStyle = themed("--page");
          if (to - from > 3) ctx.fillRect(to - 1, y + 1, 1, ROW - 2);
          if (pointed?.phase === phase && pointed.level === level) {
            ctx.strokeStyle = themed("--text");
            ctx.lineWidth = 2;
            ctx.strokeRect(from + 1, y + 2, Math.max(1, to - from - 2), ROW - 4);
            ctx.lineWidth = 1;
          }
        }
      }
      ctx.fillStyle = themed("--quiet");
      ctx.textBaseline = "middle";
      for (let i = 0; i <= 4; ++i) {
        ctx.textAlign = i === 0 ? "left" : i === 4 ? "right" : "center";
        ctx.fillText(time(start + ((stop - start) * i) / 4), LEFT + ((width - 2 * LEFT) * i) / 4, height - AXIS / 2);
      }
      sheet.canvas.dataset.phases = String(phasesAt(list, view.depth!).length);
    },
    "phases"
  );
  const point = (to: typeof pointed) => {
    if (to?.phase === pointed?.phase && to?.level === pointed?.level) return;
    pointed = to;
    sheet.readout.replaceChildren(
      h(
        "span",
        { class: to ? "" : "quiet" },
        to ? describe(to.phase) : "Point at a phase; click it to see it on the timeline."
      )
    );
    sheet.request();
  };
  const at = (event: MouseEvent) => {
    const p = sheet.place(event),
      level = Math.floor(p.y / ROW);
    if (level < 0 || level > view.depth!) return undefined;
    const found = phasesAt(list, level).filter((q) => x(q.start) <= p.x + 1);
    return found.length > 0 ? { phase: found[found.length - 1], level } : undefined;
  };
  const open = (phase: PhaseJson) => {
    if (!state.report.head.traces[state.run.index]) return;
    state.showTime([], phase.start, phase.stop);
  };
  sheet.canvas.addEventListener("pointermove", (event) => point(at(event)));
  sheet.canvas.addEventListener("pointerleave", () => point(undefined));
  sheet.canvas.addEventListener("click", (event) => {
    const found = at(event);
    if (found) open(found.phase);
  });
  sheet.canvas.addEventListener("keydown", (event) => {
    const row = phasesAt(list, view.depth!),
      now = pointed ? row.indexOf(pointed.phase) : -1;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "ArrowLeft") point({ phase: row[Math.max(0, now - 1)], level: view.depth! });
    else if (event.key === "ArrowRight") point({ phase: row[Math.min(row.length - 1, now + 1)], level: view.depth! });
    else if (event.key === "Enter" && pointed) open(pointed.phase);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  sheet.readout.replaceChildren(h("span", { class: "quiet" }, "Point at a phase; click it to see it on the timeline."));
  const text = h("output");
  const fill = () => {
    const row = phasesAt(list, view.depth!);
    text.textContent = `${view.depth}: ${count(row.length, "phase")}`;
    box.setAttribute("aria-valuetext", text.textContent);
    listHost.replaceChildren(
      table(
        "phaselist",
        [
          { title: "start", number: true },
          { title: "lasts", number: true },
          { title: "instances", number: true },
          { title: "slow", number: true },
          { title: "patterns" },
          { title: "functions" },
        ],
        row.map((p) => [
          timeLink(state, time(p.start), [], p.start, p.stop),
          time(p.stop - p.start),
          (p.end - p.first).toLocaleString("en"),
          p.slow > 0 ? p.slow.toLocaleString("en") : "",
          p.contents,
          p.functions.join(", "),
        ])
      )
    );
    sheet.request();
  };
  const box: HTMLInputElement = h("input", {
    type: "range",
    min: 0,
    max: deepest,
    step: 1,
    value: view.depth,
    "aria-label": "depth",
    oninput: () => {
      view.depth = Number(box.value);
      pointed = undefined;
      fill();
    },
  });
  fill();
  return h(
    "section",
    { id: "comm-phases" },
    heading(
      "Phases",
      "The sequence of pattern instances, cut where the communication changes. " +
        "The colour shows the most frequent pattern. " +
        (phases.levels < phases.deepest
          ? `The page holds ${count(phases.levels, "level")} of ${phases.deepest.toLocaleString("en")} of the tree, ` +
            `which ends in ${count(phases.count, "phase")} (effort comm phases).`
          : "")
    ),
    deepest > 0 ? h("label", { class: "field windows" }, h("span", {}, "depth"), box, text) : null,
    sheet.element,
    listHost
  );
}
