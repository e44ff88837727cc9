// Readable forms of regions named by call paths, "MPI_Send [app+0x12 lib.so+0x88] > MPI_Recv [..]".

import { h } from "./dom";
import { Frames } from "./model";

interface CallPath {
  call: string;
  frames: string[];
}

/** One path for a call, two for the work between two calls, none for a region that the host named. */
export function callPaths(name: string): CallPath[] {
  const parts = name.split(" > ").map((part) => /^(\S+) \[([^\]]*)\]$/.exec(part));
  if (parts.some((p) => p === null)) return [];
  return parts.map((p) => ({ call: p![1], frames: p![2].split(" ").filter((f) => f !== "") }));
}

/** All frames of the call paths, innermost first. */
export function pathTree(all: Frames, name: string): HTMLElement {
  return h(
    "div",
    { class: "paths" },
    callPaths(name).map(({ call, frames }, i) =>
      h(
        "div",
        {},
        h("div", {}, i > 0 ? "until " : "", h("b", {}, call)),
        h(
          "ol",
          {},
          frames.map((frame) => {
            const places = all[frame] ?? [];
            if (places.length === 0) return h("li", {}, h("code", {}, frame));
            return h(
              "li",
              {},
              places.map((place, k) =>
                h(
                  "div",
                  {},
                  k > 0 ? "inlined into " : "",
                  h("b", {}, place.function || frame),
                  place.file
                    ? h("span", { class: "quiet" }, ` ${place.file}${place.line ? `:${place.line}` : ""}`)
                    : null
                )
              )
            );
          })
        )
      )
    )
  );
}
