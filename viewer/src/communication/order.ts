// Orders of ranks for the matrix.

import { Run } from "../run";
import { Tree } from "./data";

/** The leaves of a dendrogram from left to right. */
export function leavesOf({ merges }: Tree): Int32Array {
  const n = merges.length / 2 + 1,
    out = new Int32Array(n),
    open = [2 * n - 2];
  for (let at = 0; open.length > 0;) {
    const group = open.pop()!;
    if (group < n) out[at++] = group;
    else open.push(merges[2 * (group - n) + 1], merges[2 * (group - n)]);
  }
  return out;
}

export interface RankOrder {
  /** The rank at each position. */
  ranks: Int32Array;
  /** The position of each rank. */
  positions: Int32Array;
  byNode: boolean;
}

export function orderOf(run: Run, key: string, tree: Tree | undefined): RankOrder {
  const ranks =
    (key === "dendrogram" && tree ? leavesOf(tree) : run.order(key)) ??
    Int32Array.from({ length: run.info.ranks }, (_, i) => i);
  const positions = new Int32Array(ranks.length);
  ranks.forEach((rank, at) => (positions[rank] = at));
  return { ranks, positions, byNode: key === "node" || key === "id" };
}
