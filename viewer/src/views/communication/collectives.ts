// Waits at collectives, measured on all ranks while the program ran; for messages as well if all ranks recorded them.

import { h, heading } from "../../dom";
import { percent, seconds } from "../../format";
import { CollectivesJson } from "../../communication/data";
import { State } from "../../state";
import { rankLink, table } from "./tables";

function bar(value: number, most: number): HTMLElement {
  return h(
    "span",
    { class: "of" },
    h("span", { class: "bar" }, h("span", { style: `width:${(100 * value) / (most || 1)}%` })),
    seconds(value)
  );
}

function awaited(state: State, waits: CollectivesJson): HTMLElement {
  return table(
    "awaited",
    [
      { title: "rank", number: true },
      { title: waits.followed_back ? "others waited because of it" : "others waited for it" },
      { title: "of all waiting", number: true },
      { title: "it waited", number: true },
      { title: "transfer", number: true },
    ],
    waits.ranks.map(([rank, delay, waited, transfer]) => [
      rankLink(state, rank),
      bar(delay, waits.ranks[0][1]),
      percent(delay / (waits.totals[0] || 1)),
      seconds(waited),
      seconds(transfer),
    ]),
    10,
    waits.ranks_count
  );
}

function waiters(state: State, waits: CollectivesJson): HTMLElement {
  return table(
    "waiters",
    [{ title: "rank", number: true }, { title: "waited" }],
    waits.waiters.map(([rank, waited]) => [rankLink(state, rank), bar(waited, waits.waiters[0][1])]),
    10,
    waits.waiters_count
  );
}

function windows(state: State, waits: CollectivesJson): HTMLElement {
  return table(
    "awaitedwindows",
    [
      { title: "steps", number: true },
      { title: "all waited", number: true },
      { title: "mostly for rank", number: true },
      { title: "of it", number: true },
    ],
    waits.windows.map(([first, last, rank, delay, all]) => [
      `${first.toLocaleString("en")}..${last.toLocaleString("en")}`,
      seconds(all),
      rank < 0 ? h("span", { class: "quiet" }, "-") : rankLink(state, rank),
      rank < 0 ? "" : percent(delay / (all || 1)),
    ]),
    10
  );
}

/** In how many windows the rank that was waited for most over the run comes first, too. */
function often(waits: CollectivesJson): string {
  const waiting = waits.windows.filter(([, , rank]) => rank >= 0);
  if (waits.ranks.length === 0 || waiting.length < 2) return "";
  const [rank] = waits.ranks[0],
    named = waiting.filter((w) => w[2] === rank).length;
  return ` In ${named} of the ${waiting.length} windows with waits, it was rank ${rank.toLocaleString("en")} most.`;
}

/** @param traced  whether there is a trace, whose section comes first */
export function collectivesOf(state: State, waits: CollectivesJson, traced: boolean): HTMLElement {
  const followed = waits.followed_back,
    title = traced ? (followed ? "Waits of all ranks" : "Waits at collectives, on all ranks") : "Who waits for whom",
    source = followed
      ? "From the snapshot: measured on all ranks during the run, at collectives and for late senders (COMM_WAITS " +
        "and TRACE), and followed back to the rank that was busy while others waited."
      : "From the snapshot: measured on all ranks during the run, at collectives only (COMM_WAITS). A wait is " +
        "charged to the rank that came last, even if a message had made it late." +
        (traced ? "" : " A trace also has the waits for messages, and follows delays back to their cause.");
  const part = (title: string, content: HTMLElement) => h("div", {}, h("h3", {}, title), content);
  return h(
    "section",
    { id: "comm-collectives" },
    heading(
      title,
      source +
        " Transfer is time in these calls without waiting." +
        often(waits) +
        (waits.nrmse > 0
          ? ` Values of ranks and windows are from the compressed history (nrmse ${percent(waits.nrmse)}): ` +
            "small values are uncertain."
          : "")
    ),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        part("Ranks that made others wait", awaited(state, waits)),
        waits.windows.length > 1 ? part("Window by window", windows(state, waits)) : null
      ),
      h("div", {}, part("Ranks that waited", waiters(state, waits)))
    )
  );
}
