// Pointer, wheel and keys on a heat map: they move the cursor and zoom.

import { Info } from "../model";
import { State, WHOLE } from "../state";
import { Box, Drag } from "./paint";
import { zoomAround, zoomTo } from "./viewport";

export class Input {
  /** The rectangle that the pointer drags now. */
  drag?: Drag;

  /** `box` is the place of the cells in the canvas; `redraw` is called when a drag ends without a zoom. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly state: State,
    private readonly info: Info,
    private readonly box: () => Box,
    private readonly redraw: () => void
  ) {
    this.listen();
  }

  private listen(): void {
    const { canvas, state, info } = this;
    const point = (event: MouseEvent) => {
      const rect = canvas.getBoundingClientRect();
      return { x: event.clientX - rect.left, y: event.clientY - rect.top };
    };
    const share = (x: number, y: number) => {
      const box = this.box(),
        { viewport: v } = state;
      return {
        step: v.c0 + Math.min(1, Math.max(0, (x - box.x) / box.w)) * (v.c1 - v.c0),
        row: v.r0 + Math.min(1, Math.max(0, (y - box.y) / box.h)) * (v.r1 - v.r0),
      };
    };
    canvas.addEventListener("pointermove", (event) => {
      const p = point(event);
      if (this.drag) {
        this.drag.nowX = p.x;
        this.drag.nowY = p.y;
      }
      const s = share(p.x, p.y);
      state.cursor = s;
      state.emit("cursor");
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.drag) return;
      state.cursor = undefined;
      state.emit("cursor");
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const p = point(event);
      this.drag = { x: p.x, y: p.y, nowX: p.x, nowY: p.y };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => {
      const d = this.drag;
      this.drag = undefined;
      if (!d || Math.abs(d.nowX - d.x) < 5 || Math.abs(d.nowY - d.y) < 5) return this.redraw();
      const a = share(Math.min(d.x, d.nowX), Math.min(d.y, d.nowY)),
        b = share(Math.max(d.x, d.nowX), Math.max(d.y, d.nowY));
      zoomTo(state, info, { r0: a.row, r1: b.row, c0: a.step, c1: b.step });
    });
    canvas.addEventListener("dblclick", () => state.setViewport(WHOLE));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        const p = point(event),
          s = share(p.x, p.y);
        zoomAround(state, info, s.row, s.step, event.deltaY > 0 ? 1.25 : 0.8);
      },
      { passive: false }
    );
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const { state, info } = this,
      { ranks, steps } = info,
      v = state.viewport;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const move = moves[event.key];
    const cursor = state.cursor ?? { row: (v.r0 + v.r1) / 2, step: (v.c0 + v.c1) / 2 };
    if (move && event.shiftKey) {
      const dr = move[0] * (v.r1 - v.r0) * 0.25,
        dc = move[1] * (v.c1 - v.c0) * 0.25;
      zoomTo(state, info, { r0: v.r0 + dr, r1: v.r1 + dr, c0: v.c0 + dc, c1: v.c1 + dc });
    } else if (move) {
      const cellRow = Math.max(1, Math.round(((v.r1 - v.r0) * ranks) / 100)) / ranks,
        cellStep = Math.max(1, Math.round(((v.c1 - v.c0) * steps) / 100)) / steps;
      const inside = (value: number, n: number) => Math.min(1 - 0.5 / n, Math.max(0.5 / n, value));
      state.cursor = {
        row: inside(cursor.row + move[0] * cellRow, ranks),
        step: inside(cursor.step + move[1] * cellStep, steps),
      };
      state.emit("cursor");
    } else if (event.key === "+" || event.key === "=") zoomAround(state, info, cursor.row, cursor.step, 0.5);
    else if (event.key === "-") zoomAround(state, info, cursor.row, cursor.step, 2);
    else if (event.key === "0" || event.key === "Escape") state.setViewport(WHOLE);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
