// How far the trace can be trusted: samples, what is missing, clocks, messages, and estimates with their intervals.

import { empty, h, heading } from "../dom";
import { count, percent, seconds } from "../format";
import { State } from "../state";
import { noTrace, Trace, traceOf, TraceWindow } from "../trace/data";

const MOST_WINDOWS = 200;

const grouped = (value: number) => Math.round(value).toLocaleString("en");
const sampleOf = (w: TraceWindow) => w.kept.filter((kept) => (kept[1] & 1) !== 0).length;

function rangeOf(sizes: number[]): string {
  const least = Math.min(...sizes),
    most = Math.max(...sizes);
  return sizes.length === 0 ? "-" : least === most ? `${most}` : `${least} to ${most}`;
}

function answer({ json }: Trace): string {
  if (json.otf2) return "Another tool recorded all ranks: nothing was sampled, and the sums below are exact.";
  const errors = json.windows.flatMap((w) => (w.error === null ? [] : [w.error])),
    worst = Math.max(...errors);
  if (errors.length === 0) return "No window has a sample, so nothing can be said about ranks that were not kept.";
  const requested = json.error ?? 0,
    accurate = errors.filter((error) => error <= requested * (1 + 1e-9)).length,
    asked = !requested
      ? ""
      : accurate === errors.length
        ? ` (${percent(requested)} was requested)`
        : ` (the requested ${percent(requested)} are reached in ${accurate} of ${errors.length} windows)`;
  return (
    `The mean ${json.guide || "load"} of all ranks is known within ${percent(worst)} in every window with a sample, ` +
    `with a confidence of ${percent(json.confidence)}${asked}.`
  );
}

function windows({ json }: Trace): HTMLElement {
  const shown = json.windows.slice(0, MOST_WINDOWS),
    reduced = shown.some((w) => w.kept.some((kept) => kept[6]));
  return h(
    "section",
    {},
    heading("Windows", json.windows.length > shown.length ? `The first ${shown.length}.` : undefined),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "windows" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            [
              "steps",
              "ranks kept",
              "in the sample",
              "by stratum",
              "error",
              "confidence",
              "steps missing",
              ...(reduced ? ["rebuilt"] : []),
            ].map((t) => h("th", {}, t))
          )
        ),
        h(
          "tbody",
          {},
          shown.map((w, i) => {
            const missing = w.kept.reduce((sum, kept) => sum + kept[4], 0);
            return h(
              "tr",
              { "data-window": i },
              h("td", {}, w.first === w.last ? `${w.first}` : `${w.first}..${w.last}`),
              h("td", { class: "number" }, grouped(w.kept.length)),
              h("td", { class: "number" }, grouped(sampleOf(w))),
              h("td", {}, w.strata.map(([ranks, drawn]) => `${drawn} of ${ranks}`).join(", ")),
              h("td", { class: "number" }, percent(w.error)),
              h("td", { class: "number" }, percent(w.confidence)),
              h("td", { class: "number" }, missing > 0 ? grouped(missing) : ""),
              reduced ? h("td", { class: "number" }, grouped(w.kept.filter((kept) => kept[6]).length)) : null
            );
          })
        )
      )
    )
  );
}

function calls({ json, run }: Trace): HTMLElement {
  const cell = (known: boolean, value: number, half: number | null, text: (v: number) => string) =>
    !known
      ? "only in ranks outside the sample"
      : half === 0
        ? text(value)
        : `${text(value)} \u00b1 ${half === null ? "?" : text(half)}`;
  return h(
    "section",
    {},
    heading(
      "Calls of all ranks",
      (json.otf2
        ? "Sums over all ranks."
        : `Measured, or estimated from the sampled ranks with intervals of ${percent(json.confidence)} confidence.`) +
        (json.call_paths > json.calls.length ? ` The ${json.calls.length} longest of ${grouped(json.call_paths)}.` : "")
    ),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "calls" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["call path", "calls", "time", "calls in the trace"].map((t) => h("th", {}, t))
          )
        ),
        h(
          "tbody",
          {},
          json.calls.map((call) =>
            h(
              "tr",
              { "data-path": call.path },
              h(
                "td",
                {},
                call.path
                  .split("/")
                  .map((name) => run.short(name))
                  .join(" / ")
              ),
              h("td", { class: "number" }, cell(call.counted, call.count, call.count_error, grouped)),
              h("td", { class: "number" }, cell(call.timed, call.seconds, call.seconds_error, seconds)),
              h("td", { class: "number" }, grouped(call.seen))
            )
          )
        )
      )
    )
  );
}

export function trust(state: State): HTMLElement {
  const trace = traceOf(state.run);
  if (!trace) return empty(noTrace(state.run, state.report.head));
  const { json } = trace,
    sizes = json.windows.map(sampleOf).filter((size) => size > 0),
    unmatched = json.unmatched_sends + json.unmatched_receives;
  const facts: [string, string, string][] = [
    ["sample", "ranks in the sample", rangeOf(sizes)],
    ["dropped", "steps missing because memory was full", grouped(json.dropped_steps)],
    [
      "clock",
      "clocks of nodes agree within",
      json.clock_bound === null ? "not known" : seconds(json.clock_bound * 1e-9),
    ],
    [
      "unmatched",
      "messages that lack their other end",
      `${grouped(unmatched)} of ${grouped(json.matched + unmatched)}`,
    ],
    ["clamped", "messages received before they were sent, according to the clocks", grouped(json.clamped)],
    ["damaged", "damaged parts of the file", grouped(json.damaged)],
  ];
  return h(
    "div",
    {},
    h(
      "section",
      {},
      heading("Trust", answer(trace)),
      h(
        "table",
        { class: "facts" },
        h(
          "tbody",
          {},
          facts.map(([key, what, value]) =>
            h("tr", {}, h("td", {}, what), h("td", { id: `trust-${key}`, class: "number" }, value))
          )
        )
      ),
      h(
        "ul",
        {},
        json.trust.map((sentence) => h("li", {}, sentence))
      ),
      json.slices_left_out > 0
        ? h("p", {}, `${count(json.slices_left_out, "call")} of the trace did not fit into this page.`)
        : null
    ),
    json.otf2 ? null : windows(trace),
    calls(trace)
  );
}
