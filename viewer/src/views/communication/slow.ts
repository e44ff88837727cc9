// Patterns, and the instances that took much longer than others: as a table and by severity and complexity.

import { h, heading } from "../../dom";
import { bytes, count, seconds } from "../../format";
import { Side, SlowJson } from "../../communication/data";
import { scatter } from "../../communication/scatter";
import { State } from "../../state";
import { table, timeLink } from "./tables";

const time = (ns: number) => seconds(ns * 1e-9);
const AFFINITY = ["High", "Medium", "Low"];

const causeOf = (s: SlowJson) =>
  s.cause === "transfer" ? "transfer" : `${s.cause.replaceAll("_", " ")}, rank ${s.last_rank.toLocaleString("en")}`;

function ranksOf(s: SlowJson): number[] {
  return [...new Set([s.last_rank, s.longest_event_rank, s.first_rank])];
}

export function patternsOf(side: Side): HTMLElement | null {
  const found = side.found;
  if (!found || found.patterns.length === 0) return null;
  return h(
    "section",
    { id: "comm-patterns" },
    heading("Patterns", found.patterns_answer[0]),
    table(
      "patterns",
      [
        { title: "pattern" },
        { title: "instances", number: true },
        { title: "ranks", number: true },
        { title: "events", number: true },
        { title: "time", number: true },
        { title: "slow", number: true },
      ],
      found.patterns.map((p) => [
        p.name,
        p.instances.toLocaleString("en"),
        p.ranks.toLocaleString("en"),
        p.events.toLocaleString("en"),
        seconds(p.seconds),
        p.slow > 0 ? p.slow.toLocaleString("en") : "",
      ]),
      8,
      found.pattern_count
    )
  );
}

export function slowOf(state: State, side: Side): HTMLElement | null {
  const found = side.found;
  if (!found || found.instances === 0) return null;
  const { slow } = found,
    answer = found.patterns_answer.slice(1).join(" ");
  if (slow.length === 0) return h("section", { id: "comm-slow" }, heading("Slow instances", answer));
  const pick = (s: SlowJson) => state.showTime(ranksOf(s), s.start, s.start + s.duration);
  return h(
    "section",
    { id: "comm-slow" },
    heading("Slow instances", answer),
    h(
      "div",
      { class: "beside" },
      h(
        "div",
        {},
        h("h3", {}, "Severity and complexity"),
        scatter({
          label: "Slow instances by complexity and severity",
          height: 320,
          x: { title: "complexity (ranks x events, share within the phase)", format: share, log: 10 },
          y: { title: "severity", format: share, log: 10 },
          groups: AFFINITY.map((title, i) => ({
            title: `${title} affinity`,
            colour: [5, 1, 0][i],
            shape: (["cross", "square", "dot"] as const)[i],
          })),
          points: slow.map((s) => ({
            x: Math.max(s.complexity, 1e-9),
            y: Math.max(s.severity, 1e-9),
            group: AFFINITY.indexOf(s.affinity),
          })),
          lines: [
            { title: "60 degrees, High above", y: (x) => x * Math.sqrt(3) },
            { title: "30 degrees, Low below", y: (x) => x / Math.sqrt(3) },
          ],
          describe: (i) =>
            `${slow[i].name} at ${time(slow[i].start)}: ${time(slow[i].duration)} instead of ` +
            `${time(slow[i].median_ns)}, ${causeOf(slow[i])}, affinity ${slow[i].affinity}`,
          pick: state.report.head.traces[state.run.index] ? (i) => pick(slow[i]) : undefined,
        })
      ),
      h(
        "div",
        {},
        h("h3", {}, `${count(found.slow_count, "instance")}, the most promising first`),
        table(
          "slow",
          [
            { title: "affinity" },
            { title: "pattern" },
            { title: "at", number: true },
            { title: "took", number: true },
            { title: "instead of", number: true },
            { title: "bytes", number: true },
            { title: "cause" },
            { title: "z", number: true },
            { title: "phase", number: true },
          ],
          slow.map((s) => [
            s.affinity,
            h("span", { title: s.function }, s.name),
            timeLink(state, time(s.start), ranksOf(s), s.start, s.start + s.duration),
            time(s.duration),
            time(s.median_ns),
            bytes(s.bytes),
            causeOf(s),
            s.z.toFixed(1),
            String(s.phase),
          ]),
          12,
          found.slow_count
        )
      )
    )
  );
}

function share(value: number): string {
  return value >= 0.001 ? String(Number(value.toPrecision(2))) : value.toExponential(0);
}
