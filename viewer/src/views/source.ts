// The source lines of a region.

import { callPaths, pathTree } from "../callpath";
import { empty, h, heading } from "../dom";
import { highlighted } from "../highlight";
import { State } from "../state";

export function source(state: State): HTMLElement {
  const { head } = state.report,
    { run } = state,
    { source: texts } = head,
    { frames } = run;
  const own = new Set(run.info.regions.map((r) => r.name));
  const paths = [...own].filter((name) => callPaths(name).length > 0);
  if (!texts && paths.length === 0)
    return empty("Write the report with --source DIR to see the lines of its regions here.");
  const places = texts?.places ?? [],
    known = [...new Set(places.map((p) => p.region))];
  const byName = new Map(head.regions.map((name, i) => [name, i]));
  const listed = head.regions.map((name, i) => ({ name, i })).filter(({ name }) => own.has(name));
  const choice = h(
    "select",
    { id: "source-region", "aria-label": "region", size: Math.min(16, Math.max(2, listed.length)) },
    listed.map(({ name, i }) =>
      h(
        "option",
        { value: String(i), title: name },
        `${run.short(name)}${texts && !known.includes(i) ? " (not found)" : ""}`
      )
    )
  );
  const view = h("div", { class: "code-view" });
  choice.addEventListener("change", () => show(Number(choice.value)));

  function show(region: number): void {
    choice.value = String(region);
    const its = places.filter((p) => p.region === region),
      name = head.regions[region];
    view.replaceChildren(h("h3", {}, run.short(name)), callPaths(name).length > 0 ? pathTree(frames, name) : "");
    for (const note of run.frameNotes) if (callPaths(name).length > 0) view.append(h("p", { class: "quiet" }, note));
    if (!texts) return void view.append(empty("Write the report with --source DIR to see its lines here."));
    if (its.length === 0) return void view.append(empty("This region's name was not found in the source files."));
    for (const file of new Set(its.map((p) => p.file)))
      view.append(
        listing(
          texts!.files[file],
          its.filter((p) => p.file === file)
        )
      );
    view.querySelector(".here")?.scrollIntoView({ block: "nearest" });
  }

  const wanted = state.sourceRegion === undefined ? undefined : byName.get(state.sourceRegion);
  if (listed.length === 0) return empty("This run recorded no regions.");
  show(wanted ?? known.find((i) => own.has(head.regions[i])) ?? byName.get(paths[0]) ?? listed[0].i);
  return h(
    "div",
    {},
    heading("Source", "The lines that name a region, and those between its begin and its end."),
    (texts?.notes ?? []).map((n) => h("p", { class: "quiet" }, n)),
    h("div", { class: "source" }, choice, view)
  );
}

function titleOf({ what, first, last }: { what: string; first: number; last: number }): string {
  return `${what}: ${first}${last > first ? `..${last}` : ""}`;
}

/** The lines around the places, with the rest of the file folded. */
function listing(
  file: { path: string; text: string },
  places: { first: number; last: number; what: string }[]
): HTMLElement {
  const lines = file.text.split("\n");
  if (file.text === "")
    return h("p", { class: "quiet" }, `${file.path}: omitted, because the page would become too large.`);
  const coloured = highlighted(file.path, file.text);
  const inside = (n: number) => places.find((p) => n >= p.first && n <= p.last),
    near = (n: number) => places.some((p) => n >= p.first - 8 && n <= p.last + 8);
  const body = h("tbody");
  const row = (n: number) => {
    const place = inside(n);
    return h(
      "tr",
      { class: place ? "here" : "", "data-line": n },
      h("td", { class: "line" }, String(n)),
      h("td", { class: "mark", title: place?.what }, place ? (place.first === n ? "\u25b8" : "\u2502") : ""),
      h("td", { class: "text" }, coloured(n - 1))
    );
  };
  let from = 0;
  const fold = (first: number, last: number) => {
    const button = h(
      "button",
      {
        class: "link",
        onclick: () => tr.replaceWith(...Array.from({ length: last - first + 1 }, (_, i) => row(first + i))),
      },
      `lines ${first} to ${last}`
    );
    const tr = h("tr", { class: "fold" }, h("td", { colspan: 3 }, button));
    return tr;
  };
  for (let n = 1; n <= lines.length; ++n) {
    if (near(n)) {
      if (from > 0) body.append(fold(from, n - 1));
      from = 0;
      body.append(row(n));
    } else if (from === 0) from = n;
  }
  if (from > 0) body.append(fold(from, lines.length));
  return h(
    "section",
    {},
    h("h4", {}, file.path, h("span", { class: "quiet" }, ` ${[...new Set(places.map(titleOf))].join(", ")}`)),
    h("div", { class: "scroll" }, h("table", { class: "code" }, body))
  );
}
